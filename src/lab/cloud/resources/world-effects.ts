import type { Log } from '../../../base/log.ts';
import type { RecordMove } from '../state/live-transaction.ts';
import type { KindCatalogue } from './kind-catalogue.ts';

/** Calls `changed` of the kinds: for each object one call after the other, in the order of the changes. */
export class WorldEffects {
  readonly #kinds: KindCatalogue;
  readonly #log: Log;
  /** By object; each goes when its last call is over. */
  readonly #chains = new Map<string, Promise<void>>();

  constructor(kinds: KindCatalogue, log: Log) {
    this.#kinds = kinds;
    this.#log = log;
  }

  /** Resolves when the world is like the state, as far as these changes go. Never rejects. */
  async follow(moves: readonly RecordMove[]): Promise<void> {
    await Promise.all(moves.map((move) => this.#enqueue(move)));
  }

  async idle(): Promise<void> {
    while (this.#chains.size > 0) await Promise.all(this.#chains.values());
  }

  #enqueue(move: RecordMove): Promise<void> {
    const object = move.now ?? move.before;
    if (object === undefined || this.#kinds.get(object.kind)?.changed === undefined) return Promise.resolve();
    const key = `${object.kind}/${object.id}`;
    const call = (this.#chains.get(key) ?? Promise.resolve()).then(() => this.#call(object.kind, move));
    this.#chains.set(key, call);
    return call.finally(() => {
      if (this.#chains.get(key) === call) this.#chains.delete(key);
    });
  }

  async #call(kind: string, { now, before }: RecordMove): Promise<void> {
    try {
      await this.#kinds.demand(kind).changed?.(now, before);
    } catch (err) {
      this.#log.error(
        { err, object: (now ?? before)?.id },
        'Could not make the world like the state of the cloud',
      );
    }
  }
}
