import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Cache } from '../cache/cache.ts';
import type { Transport } from '../transport/transport.ts';
import { ApplyMemory } from './apply-memory.ts';
import { cachedReader } from './cached-reader.ts';
import { Exchange } from './exchange.ts';
import type { KubeClient, WriteObserver } from './kube-client.ts';
import { liveReader } from './live-reader.ts';
import { specialVerbs } from './special-verbs.ts';
import { safeObserver } from './write-observation.ts';
import { writer } from './writer.ts';

export interface ClientOptions {
  readonly transport: Transport;
  /** `<binary>/<controller>` (§10.2). */
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly userAgent?: string;
  /** Where reads come from, as far as it covers their kinds; without it every read asks the server. */
  readonly cache?: Cache;
  /** Told of every successful write; the cache is told without being named here. */
  readonly observer?: WriteObserver;
  /** Reads of kinds that the cache does not cover: ask the server (default), or fail with NotCached (A1). */
  readonly uncached?: 'live' | 'fail';
}

/**
 * A client over a transport. It holds nothing open and has no end of its own: retries, deadlines and fencing are the
 * transport's, and every failure is an ApiError or a NetworkError.
 */
export function createClient(options: ClientOptions): KubeClient {
  return clientWith(
    options,
    options.cache === undefined ? undefined : new ApplyMemory(options.cache, options.clock),
  );
}

/** The memory is shared by the same client under its other names. */
function clientWith(options: ClientOptions, memory: ApplyMemory | undefined): KubeClient {
  const { transport, fieldManager, clock, log, cache, uncached = 'live', userAgent = 'slipway' } = options;
  const exchange = new Exchange({ transport, clock, userAgent });
  const live = liveReader(exchange, clock);
  const reader = cache === undefined ? live : cachedReader({ live, cache, clock, uncached });
  const observer = safeObserver(observerOf(options), log);
  const writing = { exchange, live, observer, fieldManager, ...(memory !== undefined && { memory }) };
  return {
    fieldManager,
    live,
    get: (kind, key, options) => reader.get(kind, key, options),
    find: (kind, key, options) => reader.find(kind, key, options),
    list: (kind, options) => reader.list(kind, options),
    ...writer(writing),
    ...specialVerbs(writing),
    as: (other) => clientWith({ ...options, fieldManager: other }, memory),
  };
}

function observerOf({ cache, observer }: ClientOptions): WriteObserver | undefined {
  if (cache === undefined || observer === undefined || cache === observer) return cache ?? observer;
  return {
    wrote: (kind, object) => {
      cache.wrote(kind, object);
      observer.wrote(kind, object);
    },
    deleted: (kind, key, object, uid) => {
      cache.deleted(kind, key, object, uid);
      observer.deleted(kind, key, object, uid);
    },
  };
}
