import type { Clock } from '../../base/clock.ts';
import type { Following } from './lab-clock.ts';

const TICK_MS = 10;

interface Child {
  readonly reason: string;
  isSettled: boolean;
}

/** While children live, time passes as outside: their timeouts and ours mean the same (T5). */
export class LiveChildren implements AsyncDisposable {
  readonly #host: Clock;
  readonly #advance: (ms: number) => Promise<void>;
  /** Bounded by the children of the lab. */
  readonly #children = new Set<Child>();
  #ticking: Promise<void> | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(host: Clock, advance: (ms: number) => Promise<void>) {
    this.#host = host;
    this.#advance = advance;
  }

  get isEmpty(): boolean {
    return this.#children.size === 0;
  }

  /** A child is starting or ending: nobody knows what it is about to do. */
  get isUnsettled(): boolean {
    return [...this.#children].some(({ isSettled }) => !isSettled);
  }

  get reasons(): readonly string[] {
    return [...this.#children].map(({ reason }) => reason);
  }

  follow(reason: string): Following {
    const child = { reason, isSettled: false };
    this.#children.add(child);
    this.#ticking ??= this.#tick();
    return {
      settled: () => {
        child.isSettled = true;
      },
      [Symbol.dispose]: () => {
        this.#children.delete(child);
      },
    };
  }

  /** Two that move time at once would fire timers of one moment within another. */
  async exclusively(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    await turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#children.clear();
    await this.#ticking;
  }

  async #tick(): Promise<void> {
    let lastMs = this.#host.monotonicMs();
    while (!this.isEmpty) {
      await this.#host.sleep(TICK_MS);
      const nowMs = this.#host.monotonicMs();
      const passedMs = nowMs - lastMs;
      lastMs = nowMs;
      await this.exclusively(() => this.#advance(passedMs));
    }
    this.#ticking = undefined;
  }
}
