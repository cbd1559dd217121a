import type { RecordSet } from './record-set.ts';

/** Sets whose turn is remembered; of more, the one asked longest ago begins anew. */
const MOST_TURNS = 1024;

/** Who comes first among several addresses: each in turn, for each set by itself (C26). */
export class Rotation {
  readonly #turns = new Map<string, number>();

  /** The set with its values in the order of this turn. */
  turned(set: RecordSet): RecordSet {
    const { name, type, values } = set;
    if (values.length < 2 || (type !== 'A' && type !== 'AAAA')) return set;
    const key = `${type} ${name}`;
    const turn = (this.#turns.get(key) ?? 0) % values.length;
    this.#turns.delete(key);
    this.#turns.set(key, turn + 1);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > MOST_TURNS && oldest !== undefined) this.#turns.delete(oldest);
    return { ...set, values: [...values.slice(turn), ...values.slice(0, turn)] };
  }
}
