import { setTimeout as sleep } from 'node:timers/promises';
import { type FileLock, type LockHolder, tryFileLock } from '../src/app/file-lock.ts';

const POLL_MS = 200;

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once when somebody else holds the lock. */
  readonly onWait: (holder: LockHolder) => void;
}

/** Waits until nobody else holds the lock file, however long that takes, and takes it. */
export async function acquireLock(file: string, { signal, onWait }: LockOptions): Promise<FileLock> {
  for (let hasWaited = false; ; hasWaited = true) {
    const attempt = tryFileLock(file);
    if (attempt.state === 'acquired') return attempt.lock;
    if (!hasWaited) onWait(attempt.holder);
    await sleep(POLL_MS, undefined, { signal });
  }
}
