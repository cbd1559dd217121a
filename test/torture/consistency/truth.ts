import { type History, isIn, type Operation, type Seen, type View, type Write } from './history.ts';

/** One change as it really happened. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  readonly before: Seen | undefined;
  readonly after: Seen | undefined;
  /** What watchers get: the new state, or the last one at the revision of the removal. */
  readonly seen: Seen;
}

type State = ReadonlyMap<string, Seen>;
const SNAPSHOT_EVERY = 64;

/** What was there at every revision, made from the events of the one who saw everything. */
export class Truth {
  readonly #changes = new Map<string, readonly Change[]>();
  readonly #byKey = new Map<string, Change[]>();
  readonly #snapshots = new Map<string, State[]>();
  readonly #revisions: readonly number[];
  readonly #fates: Fates;

  constructor(history: History) {
    for (const collection of history.truth.keys()) this.#load(history, collection);
    this.#revisions = [...this.#changes.values()]
      .flat()
      .map(({ revision }) => revision)
      .sort((a, b) => a - b);
    this.#fates = new Fates(history, this);
  }

  get collections(): readonly string[] {
    return [...this.#changes.keys()];
  }

  changes(collection: string): readonly Change[] {
    return this.#changes.get(collection) ?? [];
  }

  /** Revisions of all collections, in order. */
  get revisions(): readonly number[] {
    return this.#revisions;
  }

  /** Changes of one object, oldest first. */
  of(collection: string, key: string): readonly Change[] {
    return this.#byKey.get(`${collection} ${key}`) ?? [];
  }

  /** One object at a revision. */
  objectAt(collection: string, key: string, revision: number): Seen | undefined {
    return this.of(collection, key).findLast((change) => change.revision <= revision)?.after;
  }

  at({ collection }: View, revision: number): State {
    const changes = this.changes(collection);
    const count = changes.findLastIndex((change) => change.revision <= revision) + 1;
    const snapshot = Math.floor(count / SNAPSHOT_EVERY);
    const state = new Map(this.#snapshots.get(collection)?.[snapshot]);
    for (const change of changes.slice(snapshot * SNAPSHOT_EVERY, count)) apply(state, change);
    return state;
  }

  /** What a read of this view must give at a revision, in the order of keys. */
  viewAt(view: View, revision: number): readonly Seen[] {
    return [...this.at(view, revision).values()]
      .filter((seen) => isIn(view, seen))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The revision of a write that succeeded. */
  revisionOf(write: Write): number | undefined {
    return this.#fates.revisionOf(write);
  }

  /**
   * Between which revisions the server was while it served a request: at least at that of every write that had been
   * answered before, and not yet at that of any write that was asked for later.
   */
  window({ invokedAt, returnedAt }: { readonly invokedAt: number; readonly returnedAt: number }) {
    return { from: this.#fates.answeredBefore(invokedAt), to: this.#fates.askedAfter(returnedAt) - 1 };
  }

  #load(history: History, collection: string): void {
    const changes: Change[] = [];
    const state = new Map<string, Seen>();
    const snapshots: State[] = [];
    for (const { type, revision, seen } of history.truth.get(collection) ?? []) {
      if (seen === undefined) continue;
      if (changes.length % SNAPSHOT_EVERY === 0) snapshots.push(new Map(state));
      const { key } = seen;
      const after = type === 'DELETED' ? undefined : seen;
      const change = { revision, key, before: state.get(key), after, seen };
      apply(state, change);
      changes.push(change);
      const own = this.#byKey.get(`${collection} ${key}`) ?? [];
      own.push(change);
      this.#byKey.set(`${collection} ${key}`, own);
    }
    if (changes.length % SNAPSHOT_EVERY === 0) snapshots.push(new Map(state));
    this.#changes.set(collection, changes);
    this.#snapshots.set(collection, snapshots);
  }
}

function apply(state: Map<string, Seen>, { key, after }: Change): void {
  if (after === undefined) state.delete(key);
  else state.set(key, after);
}

const isWrite = (operation: Operation): operation is Write =>
  operation.kind !== 'get' && operation.kind !== 'list' && operation.kind !== 'deletecollection';

export const writesOf = ({ operations }: History): readonly Write[] => operations.filter(isWrite);
export const isSuccess = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300;

/** When which revision was known to exist, or known not to exist yet. */
class Fates {
  readonly #revisions = new Map<Write, number>();
  readonly #baseRevision: number;
  /** By the time of the answer, with the highest revision up to then. */
  readonly #answered: { readonly at: number; readonly revision: number }[] = [];
  /** By the time of the question, latest first, with the lowest revision from then on. */
  readonly #asked: { readonly at: number; readonly revision: number }[] = [];

  constructor(history: History, truth: Truth) {
    this.#baseRevision = history.baseRevision;
    const done: { readonly write: Write; readonly revision: number }[] = [];
    for (const write of writesOf(history).filter(isSuccess)) {
      const revision = write.seen?.revision ?? removalOf(truth, write);
      if (revision === undefined) continue;
      this.#revisions.set(write, revision);
      done.push({ write, revision });
    }
    let highest = this.#baseRevision;
    for (const { write, revision } of done.toSorted((a, b) => a.write.returnedAt - b.write.returnedAt)) {
      highest = Math.max(highest, revision);
      this.#answered.push({ at: write.returnedAt, revision: highest });
    }
    let lowest = Number.POSITIVE_INFINITY;
    for (const { write, revision } of done.toSorted((a, b) => b.write.invokedAt - a.write.invokedAt)) {
      lowest = Math.min(lowest, revision);
      this.#asked.push({ at: write.invokedAt, revision: lowest });
    }
  }

  revisionOf(write: Write): number | undefined {
    return this.#revisions.get(write);
  }

  answeredBefore(time: number): number {
    return this.#answered[count(this.#answered, ({ at }) => at < time) - 1]?.revision ?? this.#baseRevision;
  }

  askedAfter(time: number): number {
    return this.#asked[count(this.#asked, ({ at }) => at > time) - 1]?.revision ?? Number.POSITIVE_INFINITY;
  }
}

const removalOf = (truth: Truth, { kind, collection, key, uid }: Write): number | undefined =>
  kind === 'delete'
    ? truth.of(collection, key).find(({ after, seen }) => after === undefined && seen.uid === uid)?.revision
    : undefined;

/** How many at the beginning of a list are so. */
function count<T>(sorted: readonly T[], isSo: (item: T) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = sorted[middle];
    if (item !== undefined && isSo(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
