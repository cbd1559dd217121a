import { constants } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container } from '../../../api/generated/core-v1-types.ts';
import type { Mount } from '../../process/mounts.ts';
import type { ContainerLog } from '../logs/container-log.ts';

const DEFAULT_PATH = '/dev/termination-log';
const MOST_BYTES = 4096;
const FALLBACK = { lines: 80, bytes: 2048 };

/** Where a container may leave its last words (N15): an empty file of its own. */
export async function messageMount(directory: string, container: Container): Promise<Mount> {
  const { terminationMessagePath: mountPath = DEFAULT_PATH } = container;
  const source = join(directory, 'termination-log');
  // A run before may have put something else in its place.
  await rm(source, { recursive: true, force: true });
  await writeFile(source, '', { flag: 'wx' });
  return { mountPath, source, isReadOnly: false };
}

export interface LastWords {
  readonly container: Container;
  readonly source: string;
  readonly log: Pick<ContainerLog, 'tail'>;
  readonly exitCode: number;
}

/** What the container left; else, where it asked for that and failed, the end of its log. Empty when there is neither. */
export async function terminationMessage({ container, source, log, exitCode }: LastWords): Promise<string> {
  const written = await endOf(source).catch(() => '');
  const isFallback = container.terminationMessagePolicy === 'FallbackToLogsOnError';
  if (written !== '' || !isFallback || exitCode === 0) return written;
  return await log.tail(FALLBACK.lines, FALLBACK.bytes).catch(() => '');
}

/** Only a file: a link may lead to what the container must not see, and a pipe would be waited for without end. */
const PLAINLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function endOf(path: string): Promise<string> {
  await using file = await open(path, PLAINLY);
  const facts = await file.stat();
  const size = facts.isFile() ? facts.size : 0;
  const length = Math.min(size, MOST_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString('utf8', 0, bytesRead);
}
