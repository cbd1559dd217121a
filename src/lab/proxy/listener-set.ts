import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/** Something that listens, and can be told anew for what. */
export interface Listening<T> extends AsyncDisposable {
  update(spec: T): void;
}

export interface ListenerSetOptions<T> {
  /** Rejects when the place is taken. */
  readonly open: (spec: T) => Promise<Listening<T>>;
  readonly log: Log;
}

/** Listeners by place: those that stay wanted stay open, so that nobody is refused because of a change (X11). */
export class ListenerSet<T> implements AsyncDisposable {
  readonly #options: ListenerSetOptions<T>;
  readonly #open = new Map<string, Listening<T>>();
  /** Told of already: a place that stays taken is reported once. */
  readonly #failed = new Set<string>();

  constructor(options: ListenerSetOptions<T>) {
    this.#options = options;
  }

  /** Resolves to whether all that is wanted is open. */
  async sync(wanted: ReadonlyMap<string, T>): Promise<boolean> {
    for (const [place, listening] of this.#open) {
      if (wanted.has(place)) continue;
      this.#open.delete(place);
      await listening[Symbol.asyncDispose]();
    }
    for (const place of this.#failed) if (!wanted.has(place)) this.#failed.delete(place);
    for (const [place, spec] of wanted) {
      const listening = this.#open.get(place);
      if (listening === undefined) await this.#listen(place, spec);
      else listening.update(spec);
    }
    return this.#failed.size === 0;
  }

  async #listen(place: string, spec: T): Promise<void> {
    const { open, log } = this.#options;
    try {
      this.#open.set(place, await open(spec));
      this.#failed.delete(place);
    } catch (error) {
      if (!this.#failed.has(place)) log.warn({ place, err: messageOf(error) }, 'Could not listen for a service');
      this.#failed.add(place);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sync(new Map());
  }
}
