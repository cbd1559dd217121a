import type { Clock } from '../base/clock.ts';

/** How long somebody waits for the next piece, and what he throws when it does not come. */
export interface Patience {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Aborted when the time is over, so that the other end stops as well. */
  readonly control: AbortController;
  readonly signal?: AbortSignal;
  readonly onTimeout: () => Error;
  /** What is thrown instead of what the other end throws. */
  readonly onFailure: (thrown: unknown) => Error;
}

/** What comes, if it comes in time and before the signal aborts, whatever the other end makes of its signal. */
export async function within<T>(patience: Patience, coming: Promise<T>): Promise<T> {
  const { clock, timeoutMs, control, signal, onTimeout, onFailure } = patience;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal?.reason);
  using _timer = clock.timer(timeoutMs, () => {
    const reason = onTimeout();
    reject(reason);
    control.abort(reason);
  });
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    return await Promise.race([coming, promise]);
  } catch (thrown) {
    signal?.throwIfAborted();
    throw onFailure(thrown);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** A body each of whose pieces must come in time. To be read once. */
export class PatientBody implements AsyncIterable<Uint8Array> {
  readonly #inner: AsyncIterator<Uint8Array>;
  readonly #patience: Patience;

  constructor(body: AsyncIterable<Uint8Array>, patience: Patience) {
    this.#inner = body[Symbol.asyncIterator]();
    this.#patience = patience;
  }

  // No generator: one that was never asked for anything would not free the connection when it is abandoned.
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => within(this.#patience, this.#inner.next()),
      return: async () => {
        await this.#inner.return?.();
        return { done: true, value: undefined };
      },
    };
  }
}
