import type { Clock } from '../../base/clock.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { DelayHeap } from './delay-heap.ts';
import { QueueMetrics } from './queue-metrics.ts';
import { ItemBackoff, type RateLimiter } from './rate-limiter.ts';
import { ReadyLanes } from './ready-lanes.ts';

/** For what need not overtake anything: the initial list and resyncs (Q4). */
export const LOW_PRIORITY = -100;

export interface WorkQueueOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'timer'>;
  readonly limiter?: RateLimiter;
  /** Keys that may overtake one of a lower priority before that one is served (Q6); 100 unless told otherwise. */
  readonly maxOvertakes?: number;
  /** Counted under this name. */
  readonly name?: string;
  readonly metrics?: Metrics;
}

export interface AddOptions {
  readonly afterMs?: number;
  /** Waits as the rate limiter says; with `afterMs`, the shorter of both. */
  readonly isRateLimited?: boolean;
  /** Higher is earlier; 0 unless told otherwise. */
  readonly priority?: number;
}

export interface Taken {
  readonly key: string;
  readonly priority: number;
}

/** What a queue holds, for tests and health checks. */
export interface QueueActivity {
  readonly ready: number;
  readonly waiting: number;
  readonly processing: number;
  /** When the first waiting key becomes ready, on the monotonic clock. */
  readonly nextReadyMs?: number;
}

// At most so many keys become ready in one turn of the event loop, so that a million due at once do not block it.
const KEYS_PER_TURN = 10_000;

/**
 * A key in the queue. While it waits, `readyAtMs` is when it will be ready; then, since when it is. Four fields and no
 * more: a million keys that wait must fit into 200 MB (Q8).
 */
class Item {
  readonly key: string;
  priority: number;
  readyAtMs: number;
  /** In the heap of the waiting when at least zero, in a lane of the ready when below. */
  place = -1;

  constructor(key: string, priority: number, readyAtMs: number) {
    this.key = key;
    this.priority = priority;
    this.readyAtMs = readyAtMs;
  }
}

/**
 * Keys that need work, each at most once, and never one key in two hands (Q1). Adding is cheap and never fails; the
 * number of keys is bounded by whoever adds them, because a key that is there already takes no more room.
 */
export class WorkQueue implements Disposable {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'timer'>;
  readonly #limiter: RateLimiter;
  readonly #metrics: QueueMetrics | undefined;
  readonly #items = new Map<string, Item>();
  readonly #ready: ReadyLanes<Item>;
  readonly #waiting = new DelayHeap<Item>();
  /** Since when. */
  readonly #processing = new Map<string, number>();
  /** Added while being processed: back in the queue when done. */
  readonly #dirty = new Map<string, Item>();
  readonly #getters: ((taken: Taken | undefined) => void)[] = [];
  readonly #drained: (() => void)[] = [];
  #phase: 'open' | 'draining' | 'shut' = 'open';
  #timer: Disposable | undefined;
  #timerAtMs = Infinity;

