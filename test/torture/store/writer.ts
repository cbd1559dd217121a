// A process that is going to be killed: writes to a store from several clients, and says on standard output what it
// intends, what was acknowledged and what a watcher saw. One line at a time, so that whoever reads knows as much as
// any client could (reliability T3.1).
import { writeSync } from 'node:fs';
import type { StoreBug } from '../../../src/apiserver/store/journal.ts';
import { openSqliteStore } from '../../../src/apiserver/store/sqlite-store.ts';
import { type Store, StoreConflict } from '../../../src/apiserver/store/store.ts';
import { SystemClock, VirtualClock } from '../../../src/base/clock.ts';
import type { Log } from '../../../src/base/log.ts';

export interface WriterOptions {
  readonly directory: string;
  readonly seed: number;
  readonly clients: number;
  /** Ends by itself after so many writes; otherwise when told to, or killed. */
  readonly writes?: number;
  readonly bytes?: number;
  readonly bugs?: readonly StoreBug[];
}

const KEYS = 40;
const COMPACT_MS = 25;
const KEPT_REVISIONS = 200;

const options: WriterOptions = JSON.parse(process.argv[2] ?? '');
const random = new VirtualClock({ seed: options.seed });
let intents = 0;
let isStopping = false;

/** The pipe may be full; what is said must have left this process before it goes on. */
function say(line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
}

async function client(store: Store): Promise<void> {
  const { writes = Number.POSITIVE_INFINITY } = options;
  while (!isStopping && intents < writes) {
    // A life that is counted has a part before the thread of the store takes over, and a longer one after.
    if (intents >= writes / 4) await takeover.promise;
    const id = `${options.seed}-${intents++}`;
    const key = anyKey();
    try {
      await write(store, key, id);
    } catch (error) {
      if (!(error instanceof StoreConflict)) say(`failed ${id} ${String(error)}`);
    }
  }
}

const anyKey = (): string =>
  `/registry/core/${random.random() < 0.5 ? 'pods' : 'configmaps'}/ns/${Math.floor(random.random() * KEYS)}`;

async function write(store: Store, key: string, id: string): Promise<void> {
  const expected = store.head(key)?.revision ?? 0;
  const filler = 'x'.repeat(Math.floor(random.random() * (options.bytes ?? 3000)));
  const render = (revision: number) =>
    Buffer.from(JSON.stringify({ metadata: { resourceVersion: String(revision) }, data: id, filler }));
  const isRemoval = expected > 0 && random.random() < 0.2;
  say(`intent ${id}`);
  const { revision } = await (isRemoval ? store.remove(key, expected, render) : store.put(key, expected, render));
  say(`acknowledged ${id} ${revision}`);
}

/** Compacts all the time, so that every other kill hits it (T3.8). */
async function compactor(store: Store): Promise<void> {
  const clock = new SystemClock();
  while (!isStopping) {
    await clock.sleep(COMPACT_MS);
    if (isStopping) return;
    try {
      await store.compact(store.revision - KEPT_REVISIONS);
    } catch (error) {
      // The disk may fail here as well as in a write.
      say(`uncompacted ${String(error)}`);
      return;
    }
  }
}

// Started ahead of time, so that starting Node does not count.
say('waiting');
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.once('data', () => {
  isStopping = true;
});
const takeover = Promise.withResolvers<void>();
const log: Log = {
  error: () => takeover.resolve(),
  warn: () => undefined,
  info: () => undefined,
  debug: () => takeover.resolve(),
  child: () => log,
};
const store = await openSqliteStore({
  directory: options.directory,
  durability: 'full',
  clock: new SystemClock(),
  log,
  bugs: new Set(options.bugs ?? []),
});
store.subscribe('', ({ revision, key, isRemoval, entry }) => {
  say(
    `saw ${revision} ${key} ${isRemoval ? 'removed' : 'put'} ${JSON.parse(Buffer.from(entry.bytes).toString()).data}`,
  );
});
say(`opened ${store.revision}`);
const compacting = compactor(store);
await Promise.all(Array.from({ length: options.clients }, () => client(store)));
isStopping = true;
await compacting;
await store[Symbol.asyncDispose]();
say('closed');
process.exit(0);
