import assert from 'node:assert/strict';
import type { Store, StoreEvent } from '../../../src/apiserver/store/store.ts';

/** One change as somebody outside could see it. */
interface Seen {
  readonly revision: number;
  readonly key: string;
  readonly isRemoval: boolean;
  readonly id: string;
}

/** What clients and a watcher know of a store that is killed again and again (reliability T3.1, T3.2). */
export class Ledger {
  readonly #intents = new Set<string>();
  readonly #acknowledged = new Map<string, number>();
  /** Everything the watcher got, live or after it resumed. Revision 2 is the first. */
  readonly #truth: Seen[] = [];
  readonly #failures: string[] = [];

  get acknowledgedCount(): number {
    return this.#acknowledged.size;
  }

  get lastSeen(): number {
    return this.#truth.length + 1;
  }

  /** One line of the writer. */
  note(line: string): void {
    const [word = '', ...rest] = line.split(' ');
    if (word === 'intent') this.#intents.add(rest.join());
    else if (word === 'acknowledged') this.#acknowledged.set(...acknowledgement(rest));
    else if (word === 'saw') this.#see(sighting(rest));
    else if (word === 'failed') this.#failures.push(line);
  }

  /** The watcher resumes where it was: no gap, no repeat. Then everything must fit together. */
  check(store: Store): void {
    assert.deepEqual(this.#failures, [], 'no write fails but by a kill');
    for (const event of store.history('', this.lastSeen)) this.#see(seenOf(event));
    assert.equal(store.revision, this.lastSeen, 'the store is where its watcher is');
    this.#checkAcknowledged();
    const written = this.#truth.map(({ id }) => id);
    assert.equal(new Set(written).size, written.length, 'nothing is written twice');
    assert.deepEqual(
      written.filter((id) => !this.#intents.has(id)),
      [],
      'nothing is written that nobody meant to',
    );
    assert.deepEqual(new Map([...store.list('')].map((entry) => [entry.key, entry.revision])), this.#state());
  }

  /** Throws unless all that was acknowledged is there with its revision. */
  #checkAcknowledged(): void {
    const lost = [...this.#acknowledged].filter(([id, revision]) => this.#truth[revision - 2]?.id !== id);
    assert.deepEqual(lost, [], 'acknowledged writes are lost');
  }

  #see(seen: Seen): void {
    assert.equal(seen.revision, this.lastSeen + 1, 'the watcher misses nothing and gets nothing twice');
    this.#truth.push(seen);
  }

  #state(): ReadonlyMap<string, number> {
    const state = new Map<string, number>();
    for (const { key, revision, isRemoval } of this.#truth) {
      if (isRemoval) state.delete(key);
      else state.set(key, revision);
    }
    return new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const acknowledgement = ([id = '', revision]: readonly string[]): [string, number] => [id, Number(revision)];

const sighting = ([revision, key = '', kind, id = '']: readonly string[]): Seen => ({
  revision: Number(revision),
  key,
  isRemoval: kind === 'removed',
  id,
});

function seenOf({ revision, key, isRemoval, entry }: StoreEvent): Seen {
  const { data } = JSON.parse(Buffer.from(entry.bytes).toString());
  return { revision, key, isRemoval, id: String(data) };
}
