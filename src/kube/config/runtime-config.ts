import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { KindCacheOptions } from '../cache/cache.ts';
import type { ListenerTls } from '../serving/https-listener.ts';
import type { Transport } from '../transport/transport.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { ExplicitAccess } from './explicit-access.ts';

export interface LeaderElectionConfig {
  /** Name of the Lease. */
  readonly id: string;
  /** Unless told otherwise, that of the pod. */
  readonly namespace?: string;
  readonly leaseMs?: number;
  readonly renewMs?: number;
  readonly retryMs?: number;
  /** Give the Lease back at the end, so that the next one need not wait. */
  readonly release?: boolean;
}

export interface WebhookConfig {
  readonly port?: number;
  readonly host?: string;
  readonly certDir?: string;
  /** PEM of the authority whose clients alone may call. */
  readonly clientCA?: string;
  readonly selfSigned?: { readonly secretName: string; readonly service: string };
}

/** Everything a program with controllers can be told (1.1). What is absent has a default that suits a pod. */
export interface RuntimeConfig {
  /** Absent: found as `loadKubeconfig` does. A transport is a server in this process. */
  readonly kube?: ClusterAccess | ExplicitAccess | Transport;
  /** Unless told otherwise, the name of the program. */
  readonly fieldManager?: string;
  /** Absent: all. */
  readonly namespaces?: readonly string[];
  readonly leaderElection?: false | LeaderElectionConfig;
  /** `host:port`, `:port`, or `0` for none. */
  readonly health?: { readonly bind: string };
  readonly metrics?: {
    readonly bind: string;
    readonly secure?: boolean;
    readonly auth?: boolean;
    readonly certDir?: string;
    /** What the policy of the cluster asks for. */
    readonly tls?: Pick<ListenerTls, 'minVersion' | 'ciphers'>;
  };
  readonly webhook?: WebhookConfig;
  /** For the whole stop; 0 does not wait, -1 waits for ever. */
  readonly gracefulShutdownMs?: number;
  readonly cache?: {
    readonly resyncMs?: number;
    readonly keepManagedFields?: boolean;
    /** By resource: `pods`, `deployments.apps`. */
    readonly byKind?: Readonly<Record<string, KindCacheOptions>>;
    readonly consistency?: 'own-writes' | 'eventual';
  };
  readonly controllers?: {
    readonly maxConcurrent?: number;
    /** By `Kind.group`: `Deployment.apps`. */
    readonly byGroupKind?: Readonly<Record<string, number>>;
    readonly cacheSyncTimeoutMs?: number;
  };
  readonly log?: Log;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}
