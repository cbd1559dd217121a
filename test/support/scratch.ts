import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 60_000;
const POLL_MS = 20;

/** A directory that disappears at the end of the block: `await using directory = await scratchDirectory()`. */
export const scratchDirectory = () => mkdtempDisposable(join(tmpdir(), 'slipway-scratch-'));

export interface Outcome {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program with exactly these variables; how it ends is a result, never an error. */
export function outcomeOf(
  file: string,
  programArguments: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  execFile(file, programArguments, { env: variables, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
    resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? 1), stdout, stderr });
  });
  return promise;
}

/** Waits for something that no event tells; fails with `what` did not happen. */
export async function until(isTrue: () => boolean, what: string, timeoutMs = TIMEOUT_MS): Promise<void> {
  for (const startedMs = performance.now(); !isTrue(); await sleep(POLL_MS)) {
    if (performance.now() - startedMs > timeoutMs) throw new Error(`after ${timeoutMs} ms still not so: ${what}`);
  }
}

/** Writes a module into the directory; it reaches our sources through the addresses that the test puts into it. */
export async function writeScript(directory: string, name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}
