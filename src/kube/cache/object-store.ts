import { type KubeObject, keyFromText } from '../../api/object.ts';
import type { Log } from '../../base/log.ts';
import type { IndexFunction, ObjectEvent } from './cache.ts';
import { changesAlong, changesBetween, changesToNothing, isSameState, updated } from './object-changes.ts';
import { ObjectIndex } from './object-index.ts';
import {
  isConfirmedBy,
  isConfirmedByList,
  isNews,
  leftAfterDeletion,
  lookedUp,
  type OwnWrite,
  seenSince,
  seenUntil,
  shownWith,
  tombstoneOf,
  versionOf,
} from './own-write.ts';
import { compareVersions } from './resource-version.ts';

const NO_EVENTS: readonly ObjectEvent[] = [];
const NONE: readonly KubeObject[] = [];
export const NAMESPACE_INDEX = 'namespace';

/** A list of everything in a namespace, or in all. */
export interface Replacement {
  readonly items: ReadonlyMap<string, KubeObject>;
  readonly version: string;
  readonly namespace?: string | undefined;
  readonly isInitial: boolean;
  /** The server's versions went back: those of own writes mean nothing any more. */
  readonly isOtherHistory?: boolean;
}

/**
 * Frozen objects by key, with what this process wrote itself laid over what the watch has shown (5.2, 5.3). Every method
 * is one step for readers, and returns what handlers have to be told: changes of what the watch shows, never own writes.
 */
