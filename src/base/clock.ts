/**
 * The one source of time, randomness and identifiers (style S45). Everything that waits takes a clock, so that the same
 * code runs in real time for people and as fast as possible in tests.
 */
export interface Clock {
  /** Wall-clock time. */
  now(): Date;
  /** Milliseconds since an arbitrary start; never goes backwards, unlike `now()`. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `fire` once after `ms`, unless disposed before. */
  timer(ms: number, fire: () => void): Disposable;
  /** Uniform in [0, 1). */
  random(): number;
  uuid(): string;
}

// Node takes a longer timeout for 1 ms; certificates are renewed later than that.
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The host's clock and randomness. */
export class SystemClock implements Clock {
  now(): Date {
    return new Date();
  }

  monotonicMs(): number {
    return performance.now();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    let handle: ReturnType<typeof setTimeout>;
    const arm = (leftMs: number) => {
      const stepMs = Math.min(leftMs, LONGEST_TIMEOUT_MS);
      handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : fire()), stepMs);
    };
    arm(ms);
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  }

  random(): number {
    return Math.random();
  }

  uuid(): string {
    return crypto.randomUUID();
  }
}

interface Pending {
  readonly dueMs: number;
  readonly order: number;
  readonly fire: () => void;
}

export interface VirtualClockOptions {
  readonly start?: Date;
  /** Same seed, same random numbers and identifiers. */
  readonly seed?: number;
}

/** Time that moves only when told to. Timers fire in order of due time, then of creation. */
export class VirtualClock implements Clock {
  readonly #startMs: number;
  readonly #random: () => number;
  readonly #pending = new Set<Pending>();
  #elapsedMs = 0;
  #created = 0;

  constructor({ start = new Date(0), seed = 1 }: VirtualClockOptions = {}) {
    this.#startMs = start.getTime();
    this.#random = seededRandom(seed);
  }

  now(): Date {
    return new Date(this.#startMs + this.#elapsedMs);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    const entry = { dueMs: this.#elapsedMs + Math.max(0, ms), order: this.#created++, fire };
    this.#pending.add(entry);
    return { [Symbol.dispose]: () => void this.#pending.delete(entry) };
  }

  random(): number {
    return this.#random();
  }

  uuid(): string {
    const digits = Array.from({ length: 32 }, () => Math.floor(this.#random() * 16).toString(16));
    digits[12] = '4';
    digits[16] = '89ab'.charAt(Math.floor(this.#random() * 4));
    return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  /** Due time of the next timer, or undefined when nothing waits. */
  get nextDueMs(): number | undefined {
    return this.#next()?.dueMs;
  }

  /** Moves time on by `ms`, firing what falls due. What a timer starts gets its turn before the next timer fires. */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#elapsedMs + ms;
    for (let next = this.#next(); next !== undefined && next.dueMs <= targetMs; next = this.#next()) {
      this.#elapsedMs = next.dueMs;
      this.#pending.delete(next);
      next.fire();
      await settled();
    }
    this.#elapsedMs = targetMs;
    await settled();
  }

  #next(): Pending | undefined {
    return [...this.#pending].sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0];
  }
}

/** Lets every continuation that is ready run: one turn of the event loop comes after all microtasks. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function sleepOn(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const onAbort = () => {
      timer[Symbol.dispose]();
      reject(signal?.reason);
    };
    const timer = clock.timer(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Mulberry32: small, fast and good enough to shuffle tests; never for secrets. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
