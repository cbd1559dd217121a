import type { Clock } from '../../base/clock.ts';
import type { WatchEvent } from '../client/kube-client.ts';

const MOST_SILENCE_MS = 30_000;
const ANNOTATION = 'k8s.io/initial-events-end';

/** Whether an event marks the end of the initial state. */
export const isEndBookmark = ({ type, object }: WatchEvent): boolean =>
  type === 'BOOKMARK' && object.metadata.annotations?.[ANNOTATION] === 'true';

/**
 * Aborts its signal when the mark at the end of the initial events does not come: servers that do not know watch-list
 * send the objects and then nothing. Dispose it when the mark has come.
 */
export class EndBookmark implements Disposable {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #lastMs: number;
  #timer: Disposable;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastMs = clock.monotonicMs();
    this.#timer = this.#arm(MOST_SILENCE_MS);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something came. One timer for all events: it looks back when it fires. */
  touch(): void {
    this.#lastMs = this.#clock.monotonicMs();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #arm(ms: number): Disposable {
    return this.#clock.timer(ms, () => {
      const leftMs = this.#lastMs + MOST_SILENCE_MS - this.#clock.monotonicMs();
      if (leftMs > 0) this.#timer = this.#arm(leftMs);
      else this.#controller.abort(new Error('no end of the initial events'));
    });
  }
}
