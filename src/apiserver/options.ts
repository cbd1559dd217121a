import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { JsonObject } from '../object/json.ts';
import type { Kubeconfig } from '../pki/kubeconfig.ts';
import type { StaticToken } from './auth/static-tokens.ts';
import type { Transport } from './http/in-process.ts';
import type { Store } from './store/store.ts';
import type { NodeConnector } from './subresources/pod-log.ts';
import type { ServiceResolver } from './webhooks/webhook-client.ts';

export interface ApiServerOptions {
  /** Where objects and keys are kept; needed for `sqlite`. */
  readonly dataDir?: string;
  /** Default: `sqlite` with a data directory, else `memory`. */
  readonly storage?: 'memory' | 'sqlite';
  /** `full`: an answered write survives a power cut; `normal`: it survives the end of the process. */
  readonly durability?: 'full' | 'normal';
  /** Where to listen; false: only in this process. */
  readonly listen?:
    | { readonly host?: string; readonly port?: number; readonly hostNames?: readonly string[] }
    | false;
  readonly auth?: {
    readonly mode?: 'RBAC' | 'AlwaysAllow';
    readonly tokens?: readonly StaticToken[];
  };
  /** Which controllers run (G11); all by default. */
  readonly controllers?: {
    readonly gc?: boolean;
    readonly namespace?: boolean;
    readonly crd?: boolean;
    /** How long a namespace that is being deleted keeps its content (G1); upstream's is 5 s, ours 0. */
    readonly namespaceDelayMs?: number;
  };
  readonly clock?: Clock;
  readonly log?: Log;
  /** Definitions to create at start; already there: left alone. */
  readonly crds?: readonly JsonObject[];
  /** Where a webhook's `service` reference leads (X37). */
  readonly resolveService?: ServiceResolver;
  /** The way to the nodes; without it logs are empty (lab E1). */
  readonly nodes?: NodeConnector;
  readonly serviceRange?: string;
  /** This release, for `/version`. */
  readonly release?: string;
  /** The program the server is part of, such as `slipway up`: told to a second one that wants the same data directory. */
  readonly program?: string;
}

export interface ApiServer extends AsyncDisposable {
  /** `https://127.0.0.1:6443`; empty when it does not listen. */
  readonly url: string;
  /** How many resources are served. */
  readonly kinds: number;
  readonly store: Store;
  /** A kubeconfig for a user with groups; without arguments, of the administrator. */
  kubeconfig(name?: string, groups?: readonly string[]): Promise<Kubeconfig>;
  /** Requests in this process, made by a user. */
  client(name?: string, groups?: readonly string[]): Transport;
  /** Ends watches, finishes what is being served, closes the store. */
  stop(): Promise<void>;
}
