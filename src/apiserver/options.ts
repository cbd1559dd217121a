import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { JsonObject } from '../object/json.ts';
import type { CertificateAuthority } from '../pki/certificate-authority.ts';
import type { Kubeconfig } from '../pki/kubeconfig.ts';
import type { Notices } from './admission/notices.ts';
import type { StaticToken } from './auth/static-tokens.ts';
import type { Transport } from './http/in-process.ts';
import type { UserInfo } from './request.ts';
import type { RequestInfo } from './routing/request-info.ts';
import type { ServedRequest } from './routing/serve.ts';
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
    /** Whether namespaces get their account and the authority (G4). */
    readonly accounts?: boolean;
    /** How long a namespace that is being deleted keeps its content (G1); upstream's is 5 s, ours 0. */
    readonly namespaceDelayMs?: number;
  };
  readonly clock?: Clock;
  /** For waits within a request, where `clock` stands still until requests are answered (lab T3); `clock` unless given. */
  readonly real?: Clock;
  readonly log?: Log;
  /** Definitions to create at start; already there: left alone. */
  readonly crds?: readonly JsonObject[];
  /** Where a webhook's `service` reference leads (X37). */
  readonly resolveService?: ServiceResolver;
  /** The way to the nodes; without it logs are empty (lab E1). */
  readonly nodes?: NodeConnector;
  readonly serviceRange?: string;
  /**
   * Where clients inside the cluster find the server: endpoints of the service `default/kubernetes` say so (lab E4). The
   * port that it listens on unless told otherwise. No loopback address: the API refuses those.
   */
  readonly advertise?: { readonly host: string; readonly port?: number };
  /** From when to when certificates are valid, where the clock is not that of the clients (lab T8). */
  readonly certificates?: { readonly from: Date; readonly until: Date };
  /** Called for each request that comes over the network, disposed when it is answered; watches end no hold (lab T3). */
  readonly hold?: (reason: string) => Disposable;
  /** Told of every answered request: who asked for what. Must not throw. */
  readonly audit?: (served: ServedRequest) => void;
  /** Why a request that comes over the network is answered 403, though its user has the right (lab T10). Must not throw. */
  readonly refuse?: (info: RequestInfo) => string | undefined;
  /** The release that `/version` tells; this one unless given. */
  readonly release?: string;
  /** Warnings to whoever creates objects of a kind, by `group/plural`. */
  readonly notices?: Notices;
  /** The program the server is part of, such as `slipway up`: told to a second one that wants the same data directory. */
  readonly program?: string;
}

export interface ApiServer extends AsyncDisposable {
  /** `https://127.0.0.1:6443`; empty when it does not listen. */
  readonly url: string;
  /** How many resources are served. */
  readonly kinds: number;
  readonly store: Store;
  /** Signs what this server believes: users, and certificates of nodes. */
  readonly authority: CertificateAuthority;
  /** A kubeconfig for a user with groups; without arguments, of the administrator. */
  kubeconfig(name?: string, groups?: readonly string[]): Promise<Kubeconfig>;
  /** Requests in this process, made by a user; `extra` is what its credentials would tell besides. */
  client(name?: string, groups?: readonly string[], extra?: UserInfo['extra']): Transport;
  /** Ends watches, finishes what is being served, closes the store. */
  stop(): Promise<void>;
}
