import assert from 'node:assert/strict';
import { existsSync, mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { StoreBug } from '../../src/apiserver/store/journal.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import { needsOracle, oracleFile } from '../support/needs-oracle.ts';
import { openTestStore } from '../support/store.ts';
import { DiskModel, FATES } from '../torture/store/disk-model.ts';
import { type Call, callsOf, STRACE } from '../torture/store/trace.ts';
import { Victim } from '../torture/store/victim.ts';

const IMAGES = Number(process.env['SLIPWAY_TORTURE_IMAGES'] ?? 300);
const SEED = Number(process.env['SLIPWAY_TORTURE_SEED'] ?? 4711);
const WRITES = 1200;

/** Memory, where there is any as a file system: hundreds of images need no disk. */
const scratch = () =>
  mkdtempDisposableSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'slipway-power-'));

interface Life {
  readonly directory: string;
  readonly calls: readonly Call[];
  /** Key and kind of every change that was ever published, by revision. */
  readonly truth: ReadonlyMap<number, readonly [key: string, isRemoval: boolean]>;
}

/** A whole life of a store under strace: made, filled, compacted, emptied into the database, closed. */
async function lived(directory: string, bugs: readonly StoreBug[], writes = WRITES): Promise<Life> {
  const data = join(directory, 'data');
  const file = join(directory, 'trace');
  const truth = new Map<number, readonly [string, boolean]>();
  const onLine = (line: string) => {
    const [word, revision, key = '', kind] = line.split(' ');
    if (word === 'saw') truth.set(Number(revision), [key, kind === 'removed']);
  };
  const options = { directory: data, seed: SEED, clients: 3, writes, bytes: 3000, bugs };
  await using victim = new Victim(options, onLine, [oracleFile('strace'), ...STRACE, '-o', file]);
  await victim.said('waiting');
  victim.go();
  assert.equal(await victim.ended(), 0, victim.errors);
  return { directory: data, calls: [...callsOf(readFileSync(file, 'latin1'))], truth };
}

function stateAt({ truth }: Life, revision: number): ReadonlyMap<string, number> {
  const state = new Map<string, number>();
  for (let at = 2; at <= revision; at++) {
    const [key, isRemoval] = truth.get(at) ?? assert.fail(`revision ${at} was never published`);
    if (isRemoval) state.delete(key);
    else state.set(key, at);
  }
  return new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The store of an image must open, hold all that anybody was told of, and be exactly one state of the past. */
async function check(life: Life, image: string, told: number): Promise<void> {
  await using store = await openTestStore(image);
  assert.ok(store.revision >= told, `revision ${told} was told and the store ends at ${store.revision}`);
  const state = new Map([...store.list('')].map(({ key, revision }) => [key, revision]));
  assert.deepEqual(state, stateAt(life, store.revision));
}

interface Verdict {
  readonly tried: number;
  readonly problems: readonly string[];
}

/** Cuts the power at calls spread over the whole life, each in all the ways there are. */
async function cut(life: Life, directory: string, images: number): Promise<Verdict> {
  const random = new VirtualClock({ seed: SEED });
  const disk = new DiskModel(life.directory);
  const cuts = Math.ceil(images / FATES.length);
  const chance = cuts / life.calls.length;
  const problems: string[] = [];
  let tried = 0;
  let told = 1;
  for (const [at, call] of life.calls.entries()) {
    disk.apply(call);
    if (call.kind === 'said') told = Math.max(told, ...toldBy(call.text));
    if (random.random() >= chance) continue;
    for (const { name, fate } of FATES) {
      const image = join(directory, 'image');
      disk.materialise(
        image,
        fate(() => random.random()),
      );
      tried++;
      const outcome = await check(life, image, told).then(() => undefined, String);
      if (outcome !== undefined) problems.push(`call ${at} of ${life.calls.length}, ${name}: ${outcome}`);
    }
  }
  return { tried, problems };
}

/** Revisions that a client or a watcher heard of. */
function toldBy(text: string): readonly number[] {
  return text.split('\n').map((line) => {
    const [word, first, second] = line.split(' ');
    if (word === 'acknowledged') return Number(second);
    return word === 'saw' ? Number(first) : 0;
  });
}

describe(`a power cut at any moment (${IMAGES} images, seed ${SEED})`, needsOracle('strace'), () => {
  it('reliability/P2: loses nothing that was acknowledged or seen', async () => {
    using directory = scratch();
    const life = await lived(directory.path, []);
    assert.ok(life.truth.size > WRITES / 2);
    assert.ok(
      life.calls.filter((call) => call.kind === 'rename' && call.to.endsWith('store.mark')).length > 2,
      'the write-ahead log was emptied in between',
    );
    const { tried, problems } = await cut(life, directory.path, IMAGES);
    assert.deepEqual(problems.slice(0, 5), [], `${problems.length} of ${tried} images`);
    assert.ok(tried >= IMAGES * 0.7, `only ${tried} images`);
  });

  const bugs: readonly StoreBug[] = ['no-sync', 'early-acknowledge', 'early-publish'];
  for (const bug of bugs) {
    it(`reliability/V10: finds the planted mistake ${bug}`, async () => {
      using directory = scratch();
      const life = await lived(directory.path, [bug], 200);
      const { problems } = await cut(life, directory.path, 200);
      assert.ok(problems.length > 0, 'no image shows it');
    });
  }
});
