import type { KubeObject } from '../../api/object.ts';
import { compareVersions } from './resource-version.ts';

/** What this process wrote under a key, and the watch has not shown yet (I20). */
export interface OwnWrite {
  /** What readers see; absent when it was deleted, or does not match the selectors any more. */
  readonly object?: KubeObject;
  /** Objects that this process deleted under this key: no event of theirs brings them back. Empty for other writes. */
  readonly gone: readonly string[];
  readonly uid: string | undefined;
  /** Of the write; for deletions the newest that the objects are known to have had: what is older is hidden. */
  readonly version: string;
  /** A version is known of every object that was deleted, so that a later event or list tells that they are over. */
  readonly isVersionKnown: boolean;
  /** What handlers were told last. */
  readonly delivered: KubeObject | undefined;
  /**
   * What readers saw of the writes under this key and handlers were not told of, the oldest first; kept when it is hidden
   * again. Somebody may have acted on each of them: a list after a broken watch does not have them any more. Bounded by
   * the writes that are made while the watch is behind.
   */
  readonly seen: readonly KubeObject[];
  readonly sinceMs: number;
}

/** What readers saw, up to a version: handlers have to hear of it before they hear what there is at that version. */
export function seenUntil(write: OwnWrite | undefined, version: string): readonly KubeObject[] {
  return write?.seen.filter((state) => compareVersions(versionOf(state), version) <= 0) ?? [];
}

/** What is left to tell after that. */
export const seenSince = ({ seen }: OwnWrite, version: string): readonly KubeObject[] =>
  seen.filter((state) => compareVersions(versionOf(state), version) > 0);

export const versionOf = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? '';

const isDeletion = ({ gone }: OwnWrite): boolean => gone.length > 0;

const isGone = ({ gone }: OwnWrite, { metadata: { uid = '' } }: KubeObject): boolean => gone.includes(uid);

/** What readers see of a key with an own write: the write, or after a deletion what is not the deleted object. */
export function shownWith(write: OwnWrite): KubeObject | undefined {
  const { object, delivered, version } = write;
  if (!isDeletion(write)) return object;
  if (delivered === undefined || isGone(write, delivered)) return undefined;
  return compareVersions(versionOf(delivered), version) > 0 ? delivered : undefined;
}

/** Whether a state from the watch is as new as the write, so that the write needs no care any more. */
export function isConfirmedBy(write: OwnWrite, object: KubeObject): boolean {
  const order = compareVersions(versionOf(object), write.version);
  if (!isDeletion(write)) return order >= 0;
  return write.isVersionKnown && !isGone(write, object) && order > 0;
}

/** What is left of a write when the watch shows a deletion; undefined when that confirms it. */
export function leftAfterDeletion(write: OwnWrite, object: KubeObject): OwnWrite | undefined {
  const gone = write.gone.filter((uid) => uid !== object.metadata.uid);
  if (isDeletion(write) && gone.length === 0) return undefined;
  const isLater = write.isVersionKnown && compareVersions(versionOf(object), write.version) >= 0;
  return isLater && gone.length === write.gone.length
    ? undefined
    : { ...write, gone, delivered: undefined, seen: seenSince(write, versionOf(object)) };
}

/** The same for a list of everything at `version`, in which the key has `item` or nothing. */
export function isConfirmedByList(write: OwnWrite, item: KubeObject | undefined, version: string): boolean {
  // A list from before the object was made says nothing about its deletion.
  const isLater = write.isVersionKnown && compareVersions(version, write.version) >= 0;
  if (isDeletion(write)) return isLater && (item === undefined || !isGone(write, item));
  return isLater || (item !== undefined && isConfirmedBy(write, item));
}

/** What is shown of a key before a write that came in, as far as it decides whether the write is news. */
export interface Shown {
  readonly object: KubeObject | undefined;
  readonly write: OwnWrite | undefined;
  /** Up to here the watch has been seen. */
  readonly seenVersion: string;
}

/** Whether what a write returned is newer than what is shown: answers may arrive later than events and other answers. */
export function isNews(written: KubeObject, { object, write, seenVersion }: Shown): boolean {
  const version = versionOf(written);
  if (write !== undefined && isGone(write, written)) return false;
  if (write !== undefined && compareVersions(version, write.version) <= 0) return false;
  if (object !== undefined) return compareVersions(version, versionOf(object)) > 0;
  // Not shown, and the watch is past it: it was there and is deleted.
  return compareVersions(version, seenVersion) > 0;
}

export interface Deletion {
  readonly shown: KubeObject | undefined;
  readonly write: OwnWrite | undefined;
  readonly nowMs: number;
}

/**
 * What is kept of a deletion; undefined when there is nothing to hide, or an own write came after it. A server says which
 * object it deleted, but not always at which version: that is known only when this object is the one that is shown.
 */
export function tombstoneOf(
  last: { readonly uid?: string | undefined; readonly version?: string },
  { shown, write, nowMs }: Deletion,
): OwnWrite | undefined {
  const uid = last.uid ?? shown?.metadata.uid;
  if (uid === undefined || write?.gone.includes(uid) === true) return undefined;
  const version = newest(last.version ?? '', shown?.metadata.uid === uid ? versionOf(shown) : '');
  const fresh = {
    gone: [uid],
    uid,
    version,
    isVersionKnown: version !== '',
    delivered: shown,
    seen: [],
    sinceMs: nowMs,
  };
  return write === undefined ? fresh : afterWrite(fresh, write, last.version);
}

/** A deletion where there is an own write, or another deletion, that the watch has not shown either. */
function afterWrite(deletion: OwnWrite, write: OwnWrite, version: string | undefined): OwnWrite | undefined {
  if (!isDeletion(write) && isLaterWrite(write, deletion.uid, version)) return undefined;
  return {
    ...deletion,
    gone: [...write.gone, ...deletion.gone],
    version: newest(deletion.version, write.version),
    isVersionKnown: deletion.isVersionKnown && write.isVersionKnown,
    delivered: write.delivered,
    seen: write.seen,
  };
}

/** Of another object, which was made after the deleted one. Unknown: what is answered last happened last. */
const isLaterWrite = (write: OwnWrite, uid: string | undefined, version = ''): boolean =>
  write.uid !== uid && version !== '' && compareVersions(version, write.version) <= 0;

const newest = (a: string, b: string): string => (compareVersions(a, b) < 0 ? b : a);

/** The write that stays when the server was asked and the watch is still behind. */
export function lookedUp(write: OwnWrite, found: KubeObject | undefined, nowMs: number): OwnWrite {
  const { object: _, ...rest } = write;
  if (found === undefined) {
    const { gone, uid } = write;
    return { ...rest, gone: gone.length > 0 || uid === undefined ? gone : [uid], sinceMs: nowMs };
  }
  const { uid } = found.metadata;
  return {
    ...rest,
    object: found,
    seen: [...write.seen, found],
    gone: [],
    uid,
    version: versionOf(found),
    isVersionKnown: true,
    sinceMs: nowMs,
  };
}
