/** Lets so many work at once; the others wait for their turn, in the order in which they came. */
export class Turns {
  readonly #most: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** A turn, to be disposed of when the work is done. Rejects when the signal aborts before it comes. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#taken >= this.#most) await this.#given(signal);
    else this.#taken++;
    return { [Symbol.dispose]: () => this.#leave() };
  }

  /** Who leaves hands the turn on, so that nobody who comes meanwhile takes it. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#taken--;
    else next();
  }

  #given(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (settle: () => void) => () => {
      this.#waiting.delete(given);
      signal.removeEventListener('abort', aborted);
      settle();
    };
    const given = end(resolve);
    const aborted = end(() => reject(signal.reason));
    this.#waiting.add(given);
    signal.addEventListener('abort', aborted);
    return promise;
  }
}
