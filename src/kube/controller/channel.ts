import { keyFromText, keyText, type ObjectKey } from '../../api/object.ts';

export interface ChannelOptions {
  readonly priority?: number;
  readonly afterMs?: number;
}

/** Takes keys from outside the cluster: a cloud's events, a timer, another program. */
export type ChannelListener = (key: ObjectKey, options?: ChannelOptions) => void;

/** Where keys come from that no object event brings. */
export interface ChannelSource {
  subscribe(listener: ChannelListener): Disposable;
}

/** Distinct keys that are kept until somebody listens. */
const MOST_EARLY = 1024;

/** A source that is fed by calls. Keys that are sent before anybody listens wait for the first listener. */
export class Channel implements ChannelSource {
  readonly #listeners = new Set<ChannelListener>();
  readonly #early = new Map<string, ChannelOptions>();

  /** False when nobody listens yet and too many keys wait: then it is lost. */
  send(key: ObjectKey, options: ChannelOptions = {}): boolean {
    for (const listener of this.#listeners) listener(key, options);
    if (this.#listeners.size > 0) return true;
    const text = keyText(key);
    if (this.#early.size >= MOST_EARLY && !this.#early.has(text)) return false;
    this.#early.set(text, merged(this.#early.get(text) ?? options, options));
    return true;
  }

  subscribe(listener: ChannelListener): Disposable {
    this.#listeners.add(listener);
    for (const [text, options] of this.#early) listener(keyFromText(text), options);
    this.#early.clear();
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}

/** As a queue does it (Q2, Q4): a later word neither delays nor lowers an earlier one. */
const merged = (one: ChannelOptions, other: ChannelOptions): ChannelOptions => ({
  afterMs: Math.min(one.afterMs ?? 0, other.afterMs ?? 0),
  priority: Math.max(one.priority ?? 0, other.priority ?? 0),
});
