import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isProcessIdentity, livenessOf, type ProcessIdentity, processIdentity } from './run/process-identity.ts';

const POLL_MS = 200;

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once when somebody else holds the lock. */
  readonly onWait: (holder: number) => void;
}

/**
 * Holds the lock file at `path` until disposed. A lock whose process has ended is taken over. Two processes that take
 * over the same dead lock at the same moment may both hold it: then both build, and the second rename wins. The lock
 * saves work, it does not guard the result.
 */
export async function acquireLock(path: string, { signal, onWait }: LockOptions): Promise<Disposable> {
  const own = processIdentity(process.pid) ?? { pid: process.pid, startTicks: 0, bootId: '', pidNamespace: '' };
  let hasWaited = false;
  while (!tryLock(path, own)) {
    const holder = lockHolder(path);
    if (holder === undefined || livenessOf(holder) === 'gone') {
      rmSync(path, { force: true });
      continue;
    }
    if (!hasWaited) onWait(holder.pid);
    hasWaited = true;
    await sleep(POLL_MS, undefined, { signal });
  }
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

/** Written aside and linked into place, so that nobody ever reads half a lock. */
function tryLock(path: string, own: ProcessIdentity): boolean {
  const draft = `${path}.${own.pid}`;
  writeFileSync(draft, JSON.stringify(own));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function lockHolder(path: string): ProcessIdentity | undefined {
  try {
    const holder: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isProcessIdentity(holder) ? holder : undefined;
  } catch {
    // Released between our attempt and now, or not ours: in both cases nobody holds it.
    return undefined;
  }
}
