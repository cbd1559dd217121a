import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { aborted } from '../aborted.ts';
import type { Cache } from '../cache/cache.ts';
import { type CacheOptions, createCache } from '../cache/create-cache.ts';
import { createClient } from '../client/create-client.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { type Fence, UNFENCED } from '../election/fence.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { fenced } from '../transport/fenced.ts';
import { retrying } from '../transport/retrying.ts';
import type { Transport } from '../transport/transport.ts';
import { waitForCaches } from './cache-sync.ts';
import type { Runnable } from './runnable.ts';

export interface ClusterOptions {
  /** For logs. */
  readonly name: string;
  readonly transport: Transport;
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly host?: string;
  readonly userAgent?: string;
  /** Whether writes are allowed now; without it they always are. */
  readonly fence?: () => Fence;
  readonly cache?: CacheOptions;
  /** A cache that somebody else runs, instead of one of its own. */
  readonly sharedCache?: Cache;
  /** 2 min unless told otherwise. */
  readonly cacheSyncTimeoutMs?: number;
}

/** A client and a cache of one API server; added to a manager, the cache runs with it (M9). */
export interface Cluster extends Runnable {
  /** Reads from the cache; writes only while the fence is valid. */
  readonly client: KubeClient;
  /** Without cache and fence: for what every replica does. */
  readonly unfencedClient: KubeClient;
  readonly cache: Cache;
}

export const CACHE_SYNC_TIMEOUT_MS = 120_000;

/** Nothing is sent before it runs or somebody asks the clients. */
export function createCluster(options: ClusterOptions): Cluster {
  const { name, transport, fieldManager, clock, log, metrics, fence = () => UNFENCED } = options;
  const { userAgent, host = '', cacheSyncTimeoutMs = CACHE_SYNC_TIMEOUT_MS } = options;
  const patient = (way: Transport) => retrying(way, { clock, metrics, host });
  const shared = { fieldManager, clock, log, ...(userAgent !== undefined && { userAgent }) };
  const unfencedClient = createClient({ ...shared, transport: patient(transport) });
  const { sharedCache } = options;
  const cache =
    sharedCache ?? createCache({ live: unfencedClient.live, clock, log, metrics, options: options.cache ?? {} });
  return {
    name: `cache of ${name}`,
    group: 'cache',
    cache,
    unfencedClient,
    // The fence is below the retries: each repetition is checked.
    client: createClient({ ...shared, transport: patient(fenced(transport, fence)), cache }),
    run: (signal) => (sharedCache === undefined ? cache.run(signal) : aborted(signal)),
    ready: (signal) => waitForCaches({ cache, clock, log, timeoutMs: cacheSyncTimeoutMs, signal }),
  };
}
