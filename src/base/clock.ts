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

export interface Scale {
  /** How many milliseconds pass in one of the host's. */
  readonly factor: number;
  /** The time that the clock shows … */
  readonly start: Date;
  /** … when the host's shows this. */
  readonly hostStart: Date;
}

/** The host's clock, faster or slower, from a given moment on. Two processes with the same scale show the same time. */
export class ScaledClock implements Clock {
  readonly #scale: Scale;
  readonly #host: Clock;
  /** The host's wall clock may be set while this one runs: only the monotonic one counts after the start. */
  readonly #hostOriginMs: number;

  constructor(scale: Scale, host: Clock = new SystemClock()) {
    this.#scale = scale;
    this.#host = host;
    const sinceStartMs = host.now().getTime() - scale.hostStart.getTime();
    this.#hostOriginMs = host.monotonicMs() - sinceStartMs;
  }

  now(): Date {
    return new Date(this.#scale.start.getTime() + this.monotonicMs());
  }

  monotonicMs(): number {
    return (this.#host.monotonicMs() - this.#hostOriginMs) * this.#scale.factor;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    return this.#host.timer(ms / this.#scale.factor, fire);
  }

  random(): number {
    return this.#host.random();
  }

  uuid(): string {
    return this.#host.uuid();
  }
}

interface Pending {
  readonly dueMs: number;
  readonly order: number;
  readonly fire: () => void;
  /** Where it is among the timers; below zero when it is not. */
  at: number;
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
  readonly #pending = new TimerHeap();
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
    const entry = { dueMs: this.#elapsedMs + Math.max(0, ms), order: this.#created++, fire, at: -1 };
    this.#pending.add(entry);
    return { [Symbol.dispose]: () => this.#pending.delete(entry) };
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
    return this.#pending.first?.dueMs;
  }

  /** Moves time on by `ms`, firing what falls due. What a timer starts gets its turn before the next timer fires. */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#elapsedMs + ms;
    for (
      let next = this.#pending.first;
      next !== undefined && next.dueMs <= targetMs;
      next = this.#pending.first
    ) {
      this.#elapsedMs = next.dueMs;
      this.#pending.delete(next);
      next.fire();
      await settled();
    }
    this.#elapsedMs = targetMs;
    await settled();
  }
}

/** Timers by due time, then by creation: a binary heap whose entries know their place, so that each can leave it. */
class TimerHeap {
  readonly #entries: Pending[] = [];

  get first(): Pending | undefined {
    return this.#entries[0];
  }

  add(entry: Pending): void {
    this.#entries.push(entry);
    entry.at = this.#entries.length - 1;
    this.#rise(entry);
  }

  /** Nothing happens when it is not there any more. */
  delete(entry: Pending): void {
    const { at } = entry;
    if (at < 0) return;
    entry.at = -1;
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    this.#put(last, at);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(entry: Pending): void {
    for (;;) {
      const parent = this.#entries[(entry.at - 1) >> 1];
      if (parent === undefined || !isBefore(entry, parent)) return;
      const { at } = entry;
      this.#put(entry, parent.at);
      this.#put(parent, at);
    }
  }

  #sink(entry: Pending): void {
    for (;;) {
      const [left, right] = [this.#entries[2 * entry.at + 1], this.#entries[2 * entry.at + 2]];
      if (left === undefined) return;
      const child = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(child, entry)) return;
      const { at } = entry;
      this.#put(entry, child.at);
      this.#put(child, at);
    }
  }

  #put(entry: Pending, at: number): void {
    this.#entries[at] = entry;
    entry.at = at;
  }
}

const isBefore = (a: Pending, b: Pending): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

/** Lets every continuation that is ready run: one turn of the event loop comes after all microtasks. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `sleep` of a clock that has timers. */
export function sleepOn(clock: Pick<Clock, 'timer'>, ms: number, signal: AbortSignal | undefined): Promise<void> {
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
