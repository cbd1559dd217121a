import type { Kind, KubeObject } from '../../../api/object.ts';
import type { Cache, CacheListOptions } from '../../../kube/cache/cache.ts';

/**
 * The objects of a kind, as far as they are known, for finding out whom an event concerns. None before the first list
 * was read: it tells of each of them, and nobody works before.
 */
export function knownObjects<T extends KubeObject, I>(
  cache: Cache,
  kind: Kind<T, I>,
  options: CacheListOptions = {},
): readonly T[] {
  const informer = cache.informer(kind);
  return informer.isSynced ? informer.list(options) : [];
}
