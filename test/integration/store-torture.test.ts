import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { layoutOf } from '../../src/apiserver/store/layout.ts';
import { StoreDamaged, StoreInUse } from '../../src/apiserver/store/refusal.ts';
import type { Store } from '../../src/apiserver/store/store.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { contentOf, openTestStore, recordedLog, rendered } from '../support/store.ts';
import { Ledger } from '../torture/store/ledger.ts';
import { Victim } from '../torture/store/victim.ts';

const KILLS = Number(process.env['SLIPWAY_TORTURE_KILLS'] ?? 20);
const FLIPS = Number(process.env['SLIPWAY_TORTURE_FLIPS'] ?? 200);
const SEED = Number(process.env['SLIPWAY_TORTURE_SEED'] ?? 4711);
const CLIENTS = 16;

/** What a kill left, in a place where looking at it does not repair it. */
function copyOf(directory: string, to: string): string {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  const [source, target] = [layoutOf(directory), layoutOf(to)];
  for (const name of ['database', 'wal', 'mark'] as const) {
    if (existsSync(source[name])) copyFileSync(source[name], target[name]);
  }
  return to;
}

/** One life: begins, and is killed while it opens the store, writes, compacts or closes. */
async function killSomewhere(victim: Victim, random: () => number): Promise<void> {
  await victim.said('waiting');
  victim.go();
  const moment = random();
  if (moment < 0.2) {
    await sleep(random() * 40);
  } else {
    await victim.said('opened');
    await sleep(random() * 120);
    if (moment > 0.8) {
      victim.go();
      await sleep(random() * 30);
    }
  }
  await victim.kill();
}

describe(`a store whose process is killed ${KILLS} times (seed ${SEED})`, () => {
  it('reliability/P2: keeps every acknowledged write, and watchers go on without a gap or a repeat', async () => {
    await using directory = await scratchDirectory();
    const data = join(directory.path, 'data');
    const clock = new VirtualClock({ seed: SEED });
    const ledger = new Ledger();
    const start = (seed: number) =>
      new Victim({ directory: data, seed, clients: CLIENTS }, (line) => ledger.note(line));
    // The next one starts while this one writes: half of a life would be the start of Node.
    const lives = Array.from({ length: KILLS }, (_, life) => () => start(SEED + 1 + life));
    await using stack = new AsyncDisposableStack();
    let next = stack.use(start(SEED));
    for (const life of lives) {
      const victim = next;
      next = stack.use(life());
      await killSomewhere(victim, () => clock.random());
      assert.equal(victim.errors, '', 'the writer complains of nothing');
      if (!existsSync(layoutOf(data).database)) continue;
      await using store = await openTestStore(copyOf(data, join(directory.path, 'copy')));
      ledger.check(store);
    }
    assert.ok(ledger.acknowledgedCount > KILLS * 10, `only ${ledger.acknowledgedCount} writes were acknowledged`);
  });
});

describe('a second process', () => {
  it('reliability/P8: is refused with the pid of the first, and not by what a killed one left', async () => {
    await using directory = await scratchDirectory();
    await using victim = new Victim({ directory: directory.path, seed: 1, clients: 1 }, () => undefined);
    await victim.said('waiting');
    victim.go();
    await victim.said('acknowledged');
    await assert.rejects(openTestStore(directory.path), (error: Error) => {
      assert.ok(error instanceof StoreInUse);
      assert.match(error.message, new RegExp(`is in use by process ${victim.pid} \\(started \\d\\d:\\d\\d\\)`));
      return true;
    });
    await victim.kill();
    await using store = await openTestStore(directory.path);
    assert.ok(store.revision > 1);
  });

  it('stops in good order when it is told to', async () => {
    await using directory = await scratchDirectory();
    const ledger = new Ledger();
    await using victim = new Victim({ directory: directory.path, seed: 1, clients: 4 }, (line) =>
      ledger.note(line),
    );
    await victim.said('waiting');
    victim.go();
    await victim.said('acknowledged');
    victim.go();
    assert.equal(await victim.ended(), 0, victim.errors);
    assert.ok(!existsSync(layoutOf(directory.path).wal));
    await using store = await openTestStore(directory.path);
    ledger.check(store);
  });
});

interface Damage {
  readonly name: string;
  readonly file: 'database' | 'wal' | 'mark';
  readonly change: (bytes: Buffer, random: () => number) => Buffer;
}

const at = (bytes: Buffer, random: () => number) => Math.floor(random() * bytes.length);

function flipped(bytes: Buffer, random: () => number): Buffer {
  const byte = at(bytes, random);
  bytes.writeUInt8(bytes.readUInt8(byte) ^ (1 << Math.floor(random() * 8)), byte);
  return bytes;
}

const DAMAGES: readonly Damage[] = [
  { name: 'a bit flipped in the database', file: 'database', change: flipped },
  { name: 'a bit flipped in the write-ahead log', file: 'wal', change: flipped },
  { name: 'a bit flipped in the mark', file: 'mark', change: flipped },
  { name: 'the log cut', file: 'wal', change: (bytes, random) => bytes.subarray(0, at(bytes, random)) },
  { name: 'the database cut', file: 'database', change: (bytes, random) => bytes.subarray(0, at(bytes, random)) },
  {
    name: 'zeros at the end of the log',
    file: 'wal',
    change: (bytes, random) => bytes.fill(0, at(bytes, random)),
  },
  {
    name: 'an old piece at the end of the log',
    file: 'wal',
    change: (bytes, random) => Buffer.concat([bytes, bytes.subarray(at(bytes, random))]),
  },
  {
    name: 'a recycled page in the database',
    file: 'database',
    change: (bytes) => bytes.copyWithin(8192, 4096, 8192) && bytes,
  },
];

/** Objects old and new, in the database and in the log, with history compacted and history retained. */
async function filled(store: Store): Promise<void> {
  for (let write = 0; write < 90; write++) {
    const key = `/registry/core/pods/ns/${write % 40}`;
    await store.put(key, store.head(key)?.revision ?? 0, rendered(`${write} `.repeat(write * 8)));
    if (write === 50) await store.compact(30);
  }
}

describe(`a store with ${FLIPS} damages after a kill (seed ${SEED})`, () => {
  it('reliability/P3: serves exactly what was acknowledged, or nothing', async () => {
    await using directory = await scratchDirectory();
    const first = await openTestStore(join(directory.path, 'data'));
    await filled(first);
    await first[Symbol.asyncDispose]();
    await using running = await openTestStore(join(directory.path, 'data'));
    await filled(running);
    const content = contentOf(running);
    const clock = new VirtualClock({ seed: SEED });
    const verdicts = { served: 0, refused: 0 };
    for (let round = 0; round < FLIPS; round++) {
      const { name, file, change } = DAMAGES[round % DAMAGES.length] ?? DAMAGES[0] ?? assert.fail();
      const image = layoutOf(copyOf(join(directory.path, 'data'), join(directory.path, 'image')));
      writeFileSync(
        image[file],
        change(readFileSync(image[file]), () => clock.random()),
      );
      const { log, lines } = recordedLog();
      try {
        await using store = await openTestStore(image.directory, { log });
        assert.deepEqual(contentOf(store), content, `round ${round}: ${name}`);
        assert.ok(lines.length <= 1);
        verdicts.served++;
      } catch (error) {
        assert.ok(error instanceof StoreDamaged, `round ${round}: ${name}: ${String(error)}`);
        verdicts.refused++;
      }
    }
    assert.ok(verdicts.refused > FLIPS / 4, `only ${verdicts.refused} of ${FLIPS} refused`);
  });
});
