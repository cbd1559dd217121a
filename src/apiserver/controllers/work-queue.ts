import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';

export interface WorkQueueOptions {
  /** For the log: which controller this is. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How many keys are worked on at a time; one key never twice at once. */
  readonly concurrency?: number;
  /** Brings the world of one key to where it should be. When it rejects it is tried again, ever later. */
  readonly work: (key: string) => Promise<void>;
}

/** Somebody else wrote first: nothing to tell anybody, the next attempt sees the new state. */
export class LostRace extends Error {
  override readonly name = 'LostRace';
}

const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 30_000;
const DEFAULT_CONCURRENCY = 8;

/** Keys that need work, each at most once in line; what is added while it is worked on is worked on again. */
export class WorkQueue implements AsyncDisposable {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #retries = new Map<string, Disposable>();
  #onIdle: (() => void)[] = [];
  #isStopped = false;
  #isScheduled = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Whether nothing is in line or being worked on; what waits for another attempt does not count. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#running.size === 0;
  }

  add(key: string): void {
    if (this.#isStopped) return;
    if (this.#running.has(key)) this.#again.add(key);
    else this.#waiting.add(key);
    this.#schedule();
  }

  /** Resolves when the queue is idle. */
  settled(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    this.#again.clear();
    for (const retry of this.#retries.values()) retry[Symbol.dispose]();
    this.#retries.clear();
    await Promise.all(this.#running.values());
    this.#wakeIdle();
  }

  /** Keys are often added by listeners of the store: work begins after all of them have been told. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    const { concurrency = DEFAULT_CONCURRENCY } = this.#options;
    for (const key of this.#waiting) {
      if (this.#running.size >= concurrency) return;
      this.#waiting.delete(key);
      // Work may add its own key before it first waits: by then it must count as running.
      this.#running.set(key, Promise.resolve());
      this.#running.set(key, this.#run(key));
    }
    if (this.isIdle) this.#wakeIdle();
  }

  async #run(key: string): Promise<void> {
    this.#dropRetry(key);
    try {
      await this.#options.work(key);
      this.#failures.delete(key);
    } catch (error) {
      this.#failed(key, error);
    }
    this.#running.delete(key);
    if (this.#again.delete(key)) this.#waiting.add(key);
    this.#start();
  }

  #failed(key: string, error: unknown): void {
    const { clock, log, name } = this.#options;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    if (this.#isStopped) return;
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
    if (!(error instanceof LostRace)) log.warn({ err: error, controller: name, key, delayMs }, 'Will try again');
    this.#retries.set(
      key,
      clock.timer(delayMs, () => {
        this.#retries.delete(key);
        this.add(key);
      }),
    );
  }

  #dropRetry(key: string): void {
    this.#retries.get(key)?.[Symbol.dispose]();
    this.#retries.delete(key);
  }

  #wakeIdle(): void {
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
