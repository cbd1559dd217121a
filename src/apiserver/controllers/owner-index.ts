import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { textOf } from '../rest/object-meta.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly isBlocking: boolean;
}

/** An object that has owners. */
interface Dependent {
  readonly uid: string;
  readonly owners: readonly OwnerReference[];
}

/** An object that somebody names as owner, whether it is there or not. */
interface Owner {
  /** Key of each dependent, and whether it blocks. */
  readonly dependents: Map<string, boolean>;
  blocking: number;
  /** Its removal was seen: it is gone for good, also when its kind is no longer known. */
  isGone: boolean;
  /** Key of an owner that waits until nothing blocks it any more (G6). */
  waitingKey: string | undefined;
  /** Kinds (by prefix) that were searched for it in all namespaces, and whether it was found. */
  searched: Map<string, boolean> | undefined;
}

export function ownersIn(metadata: JsonObject): readonly OwnerReference[] {
  const { ownerReferences } = metadata;
  if (!Array.isArray(ownerReferences)) return [];
  return ownerReferences.filter(isJsonObject).map((reference) => ({
    apiVersion: textOf(reference['apiVersion']),
    kind: textOf(reference['kind']),
    name: textOf(reference['name']),
    uid: textOf(reference['uid']),
    isBlocking: reference['blockOwnerDeletion'] === true,
  }));
}

/** Who depends on whom, by uid. Objects without owners and without dependents take no room. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Dependent>();
  readonly #owners = new Map<string, Owner>();

  /** Whether nobody depends on anybody. */
  get isEmpty(): boolean {
    return this.#owners.size === 0;
  }

  has(key: string): boolean {
    return this.#dependents.has(key);
  }

  uidOf(key: string): string | undefined {
    return this.#dependents.get(key)?.uid;
  }

  /** Takes over the owners of an object; false when they are what they were. */
  set(key: string, uid: string, owners: readonly OwnerReference[]): boolean {
    const before = this.#dependents.get(key);
    if (before === undefined && owners.length === 0) return false;
    if (before?.uid === uid && isSame(before.owners, owners)) return false;
    this.#detach(key, before?.owners ?? []);
    if (owners.length === 0) {
      this.#dependents.delete(key);
      return true;
    }
    this.#dependents.set(key, { uid, owners });
    this.#attach(key, owners);
    return true;
  }

  /** Keys of waiting owners that nothing blocks, among those named. */
  unblocked(owners: readonly OwnerReference[]): readonly string[] {
    return owners.flatMap(({ uid }) => {
      const owner = this.#owners.get(uid);
      return owner?.waitingKey !== undefined && owner.blocking === 0 ? [owner.waitingKey] : [];
    });
  }

  ownersOf(key: string): readonly OwnerReference[] {
    return this.#dependents.get(key)?.owners ?? [];
  }

  dependentsOf(uid: string): readonly string[] {
    return [...(this.#owners.get(uid)?.dependents.keys() ?? [])];
  }

  isBlocked(uid: string): boolean {
    return (this.#owners.get(uid)?.blocking ?? 0) > 0;
  }

  /** Remembers an owner that waits for its dependents; false when that was known, or nobody depends on it. */
  setWaiting(uid: string, key: string): boolean {
    const owner = this.#owners.get(uid);
    if (owner === undefined || owner.waitingKey === key) return false;
    owner.waitingKey = key;
    return true;
  }

  setGone(uid: string): void {
    const owner = this.#owners.get(uid);
    if (owner === undefined) return;
    owner.isGone = true;
    owner.waitingKey = undefined;
  }

  /** The result of a search for an owner, which is costly and therefore done once. */
  searched(uid: string, prefix: string, search: () => boolean): boolean {
    const owner = this.#owners.get(uid);
    const known = owner?.searched?.get(prefix);
    if (known !== undefined) return known;
    const isFound = search();
    if (owner !== undefined) {
      owner.searched ??= new Map();
      owner.searched.set(prefix, isFound);
    }
    return isFound;
  }

  isGone(uid: string): boolean {
    return this.#owners.get(uid)?.isGone === true;
  }

  #attach(key: string, owners: readonly OwnerReference[]): void {
    for (const { uid, isBlocking } of owners) {
      let owner = this.#owners.get(uid);
      if (owner === undefined) {
        owner = { dependents: new Map(), blocking: 0, isGone: false, waitingKey: undefined, searched: undefined };
        this.#owners.set(uid, owner);
      }
      const wasBlocking = owner.dependents.get(key) === true;
      if (isBlocking && !wasBlocking) owner.blocking++;
      owner.dependents.set(key, isBlocking || wasBlocking);
    }
  }

  #detach(key: string, owners: readonly OwnerReference[]): void {
    for (const { uid } of owners) {
      const owner = this.#owners.get(uid);
      if (owner === undefined) continue;
      if (owner.dependents.get(key) === true) owner.blocking--;
      owner.dependents.delete(key);
      // A waiting owner is kept until it was told that nothing blocks it.
      if (owner.dependents.size === 0 && owner.waitingKey === undefined) this.#owners.delete(uid);
    }
  }

  /** Forgets an owner nobody depends on. */
  forget(uid: string): void {
    if (this.#owners.get(uid)?.dependents.size === 0) this.#owners.delete(uid);
  }
}

const isSame = (a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean =>
  a.length === b.length && a.every((reference, index) => isSameReference(reference, b[index]));

const isSameReference = (a: OwnerReference, b: OwnerReference | undefined): boolean =>
  a.uid === b?.uid &&
  a.isBlocking === b.isBlocking &&
  a.name === b.name &&
  a.kind === b.kind &&
  a.apiVersion === b.apiVersion;
