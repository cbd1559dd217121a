import { StatusError } from '../status.ts';
import type { Scope } from './services.ts';

// Upstream waits this long for its cache to catch up before it says that the revision is in the future.
const LONGEST_WAIT_MS = 3000;

/** Waits until a revision is committed; E22 when it stays in the future. */
export async function waitForRevision(
  scope: Pick<Scope, 'store' | 'clock' | 'request'>,
  revision: number,
): Promise<void> {
  const { store, clock, request } = scope;
  if (store.revision >= revision) return;
  const late = new AbortController();
  using _timer = clock.timer(LONGEST_WAIT_MS, () => late.abort());
  try {
    await store.reached(revision, AbortSignal.any([late.signal, request.signal]));
  } catch (error) {
    if (!late.signal.aborted) throw error;
    throw tooLarge(revision, store.revision);
  }
}

const tooLarge = (revision: number, current: number): StatusError =>
  new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${revision}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
