import { apiVersionOf, type Kind, type KubeObject, type ObjectKey, resourceOf } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { retryError, terminalError } from '../../base/errors.ts';
import type { Cache, Informer } from '../cache/cache.ts';
import { withDeadline } from '../deadline.ts';
import { ApiError } from './api-error.ts';
import type { CallOptions, GetOptions, ListOptions, LiveReader, Reader } from './kube-client.ts';
import { undefinedWhenMissing } from './live-reader.ts';
import { objectPath } from './resource-path.ts';

const SYNC_TIMEOUT_MS = 30_000;

export interface CachedReading {
  readonly live: LiveReader;
  readonly cache: Cache;
  readonly clock: Clock;
  /** What a read of a kind does that the cache does not cover: ask the server, or fail with NotCached (A1). */
  readonly uncached: 'live' | 'fail';
}

/**
 * Reads from the cache where it covers the kind, else from the server. What only a server can do goes to the server
 * too: a given version, pages. A read before the informer has synced waits for it: an object that has not been read
 * yet must not look like one that is gone (P32).
 */
export function cachedReader(reading: CachedReading): Reader {
  const { live } = reading;
  const reader: Reader = {
    get: async (kind, key, options = {}) => {
      const informer = isLiveGet(options) ? undefined : await informerOf(reading, kind, options);
      if (informer === undefined) return live.get(kind, key, options);
      const object = informer.get(keyFor(kind, key));
      if (object !== undefined) return object;
      throw missing(kind, key);
    },
    find: (kind, key, options) => undefinedWhenMissing(reader.get(kind, key, options)),
    list: async (kind, options = {}) => {
      const informer = isLiveList(options) ? undefined : await informerOf(reading, kind, options);
      if (informer === undefined) return live.list(kind, options);
      const { namespace, labels, fields } = options;
      return {
        apiVersion: apiVersionOf(kind),
        kind: `${kind.kind}List`,
        metadata: { resourceVersion: informer.resourceVersion },
        items: informer.list({
          ...(namespace !== undefined && { namespace }),
          ...(labels !== undefined && { labels }),
          ...(fields !== undefined && { fields }),
        }),
      };
    },
  };
  return reader;
}

const isLiveGet = ({ resourceVersion }: GetOptions): boolean => resourceVersion !== undefined;

const isLiveList = ({ limit, continue: token, resourceVersion, resourceVersionMatch }: ListOptions): boolean =>
  [limit, token, resourceVersion, resourceVersionMatch].some((option) => option !== undefined);

/** The informer to read from, synced; undefined when the server is to be asked. */
async function informerOf<T extends KubeObject, I>(
  { cache, clock, uncached }: CachedReading,
  kind: Kind<T, I>,
  options: CallOptions,
): Promise<Informer<T> | undefined> {
  if (!cache.covers(kind)) {
    if (uncached === 'live') return undefined;
    const message = `reads of ${resourceOf(kind)} are not cached; use client.live, or let the cache cover them`;
    throw terminalError('NotCached', message);
  }
  const informer = cache.informer(kind);
  if (!informer.isSynced) await synced(informer, clock, options);
  return informer;
}

async function synced<T extends KubeObject>(
  informer: Informer<T>,
  clock: Clock,
  { signal, timeoutMs = SYNC_TIMEOUT_MS }: CallOptions,
): Promise<void> {
  signal?.throwIfAborted();
  using subscription = informer.subscribe(() => {});
  const onTimeout = () => {
    const { resource, problem } = informer.health;
    const why = problem === undefined ? '' : `: ${problem}`;
    return retryError('CacheNotSynced', `the cache of ${resource} is not filled after ${timeoutMs} ms${why}`);
  };
  const deadline = { clock, timeoutMs, onTimeout, ...(signal !== undefined && { signal }) };
  await withDeadline(deadline, () => subscription.synced);
}

const keyFor = ({ scope }: Kind, { namespace, name }: ObjectKey): ObjectKey =>
  scope === 'Cluster' || namespace === undefined ? { name } : { namespace, name };

/** The same error as the server's. */
function missing(kind: Kind, key: ObjectKey): ApiError {
  const { group, plural } = kind;
  return new ApiError({
    code: 404,
    reason: 'NotFound',
    message: `${resourceOf(kind)} "${key.name}" not found`,
    details: { name: key.name, kind: plural, ...(group !== '' && { group }) },
    method: 'GET',
    path: objectPath(kind, key),
  });
}