  constructor({ clock, limiter = new ItemBackoff(), maxOvertakes = 100, name = '', metrics }: WorkQueueOptions) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#ready = new ReadyLanes(maxOvertakes);
    const read = () => ({
      depths: this.#ready.depths,
      startedMs: this.#processing.values(),
      nowMs: clock.monotonicMs(),
    });
    this.#metrics = metrics === undefined ? undefined : new QueueMetrics(metrics, name, read);
  }

  get activity(): QueueActivity {
    const counts = { ready: this.#ready.size, waiting: this.#waiting.size, processing: this.#processing.size };
    const first = this.#waiting.first;
    return first === undefined ? counts : { ...counts, nextReadyMs: first.readyAtMs };
  }

  /**
   * Makes a key ready now or after a while. Of several adds before the key is taken, the earliest time and the highest
   * priority count (Q2, Q4). While the key is in work, that takes effect when it is done. Nothing after a shutdown.
   */
  add(key: string, { afterMs = 0, isRateLimited = false, priority: wanted = 0 }: AddOptions = {}): void {
    if (this.#phase !== 'open') return;
    // NaN is in no order: a lane of that priority would never be found again, and its key be handed out twice.
    const priority = Number.isNaN(wanted) ? 0 : wanted;
    const delayMs = (isRateLimited ? this.#limitedMs(key, afterMs) : afterMs) || 0;
    if (delayMs > 0) this.#metrics?.retried();
    const readyAtMs = this.#clock.monotonicMs() + Math.max(0, delayMs);
    if (this.#processing.has(key)) this.#addDirty(key, priority, readyAtMs);
    else this.#insert(key, priority, readyAtMs);
  }

  /** The next failure of the key is its first again. */
  forget(key: string): void {
    this.#limiter.forget(key);
  }

  /** The next key, which the caller must give back with `done`; undefined when the queue is shut. */
  get(): Promise<Taken | undefined> {
    const taken = this.#take();
    if (taken !== undefined || this.#phase === 'shut') return Promise.resolve(taken);
    // Bounded by the number of workers.
    return new Promise((resolve) => this.#getters.push(resolve));
  }

  /** The work on a key has ended. Ignores keys that are not in work. */
  done(key: string): void {
    const startedMs = this.#processing.get(key);
    if (startedMs === undefined) return;
    this.#processing.delete(key);
    this.#metrics?.finished(this.#clock.monotonicMs() - startedMs);
    const again = this.#dirty.get(key);
    if (again !== undefined) {
      this.#dirty.delete(key);
      this.#insert(key, again.priority, again.readyAtMs);
    }
    this.#endDrain();
  }

  /** Drops what waits: no more adds, every `get` resolves to undefined. Work in progress goes on. */
  shutdown(): void {
    this.#dropWaiting();
    this.#ready.clear();
    this.#items.clear();
    this.#dirty.clear();
    this.#shut();
    if (this.#processing.size === 0) for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** No more adds; hands out what is ready, drops what is delayed, and resolves when all of it is done. */
  shutdownWithDrain(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      if (this.#phase === 'open') {
        this.#phase = 'draining';
        this.#dropWaiting();
      }
      this.#endDrain();
    });
  }

  [Symbol.dispose](): void {
    this.shutdown();
    this.#metrics?.[Symbol.dispose]();
  }

  #limitedMs(key: string, afterMs: number): number {
    const delayMs = this.#limiter.delayMs(key);
    return afterMs > 0 ? Math.min(afterMs, delayMs) : delayMs;
  }

  #addDirty(key: string, priority: number, readyAtMs: number): void {
    const item = this.#dirty.get(key);
    if (item === undefined) {
      this.#dirty.set(key, new Item(key, priority, readyAtMs));
      return;
    }
    item.priority = Math.max(item.priority, priority);
    item.readyAtMs = Math.min(item.readyAtMs, readyAtMs);
  }

  #insert(key: string, priority: number, readyAtMs: number): void {
    const isNow = readyAtMs <= this.#clock.monotonicMs();
    if (!isNow && this.#phase !== 'open') return;
    const item = this.#items.get(key);
    if (item === undefined) {
      const fresh = new Item(key, priority, readyAtMs);
      this.#items.set(key, fresh);
      if (isNow) this.#makeReady(fresh);
      else this.#makeWaiting(fresh);
      return;
    }
    if (item.place < 0) {
      if (priority > item.priority) this.#ready.raise(item, priority);
      return;
    }
    item.priority = Math.max(item.priority, priority);
    if (isNow) {
      this.#waiting.remove(item);
      this.#makeReady(item);
    } else if (readyAtMs < item.readyAtMs) {
      item.readyAtMs = readyAtMs;
      this.#waiting.advanced(item);
      this.#arm();
    }
  }

  #makeWaiting(item: Item): void {
    this.#waiting.add(item);
    this.#arm();
  }

  #makeReady(item: Item): void {
    item.readyAtMs = this.#clock.monotonicMs();
    this.#ready.add(item);
    this.#metrics?.added();
    const getter = this.#getters.shift();
    getter?.(this.#take());
  }

  #take(): Taken | undefined {
    const item = this.#ready.take();
    if (item === undefined) return undefined;
    this.#items.delete(item.key);
    const nowMs = this.#clock.monotonicMs();
    this.#processing.set(item.key, nowMs);
    this.#metrics?.started(nowMs - item.readyAtMs);
    return item;
  }

  /** One timer, for the key that is due first (Q8). */
  #arm(): void {
    const atMs = this.#waiting.first?.readyAtMs ?? Infinity;
    // One that fires too early arms itself again, which is cheaper than moving it with every change.
    if (atMs >= this.#timerAtMs) return;
    this.#timer?.[Symbol.dispose]();
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.timer(Math.max(0, atMs - this.#clock.monotonicMs()), () => this.#fire());
  }

  #fire(): void {
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
    const nowMs = this.#clock.monotonicMs();
    for (let moved = 0; moved < KEYS_PER_TURN; moved++) {
      const item = this.#waiting.first;
      if (item === undefined || item.readyAtMs > nowMs) break;
      this.#waiting.remove(item);
      this.#makeReady(item);
    }
    this.#arm();
  }

  #dropWaiting(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
    this.#waiting.clear();
    for (const [key, item] of this.#items) if (item.place >= 0) this.#items.delete(key);
  }

  #endDrain(): void {
    if (this.#phase === 'open' || this.#processing.size > 0 || this.#ready.size > 0) return;
    this.#shut();
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #shut(): void {
    this.#phase = 'shut';
    for (const resolve of this.#getters.splice(0)) resolve(undefined);
  }
}
