import { resourceOf } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { WatchPlace } from './hub.ts';

export interface ChangeWatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Events that come together are one change. */
const GATHER_MS = 300;
/** Without an event, a look from time to time: Nodes of the cluster are not watched. */
const LOOK_MS = 15_000;
const RETRY_MS = 2000;

/** Tells when something that was listed has changed. What is listed may change, too. */
export class ChangeWatch implements Disposable {
  readonly #options: ChangeWatchOptions;
  /** One stream for each list, by what is listed. */
  readonly #streams = new Map<string, AbortController>();
  #hasChanged = false;
  #wake: (() => void) | undefined;

  constructor(options: ChangeWatchOptions) {
    this.#options = options;
  }

  /** Watches these places from now on, and no others. */
  follow(places: readonly WatchPlace[]): void {
    const wanted = new Map(places.map((place) => [placeText(place), place]));
    for (const [key, stream] of this.#streams) {
      if (wanted.has(key)) continue;
      stream.abort();
      this.#streams.delete(key);
    }
    for (const [key, place] of wanted) {
      if (this.#streams.has(key)) continue;
      const stream = new AbortController();
      this.#streams.set(key, stream);
      void this.#run(place, AbortSignal.any([stream.signal, this.#options.signal]));
    }
  }

  /** Resolves after a change, or when it is time to look anyway; rejects with the reason of the signal. */
  async changed(): Promise<void> {
    const { clock, signal } = this.#options;
    if (!this.#hasChanged) await this.#nextChange();
    signal.throwIfAborted();
    await clock.sleep(GATHER_MS, signal);
    this.#hasChanged = false;
  }

  [Symbol.dispose](): void {
    for (const stream of this.#streams.values()) stream.abort();
    this.#streams.clear();
  }

  async #nextChange(): Promise<void> {
    const { clock, signal } = this.#options;
    const change = new AbortController();
    this.#wake = () => change.abort();
    await clock.sleep(LOOK_MS, AbortSignal.any([signal, change.signal])).catch(() => {});
    this.#wake = undefined;
  }

  #poke(): void {
    this.#hasChanged = true;
    this.#wake?.();
  }

  /** A stream that ends or fails begins again with what is there now, which counts as a change. */
  async #run(place: WatchPlace, signal: AbortSignal): Promise<void> {
    let from = place.resourceVersion;
    while (!signal.aborted) {
      // Whether a failure matters is seen when the lists are read again.
      await this.#stream(place, from, signal).catch(() => {});
      from = '';
      await this.#options.clock.sleep(RETRY_MS, signal).catch(() => {});
    }
  }

  async #stream({ kind, options }: WatchPlace, from: string, signal: AbortSignal): Promise<void> {
    const call = { ...options, signal, ...(from !== '' && { resourceVersion: from }) };
    for await (const { type } of this.#options.client.live.watch(kind, call))
      if (type !== 'BOOKMARK') this.#poke();
  }
}

const placeText = ({ kind, options }: WatchPlace): string => `${resourceOf(kind)} ${JSON.stringify(options)}`;
