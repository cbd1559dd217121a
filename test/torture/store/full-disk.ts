// Fills the disk under a store, and says as JSON what happened. The directory is a tiny file system of its own
// (reliability T3.6, T3.7).
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/apiserver/store/sqlite-store.ts';
import { type Store, StoreUnavailable } from '../../../src/apiserver/store/store.ts';
import { SystemClock } from '../../../src/base/clock.ts';

const directory = process.argv[2] ?? '';
const ballast = join(directory, 'ballast');
const clock = new SystemClock();
const keyOf = (number: number) => `/registry/core/pods/ns/${number}`;
const render = (revision: number) =>
  Buffer.from(JSON.stringify({ metadata: { resourceVersion: String(revision) }, filler: 'x'.repeat(1000) }));

/** Writes until it fails; the message of the failure, and how many were stored. */
async function fill(store: Store, from: number): Promise<{ message: string; stored: number }> {
  for (let number = from; ; number++) {
    try {
      await store.put(keyOf(number), 0, render);
    } catch (error) {
      if (error instanceof StoreUnavailable) return { message: error.message, stored: number - from };
      throw error;
    }
  }
}

const messageOfPut = (store: Store) =>
  store.put(keyOf(1_000_000), 0, render).then(
    () => 'stored',
    (error: Error) => error.message,
  );

async function removed(store: Store, count: number): Promise<number> {
  for (let number = 0; number < count; number++) {
    await store.remove(keyOf(number), store.head(keyOf(number))?.revision ?? 0, render);
  }
  return count;
}

writeFileSync(ballast, Buffer.alloc(350 * 1024, 'ballast '));
const store = await openSqliteStore({ directory, durability: 'full', clock });
const full = await fill(store, 0);
const again = await messageOfPut(store);
const problem = store.problem;
const readable = [...store.list('')].length;
const removals = await removed(store, 10);
rmSync(ballast);
const problemAfter = store.problem ?? 'none';
const after = await messageOfPut(store);
const more = await fill(store, 2_000_000);
const expected = [...store.list('')].map(({ key, revision }) => `${key} ${revision}`);
await store[Symbol.asyncDispose]();
const reopened = await openSqliteStore({ directory, durability: 'full', clock });
const isSame =
  JSON.stringify(expected) ===
  JSON.stringify([...reopened.list('')].map(({ key, revision }) => `${key} ${revision}`));
const report = {
  full,
  again,
  problem,
  readable,
  removals,
  problemAfter,
  after,
  more,
  isSame,
  files: readdirSync(directory),
};
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(existsSync(directory) ? 0 : 1);
