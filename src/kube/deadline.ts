import type { Clock } from '../base/clock.ts';

export interface DeadlineOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** What is thrown when the time is over. */
  readonly onTimeout: () => Error;
}

/**
 * Runs work with a signal that aborts when the time is over or the caller's signal aborts; rejects with the reason of
 * either, whatever the work makes of its signal.
 */
export async function withDeadline<T>(
  { clock, timeoutMs, signal, onTimeout }: DeadlineOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    reject(reason);
    controller.abort(reason);
  };
  const onAbort = (): void => end(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  using _timer = clock.timer(timeoutMs, () => end(onTimeout()));
  try {
    return await Promise.race([work(controller.signal), promise]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
