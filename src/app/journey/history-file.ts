import { appendFileSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { type PastRun, parseHistory } from './history.ts';

/** Ten times what is looked at; the file is cut to it when it has grown to twice as much. */
const MOST_RUNS = 100;

/** A thousand times what one run needs; whatever is larger is not ours. */
const MOST_BYTES = 1_000_000;

const historyFile = (data: string): string => join(data, 'history.jsonl');

/** Past runs; none when there is no file or it cannot be read: a journey does not fail for want of memories. */
export function readHistory(data: string): readonly PastRun[] {
  try {
    const file = statSync(historyFile(data));
    return file.isFile() && file.size <= MOST_BYTES ? parseHistory(readFileSync(historyFile(data), 'utf8')) : [];
  } catch {
    return [];
  }
}

/** Adds a run. Returns what went wrong as one sentence, or undefined. */
export function appendRun(data: string, run: PastRun): string | undefined {
  const file = historyFile(data);
  try {
    const runs = readHistory(data);
    if (runs.length < 2 * MOST_RUNS) appendFileSync(file, line(run), { mode: 0o600 });
    else replaceFile(file, [...runs, run].slice(-MOST_RUNS).map(line).join(''));
    return undefined;
  } catch (error) {
    return `this run is not in the history: ${messageOf(error)}`;
  }
}

// The line break in front ends a line that a crash cut short.
const line = (run: PastRun): string => `\n${JSON.stringify(run)}`;

function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
