/**
 * Work that many may wait for and that runs once at a time: who comes while it runs gets the same result. A caller whose
 * signal aborts leaves alone; when the last one has left, the work itself is aborted.
 */
export class SharedRun<T> {
  readonly #work: (signal: AbortSignal) => Promise<T>;
  #current: Running<T> | undefined;

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work;
  }

  /** Rejects with the failure of the work, which is not kept: the next call starts again. */
  async run(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const running = this.#current ?? this.#start();
    running.waiters++;
    try {
      return await abandonable(running.result, signal);
    } finally {
      running.waiters--;
      if (running.waiters === 0) this.#leave(running);
    }
  }

  #start(): Running<T> {
    const stop = new AbortController();
    const running: Running<T> = { result: this.#work(stop.signal), stop, waiters: 0 };
    this.#current = running;
    const done = () => {
      if (this.#current === running) this.#current = undefined;
    };
    running.result.then(done, done);
    return running;
  }

  #leave(running: Running<T>): void {
    if (this.#current !== running) return;
    this.#current = undefined;
    running.stop.abort();
  }
}

interface Running<T> {
  readonly result: Promise<T>;
  readonly stop: AbortController;
  waiters: number;
}

function abandonable<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  return new Promise<T>((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    const arrived = () => signal.removeEventListener('abort', leave);
    result.then(resolve, reject).finally(arrived);
  });
}
