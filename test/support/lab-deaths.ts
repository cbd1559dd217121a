import assert from 'node:assert/strict';
import { watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { below, directoriesIn, goneMs, LabProcess, listenersIn, processesOf } from './lab-killing.ts';

/** Twice as long as the warden gives children, and a busy machine. */
const LONGEST_MS = 30_000;
/** What the specification says; that of most. */
const USUAL_MS = 5000;

const octetOf = (url: string): number => Number(new URL(url).hostname.split('.')[1]);

/** Moments from the start of the process until well after its pods run. */
const moments = (count: number, longestMs: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => Math.round(((at + Math.random()) / count) * longestMs));

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

async function killedAfter(lab: LabProcess, momentMs: number): Promise<void> {
  // A moment that is too late for it to be still alive cannot be: it ends only when told.
  await sleep(momentMs);
  await lab.kill();
}

/** How long a lab takes until its pods run. */
async function startMs(scratch: string, cache: string): Promise<number> {
  const begunMs = performance.now();
  const lab = LabProcess.start({ scratch, cache });
  const { url = '' } = await lab.said('started');
  await lab.said('up');
  const tookMs = performance.now() - begunMs;
  assert.notDeepEqual(listenersIn(octetOf(url)), [], 'it listens while it lives');
  await lab.end();
  assert.deepEqual([processesOf(scratch), directoriesIn(scratch), listenersIn(octetOf(url))], [[], [], []]);
  return tookMs;
}

/** Kills labs the moment they make their directories: when they are least prepared for it. */
export async function killNewLabs(scratch: string, count: number): Promise<void> {
  const cache = below(scratch, 'cache');
  await startMs(below(scratch, 'first'), cache);
  for (let at = 0; at < count; at++) {
    const own = below(scratch, String(at));
    using made = watched(own);
    const lab = LabProcess.start({ scratch: own, cache });
    await made.promise;
    await sleep(at);
    await lab.kill();
    await goneMs(() => [...processesOf(own), ...directoriesIn(own)], LONGEST_MS);
  }
}

/** Resolves when something is made in a directory. */
function watched(directory: string): Disposable & { readonly promise: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(directory, () => resolve());
  return { promise, [Symbol.dispose]: () => watcher.close() };
}

/** Kills labs without a data directory at random moments of their start and life: nothing of them stays. */
export async function killEphemeralLabs(scratch: string, count: number): Promise<void> {
  const cache = below(scratch, 'cache');
  await startMs(below(scratch, 'first'), cache);
  const longestMs = 1.5 * (await startMs(below(scratch, 'first'), cache));
  const tookMs: number[] = [];
  for (const [at, momentMs] of moments(count, longestMs).entries()) {
    const own = below(scratch, String(at));
    const lab = LabProcess.start({ scratch: own, cache });
    await killedAfter(lab, momentMs);
    const octets = lab.words.flatMap(({ url }) => (url === undefined ? [] : [octetOf(url)]));
    const left = () => [...processesOf(own), ...directoriesIn(own), ...octets.flatMap(listenersIn)];
    tookMs.push(
      await goneMs(left, LONGEST_MS).catch((error: Error) => assert.fail(`at ${momentMs} ms: ${error.message}`)),
    );
  }
  assert.ok(median(tookMs) <= USUAL_MS, `gone after ${tookMs.map(Math.round).join(', ')} ms`);
}

/** Kills labs that share a data directory, one after the other: the last one has everything that they had. */
export async function killDurableLabs(scratch: string, count: number): Promise<void> {
  const data = below(scratch, 'data');
  const place = { scratch, cache: below(scratch, 'cache'), options: { data } };
  const first = LabProcess.start(place);
  const { pods: before = [] } = await first.said('up');
  await first.end();
  const begunMs = performance.now();
  const second = LabProcess.start(place);
  await second.said('up');
  const longestMs = 1.5 * (performance.now() - begunMs);
  await second.kill();
  // The next one does not wait until the warden of the one before has done its work.
  for (const momentMs of moments(count - 1, longestMs)) await killedAfter(LabProcess.start(place), momentMs);
  await goneMs(() => processesOf(data), LONGEST_MS);

  const last = LabProcess.start(place);
  const { pods: after = [] } = await last.said('up');
  assert.deepEqual(
    after.map(({ name, address }) => [name, address]),
    before.map(({ name, address }) => [name, address]),
    'the same pods, at the same addresses',
  );
  for (const { name, phase, restarts } of after) {
    assert.equal(phase, 'Running', name);
    assert.ok(restarts >= 1, `${name} was restarted ${restarts} times`);
  }
  await last.end();
  assert.deepEqual(processesOf(data), []);
}
