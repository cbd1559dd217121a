/** One at a time for each Service: what calls the cloud for it must not meet another that does (B3). */
export class ServiceLocks {
  /** Resolve when everybody who came before has left. Bounded by those who hold or wait. */
  readonly #ends = new Map<string, Promise<void>>();

  isHeld(key: string): boolean {
    return this.#ends.has(key);
  }

  /** Runs `work` when all who came before have left. Rejects with the reason of the signal when it aborts before that. */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#ends.get(key);
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    // Also for one who gives up waiting: those behind still wait for those before.
    const end = before === undefined ? left : before.then(() => left);
    this.#ends.set(key, end);
    try {
      if (before !== undefined) await unlessAborted(before, signal);
      return await work();
    } finally {
      leave();
      void end.then(() => this.#ends.get(key) === end && this.#ends.delete(key));
    }
  }
}

async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const gaveUp = Promise.withResolvers<never>();
  const giveUp = () => gaveUp.reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await Promise.race([promise, gaveUp.promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
