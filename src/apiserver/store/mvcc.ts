import { KeyIndex } from './key-index.ts';
import { firstAfter, stateAt } from './past.ts';
import { type Entry, type Render, RevisionCompacted, StoreConflict, type StoreEvent } from './store.ts';

/** A new store is at this revision; its first write gets the next one, as in etcd. */
export const FIRST_REVISION = 1;

/** What a compare-and-swap is judged against while a write is on its way to the disk. */
interface Staged {
  readonly revision: number;
  /** Undefined when the write removes the object. */
  readonly entry: Entry | undefined;
}

interface ResourceState {
  readonly index: KeyIndex;
  /** Committed changes since the compact revision, oldest first. */
  history: StoreEvent[];
}

/** One write as the core sees it. */
export interface Change {
  readonly key: string;
  readonly expected: number;
  readonly render: Render;
  readonly isRemoval: boolean;
}

/** `/registry/<group>/<plural>/`: the unit of lists and watches. Undefined for something above a resource. */
export function resourceOf(key: string): string | undefined {
  let slash = 0;
  for (let segments = 0; segments < 3; segments++) {
    slash = key.indexOf('/', slash + 1);
    if (slash < 0) return undefined;
  }
  return key.slice(0, slash + 1);
}

/**
 * All objects and their retained history in memory. Committed state is what readers see; staged writes lie above it
 * until they are published in revision order, or dropped together.
 */
export class MvccCore {
  readonly #latest = new Map<string, Entry>();
  readonly #resources = new Map<string, ResourceState>();
  readonly #staged = new Map<string, Staged>();
  #revision = FIRST_REVISION;
  #lastStaged = FIRST_REVISION;
  #compactRevision = 0;

  get revision(): number {
    return this.#revision;
  }

  get compactRevision(): number {
    return this.#compactRevision;
  }

  get(key: string): Entry | undefined {
    return this.#latest.get(key);
  }

  head(key: string): Entry | undefined {
    const staged = this.#staged.get(key);
    return staged === undefined ? this.#latest.get(key) : staged.entry;
  }

  /** Gives the write its revision. Readers do not see it before it is published. */
  stage({ key, expected, render, isRemoval }: Change): StoreEvent {
    const previous = this.head(key);
    if ((previous?.revision ?? 0) !== expected || (isRemoval && previous === undefined)) {
      throw new StoreConflict(key, previous);
    }
    if (resourceOf(key) === undefined) throw new RangeError(`${key} is not below a resource`);
    const revision = this.#lastStaged + 1;
    const bytes = ownBytes(render(revision));
    // The key of the entry before is the same text; sharing it keeps one string per object instead of one per write.
    const entry: Entry = {
      key: previous?.key ?? key,
      revision,
      createRevision: previous?.createRevision ?? revision,
      bytes,
    };
    this.#lastStaged = revision;
    this.#staged.set(entry.key, { revision, entry: isRemoval ? undefined : entry });
    return { revision, key: entry.key, entry, previous, isRemoval };
  }

  /** Makes a staged or loaded change visible; changes come in revision order without a gap. */
  publish(event: StoreEvent): void {
    const { key, revision, entry, isRemoval } = event;
    const { index, history } = this.#resource(key);
    if (isRemoval) {
      this.#latest.delete(key);
      index.delete(key);
    } else {
      this.#latest.set(key, entry);
      index.set(entry);
    }
    history.push(event);
    this.#revision = revision;
    if (this.#lastStaged < revision) this.#lastStaged = revision;
    if (this.#staged.get(key)?.revision === revision) this.#staged.delete(key);
  }

  /** Forgets all staged writes: none of them was stored. Their revisions are given out again. */
  dropStaged(): void {
    this.#staged.clear();
    this.#lastStaged = this.#revision;
  }

  /** Takes over an object that is older than the retained history. */
  adopt(entry: Entry): void {
    this.#latest.set(entry.key, entry);
    this.#resource(entry.key).index.set(entry);
  }

  /** Where the retained history begins, for a store that is being loaded. */
  startAt(compactRevision: number): void {
    this.#compactRevision = compactRevision;
    this.#revision = Math.max(compactRevision, FIRST_REVISION);
    this.#lastStaged = this.#revision;
  }

  list(prefix: string): Iterable<Entry> {
    const resource = resourceOf(prefix);
    if (resource === undefined) return this.#listAll(prefix);
    return this.#resources.get(resource)?.index.below(prefix) ?? [];
  }

  count(prefix: string): number {
    const resource = resourceOf(prefix);
    if (resource === undefined) return this.#below(prefix).reduce((sum, [, { index }]) => sum + index.size, 0);
    const index = this.#resources.get(resource)?.index;
    if (index === undefined) return 0;
    return prefix.length === resource.length ? index.size : index.count(prefix);
  }

  listAt(prefix: string, revision: number, start = prefix): Iterable<Entry> {
    this.#mustRetain(revision);
    if (revision > this.#revision) throw new RangeError(`revision ${revision} is not committed yet`);
    const resource = resourceOf(prefix);
    const states = resource === undefined ? this.#below(prefix) : this.#one(resource);
    return chained(states.map(([, { index, history }]) => stateAt(index, history, { prefix, revision, start })));
  }

  history(prefix: string, after: number): Iterable<StoreEvent> {
    this.#mustRetain(after);
    const resource = resourceOf(prefix);
    const states = resource === undefined ? this.#below(prefix) : this.#one(resource);
    const found = states.flatMap(([, { history }]) => history.slice(firstAfter(history, after)));
    if (states.length > 1) found.sort((a, b) => a.revision - b.revision);
    return resource === undefined || prefix.length === resource.length
      ? found
      : found.filter(({ key }) => key.startsWith(prefix));
  }

  /** Forgets history up to `revision`. */
  compact(revision: number): void {
    this.#compactRevision = revision;
    for (const state of this.#resources.values()) {
      const kept = firstAfter(state.history, revision);
      // A new array gives the memory back, which splice does not promise.
      if (kept > 0) state.history = state.history.slice(kept);
    }
  }

  #mustRetain(revision: number): void {
    if (revision < this.#compactRevision) throw new RevisionCompacted(revision, this.#compactRevision);
  }

  #resource(key: string): ResourceState {
    const resource = resourceOf(key) ?? key;
    const known = this.#resources.get(resource);
    if (known !== undefined) return known;
    const state: ResourceState = { index: new KeyIndex(), history: [] };
    this.#resources.set(resource, state);
    return state;
  }

  #one(resource: string): [string, ResourceState][] {
    const state = this.#resources.get(resource);
    return state === undefined ? [] : [[resource, state]];
  }

  /** Resources below a prefix in key order: no resource prefix is the beginning of another one. */
  #below(prefix: string): [string, ResourceState][] {
    return [...this.#resources]
      .filter(([resource]) => resource.startsWith(prefix))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  *#listAll(prefix: string): Generator<Entry, undefined> {
    for (const [resource, { index }] of this.#below(prefix)) yield* index.below(resource);
    return undefined;
  }
}

function* chained<T>(parts: readonly Iterable<T>[]): Generator<T, undefined> {
  for (const part of parts) yield* part;
  return undefined;
}

/** A slice of Node's buffer pool would keep 8 KiB alive for one small object. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.byteLength);
  own.set(bytes);
  return own;
}
