/**
 * One stored object. `bytes` is its JSON with the resourceVersion inside; built-in kinds are kept without kind and
 * apiVersion. Never changed in place: a write makes a new entry.
 */
export interface Entry {
  readonly key: string;
  /** Revision of the write that made this state. */
  readonly revision: number;
  /** Revision of the write that created the object. */
  readonly createRevision: number;
  readonly bytes: Uint8Array;
}

/** One committed change, in revision order. */
export interface StoreEvent {
  readonly revision: number;
  readonly key: string;
  /** State after the change; for a removal the last state with the revision of the removal inside (watch T7). */
  readonly entry: Entry;
  /** State before; absent when the object was created. */
  readonly previous: Entry | undefined;
  readonly isRemoval: boolean;
}

/** What to write; called once, with the revision the write gets. The result must hold that revision as resourceVersion. */
export type Render = (revision: number) => Uint8Array;

/** A compare-and-swap lost: `current` is what is there now, uncommitted writes included. */
export class StoreConflict extends Error {
  readonly current: Entry | undefined;
  constructor(key: string, current: Entry | undefined) {
    super(`${key} is at revision ${current?.revision ?? 'none'}`);
    this.name = 'StoreConflict';
    this.current = current;
  }
}

/** The revision asked for was compacted away; `oldest` is the first one still there. */
export class RevisionCompacted extends Error {
  readonly oldest: number;
  constructor(revision: number, oldest: number) {
    super(`revision ${revision} is compacted; the oldest is ${oldest}`);
    this.name = 'RevisionCompacted';
    this.oldest = oldest;
  }
}

/** Writing failed or is switched off; nothing was stored. The message says why, for people (reliability P7, D10). */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/**
 * A revisioned key-value store in the manner of etcd (embedded-apiserver §20). Reads are synchronous, from memory, and
 * see only what is committed; compare-and-swap sees uncommitted predecessors as well.
 */
export interface Store extends AsyncDisposable {
  /** Highest committed revision; a new store is at 1. */
  readonly revision: number;
  /** Revisions below it can no longer be read or watched from. */
  readonly compactRevision: number;
  /** New at creation and at restore from a backup; continue tokens and watches of another one are expired. */
  readonly incarnation: string;
  /** Why writes are refused now, if they are (readyz shows it). */
  readonly problem: string | undefined;

  /** Latest committed state. */
  get(key: string): Entry | undefined;
  /** Latest state including writes that are not committed yet: what the next compare-and-swap is judged against. */
  head(key: string): Entry | undefined;

  /**
   * Writes one object. `expected`: the revision the key must be at, 0 for "must not exist". Throws StoreConflict at
   * once; the promise resolves when the write is durable, published to watchers and visible to `get`.
   */
  put(key: string, expected: number, render: Render): Promise<Entry>;
  /** Removes one object; `render` gives the final state that watchers get. Resolves like `put`. */
  remove(key: string, expected: number, render: Render): Promise<Entry>;

  /** Committed entries below a prefix, in byte order of their keys. O(1) to obtain; do not hold across writes. */
  list(prefix: string): Iterable<Entry>;
  count(prefix: string): number;
  /** Entries below a prefix as they were at a revision, in key order, from `start` on (inclusive). Throws RevisionCompacted. */
  listAt(prefix: string, revision: number, start?: string): Iterable<Entry>;

  /** Changes below a prefix with revision > `after`, oldest first. Throws RevisionCompacted. */
  history(prefix: string, after: number): Iterable<StoreEvent>;
  /** Called for every committed change below a prefix, in revision order, after it is visible to `get`. */
  subscribe(prefix: string, listener: (event: StoreEvent) => void): Disposable;
  /** Resolves when `revision` is committed; rejects when the signal aborts first. */
  reached(revision: number, signal: AbortSignal): Promise<void>;

  /** Forgets history before `revision`; current objects stay. */
  compact(revision: number): Promise<void>;
  /** A consistent copy of the store in a new file. */
  backup(file: string): Promise<void>;
}