export class ObjectStore {
  /** What readers see. */
  readonly #objects = new Map<string, KubeObject>();
  /** Bounded by the keys written while the watch is behind; each one is looked up after a minute (I21). */
  readonly #writes = new Map<string, OwnWrite>();
  readonly #indexes = new Map<string, ObjectIndex>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Only while there are no objects. */
  addIndex(name: string, valuesOf: IndexFunction): void {
    this.#indexes.set(name, new ObjectIndex(name, valuesOf, this.#log));
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  /** Every object, as a list of its own. */
  all(): KubeObject[] {
    return [...this.#objects.values()];
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** Keys of an index; undefined when there is no such index. */
  keysIn(index: string, value: string): ReadonlySet<string> | undefined {
    return this.#indexes.get(index)?.keys(value);
  }

  /** What handlers were told last about a key. */
  delivered(key: string): KubeObject | undefined {
    const write = this.#writes.get(key);
    return write === undefined ? this.#objects.get(key) : write.delivered;
  }

  /** What handlers were told last about every key, as a map of its own. */
  allDelivered(namespace?: string): Map<string, KubeObject> {
    const result = namespace === undefined ? new Map(this.#objects) : this.#inNamespace(namespace);
    for (const [key, { delivered }] of this.#writes) {
      if (!isIn(key, namespace)) continue;
      if (delivered === undefined) result.delete(key);
      else result.set(key, delivered);
    }
    return result;
  }

  /** The same, with keys of which handlers were told nothing though readers saw an own write. */
  #allKnown(namespace: string | undefined): Map<string, KubeObject | undefined> {
    const result = new Map<string, KubeObject | undefined>(this.allDelivered(namespace));
    for (const key of this.#writes.keys()) {
      if (isIn(key, namespace) && !result.has(key)) result.set(key, undefined);
    }
    return result;
  }

  /** An object was made or changed, says the watch. What is not newer than what was told before is ignored (I7). */
  put(key: string, object: KubeObject): readonly ObjectEvent[] {
    const old = this.delivered(key);
    if (old !== undefined && compareVersions(versionOf(object), versionOf(old)) <= 0) return NO_EVENTS;
    const write = this.#writes.get(key);
    if (write === undefined || isConfirmedBy(write, object)) this.#settle(key, object);
    else this.#keep(key, { ...write, delivered: object, seen: seenSince(write, versionOf(object)) });
    return changesAlong(old, [...seenUntil(write, versionOf(object)), object], false);
  }

  /** An object was deleted, says the watch; `object` is its last state. */
  remove(key: string, object: KubeObject): readonly ObjectEvent[] {
    const old = this.delivered(key);
    if (old !== undefined && compareVersions(versionOf(object), versionOf(old)) < 0) return NO_EVENTS;
    const write = this.#writes.get(key);
    const left = write === undefined ? undefined : leftAfterDeletion(write, object);
    if (left === undefined) this.#settle(key, undefined);
    else this.#keep(key, left);
    return changesToNothing(old, seenUntil(write, versionOf(object)), object);
  }

  /** Takes a list for what there is (I2): what is not in it was deleted unseen. */
  replace({ items, version, namespace, isInitial, isOtherHistory = false }: Replacement): ObjectEvent[] {
    const events: ObjectEvent[] = [];
    const seen = (key: string): readonly KubeObject[] => {
      const write = this.#writes.get(key);
      if (write === undefined) return NONE;
      return isOtherHistory ? write.seen : seenUntil(write, version);
    };
    for (const [key, old] of this.#allKnown(namespace)) {
      if (!items.has(key)) events.push(...changesToNothing(old, seen(key)));
    }
    for (const [key, item] of items) {
      const old = this.delivered(key);
      // The common case of a relist, without a list of its own for each object.
      if (old === item) continue;
      const states = seen(key);
      const last = states.at(-1) ?? old;
      events.push(...changesAlong(old, states, isInitial));
      // In another history the same version may be of another state.
      if (isOtherHistory && last !== undefined && isSameState(last, item)) events.push(updated(last, item));
      else events.push(...changesBetween(last, item, isInitial));
    }
    this.#replaceShown(items, namespace, (key, write) => {
      const item = items.get(key);
      const isConfirmed = isOtherHistory || isConfirmedByList(write, item, version);
      return isConfirmed ? undefined : { ...write, delivered: item, seen: seenSince(write, version) };
    });
    return events;
  }

  /** Shows what this process wrote, unless something newer is shown; handlers are told when the watch shows it (I20). */
  wrote(key: string, object: KubeObject, how: { isShown: boolean; seenVersion: string; nowMs: number }): void {
    const write = this.#writes.get(key);
    const shown = this.#objects.get(key);
    if (!isNews(object, { object: shown, write, seenVersion: how.seenVersion })) return;
    this.#keep(key, {
      ...(how.isShown && { object }),
      gone: [],
      uid: object.metadata.uid,
      version: versionOf(object),
      isVersionKnown: true,
      delivered: this.delivered(key),
      seen: [...(write?.seen ?? []), ...(how.isShown ? [object] : [])],
      sinceMs: how.nowMs,
    });
  }

  /** Hides what this process deleted. Without a uid, what is shown is what was deleted; nothing shown, nothing to hide. */
  deleted(key: string, last: { uid?: string | undefined; version?: string }, nowMs: number): void {
    const write = this.#writes.get(key);
    const shown = this.#objects.get(key);
    const tombstone = tombstoneOf(last, { shown, write, nowMs });
    if (tombstone !== undefined) this.#keep(key, tombstone);
  }

  /** Own writes that the watch has not shown, the oldest first. */
  get ownWrites(): ReadonlyMap<string, OwnWrite> {
    return this.#writes;
  }

  /**
   * What the server has where the watch did not show a write (I21). When the watch is known to be past the write, its
   * event is lost and this takes its place; else the write stays, in the state that the server has.
   */
  looked(key: string, seen: OwnWrite, found: KubeObject | undefined, how: { isPast: boolean; nowMs: number }) {
    const write = this.#writes.get(key);
    if (write === undefined || write.sinceMs !== seen.sinceMs || write.version !== seen.version) return NO_EVENTS;
    if (!how.isPast) {
      this.#keep(key, lookedUp(write, found, how.nowMs));
      return NO_EVENTS;
    }
    const { delivered } = write;
    if (found === undefined) {
      this.#settle(key, undefined);
      return changesToNothing(delivered, write.seen);
    }
    const isOlder = delivered !== undefined && compareVersions(versionOf(found), versionOf(delivered)) < 0;
    this.#settle(key, isOlder ? delivered : found);
    return isOlder ? NO_EVENTS : changesAlong(delivered, [...seenUntil(write, versionOf(found)), found], false);
  }

  clear(): void {
    this.#objects.clear();
    this.#writes.clear();
    for (const index of this.#indexes.values()) index.clear();
  }

  #keep(key: string, write: OwnWrite): void {
    this.#writes.set(key, write);
    this.#show(key, shownWith(write));
  }

  #settle(key: string, object: KubeObject | undefined): void {
    this.#writes.delete(key);
    this.#show(key, object);
  }

  #show(key: string, object: KubeObject | undefined): void {
    if (object === undefined) {
      if (!this.#objects.delete(key)) return;
      for (const index of this.#indexes.values()) index.remove(key);
      return;
    }
    if (this.#objects.get(key) === object) return;
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) index.put(key, object);
  }

  #replaceShown(
    items: ReadonlyMap<string, KubeObject>,
    namespace: string | undefined,
    left: (key: string, write: OwnWrite) => OwnWrite | undefined,
  ): void {
    const shown = namespace === undefined ? this.#objects.keys() : [...this.#inNamespace(namespace).keys()];
    for (const [key, write] of this.#writes) {
      if (!isIn(key, namespace)) continue;
      const kept = left(key, write);
      if (kept === undefined) this.#settle(key, items.get(key));
      else this.#keep(key, kept);
    }
    for (const key of shown) {
      if (!items.has(key) && !this.#writes.has(key)) this.#show(key, undefined);
    }
    for (const [key, item] of items) {
      if (!this.#writes.has(key)) this.#show(key, item);
    }
  }

  #inNamespace(namespace: string): Map<string, KubeObject> {
    const found = new Map<string, KubeObject>();
    for (const key of this.keysIn(NAMESPACE_INDEX, namespace) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.set(key, object);
    }
    return found;
  }
}

const isIn = (key: string, namespace: string | undefined): boolean =>
  namespace === undefined || keyFromText(key).namespace === namespace;
