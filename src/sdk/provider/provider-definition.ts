import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Call } from '../capabilities/call.ts';
import type { Capabilities } from '../capabilities/capabilities.ts';
import { hasBrand, PROVIDER_DEFINITION } from './brand.ts';

/** What a provider is told when a program connects it; nothing else of the surroundings is for it. */
export interface ConnectContext {
  /** Text of the file of `--cloud-config`; undefined without that flag, never an empty text instead (ccm/P7). */
  readonly config: string | undefined;
  /** A variable that the definition lists in `secrets`; undefined when it is not set. */
  secret(name: string): string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the program stops. */
  readonly signal: AbortSignal;
}

/** A connected cloud. */
export interface ConnectedClient<Client> {
  /** Comes with every call of a capability. */
  readonly client: Client;
  /** What the things of this cluster are tagged with; undefined: the program refuses to start (ccm/P8). */
  readonly clusterId: string | undefined;
  /** Ends what `connect` has started. */
  close?(): Promise<void>;
}

/** How the provider IDs of machines look. */
export interface ProviderIdFormat {
  /** What comes before `://`; the name of the provider by custom. Must never change for a live cluster. */
  readonly scheme: string;
  /** What comes after it, from `{zone}` and `{id}`: `{zone}/{id}`. */
  readonly format: string;
  /** What every provider ID matches, from `^<scheme>://` to `$`. */
  readonly pattern: RegExp;
  /** One that is right, for documents and tests. */
  readonly example?: string;
}

/** How things of a cluster are tagged, and what the cloud allows. */
export interface TagRules {
  /** Key of the tag that all things of a cluster carry: `kubernetes.io/cluster/<id>` unless told otherwise. */
  readonly clusterKey?: (clusterId: string) => string;
  readonly maxKey?: number;
  readonly maxValue?: number;
  readonly allowed?: RegExp;
}

/** A controller of the cloud controller manager, as `--controllers` knows it. */
export type ControllerAlias = 'cloud-node' | 'cloud-node-lifecycle' | 'service' | 'route';

/** What the cloud controller manager does in this cloud. */
export interface CloudControllerFacts {
  /** Platform External with a cloud controller manager: nodes wait for it. Decided at install time, for ever. */
  readonly external: boolean;
  /** Which controllers run; those that the capabilities allow unless told otherwise. */
  readonly controllers?: readonly ControllerAlias[];
}

/** What a partner writes down about a cloud; everything else follows from it. */
export interface ProviderInput<Client> {
  /** Lower case, a DNS label: names of objects, folders and images are made of it. */
  readonly name: string;
  /** For people. */
  readonly displayName: string;
  /** `platform.external.platformName` of the install configuration; the name unless told otherwise. */
  readonly platformName?: string;
  readonly architectures: readonly ('amd64' | 'arm64' | 'ppc64le' | 's390x')[];
  readonly providerID: ProviderIdFormat;
  readonly tags?: TagRules;
  readonly coreos?: {
    readonly streamArtifact: string;
    readonly format: string;
    readonly platformId: string;
    readonly userDataLimitBytes?: number;
  };
  readonly ingress?: { readonly strategy: 'HostNetwork' | 'LoadBalancerService' | 'NodePortService' };
  readonly storage?: {
    readonly defaultClass: { readonly name: string; readonly parameters?: Readonly<Record<string, string>> };
  };
  readonly ccm?: CloudControllerFacts;
  /** Names of variables with credentials; `connect` reads them, and a Secret of a deployment provides them. */
  readonly secrets?: readonly string[];
  /** Opens the way to the cloud. Must not fail because the cloud is down: calls do that. */
  connect(context: ConnectContext): ConnectedClient<Client> | Promise<ConnectedClient<Client>>;
  readonly capabilities: Capabilities<Call<Client>>;
}

/** What `defineProvider` fills in. */
interface Filled {
  readonly platformName: string;
  readonly tags: TagRules & Required<Pick<TagRules, 'clusterKey'>>;
  readonly ccm: Required<CloudControllerFacts>;
  readonly secrets: readonly string[];
}

/** A definition that has been checked, frozen through and through. Made by `defineProvider` only. */
export type ProviderDefinition<Client = unknown> = Readonly<Omit<ProviderInput<Client>, keyof Filled>> &
  Filled & { readonly [PROVIDER_DEFINITION]: true };

/** Whether `defineProvider` made it; also that of another copy of this package. */
export const isProviderDefinition = (value: unknown): value is ProviderDefinition =>
  hasBrand(value, PROVIDER_DEFINITION);
