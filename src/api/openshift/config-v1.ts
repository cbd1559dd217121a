import type { Kind, KubeObject } from '../object.ts';

/** The part of `config.openshift.io/v1` that we read and write; what a type does not name is kept (DESIGN §5). */

export type PlatformType =
  | ''
  | 'AWS'
  | 'Azure'
  | 'BareMetal'
  | 'GCP'
  | 'Libvirt'
  | 'OpenStack'
  | 'None'
  | 'VSphere'
  | 'oVirt'
  | 'IBMCloud'
  | 'KubeVirt'
  | 'EquinixMetal'
  | 'PowerVS'
  | 'AlibabaCloud'
  | 'Nutanix'
  | 'External';

export interface VSphereNodeNetwork {
  readonly network?: string;
  readonly networkSubnetCidr?: readonly string[];
  readonly excludeNetworkSubnetCidr?: readonly string[];
}

export interface VSpherePlatformSpec {
  readonly vcenters?: readonly {
    readonly server: string;
    readonly port?: number;
    readonly datacenters?: readonly string[];
  }[];
  readonly failureDomains?: readonly {
    readonly name: string;
    readonly region?: string;
    readonly zone?: string;
    readonly server: string;
    readonly topology?: { readonly datacenter?: string };
  }[];
  readonly nodeNetworking?: { readonly external?: VSphereNodeNetwork; readonly internal?: VSphereNodeNetwork };
}

export interface PlatformSpec {
  readonly type?: PlatformType;
  readonly external?: { readonly platformName?: string };
  readonly vsphere?: VSpherePlatformSpec;
}

export interface PlatformStatus {
  readonly type?: PlatformType;
  readonly azure?: { readonly cloudName?: string };
  readonly external?: { readonly cloudControllerManager?: { readonly state?: '' | 'External' | 'None' } };
  readonly vsphere?: {
    readonly apiServerInternalIPs?: readonly string[];
    readonly ingressIPs?: readonly string[];
  };
}

export type ControlPlaneTopology =
  | 'HighlyAvailable'
  | 'HighlyAvailableArbiter'
  | 'SingleReplica'
  | 'DualReplica'
  | 'External';

export interface Infrastructure extends KubeObject {
  readonly spec?: {
    /** A ConfigMap in `openshift-config`. */
    readonly cloudConfig?: { readonly name?: string; readonly key?: string };
    readonly platformSpec?: PlatformSpec;
  };
  readonly status?: {
    readonly infrastructureName?: string;
    readonly platformStatus?: PlatformStatus;
    readonly controlPlaneTopology?: ControlPlaneTopology;
    readonly infrastructureTopology?: ControlPlaneTopology;
    readonly apiServerURL?: string;
    readonly apiServerInternalURI?: string;
  };
}

/** `observedGeneration` is none of its fields, and neither reason nor message is required. */
export interface ClusterOperatorCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastTransitionTime: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface RelatedObject {
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface ClusterOperator extends KubeObject {
  readonly spec?: Readonly<Record<never, never>>;
  readonly status?: {
    readonly conditions?: readonly ClusterOperatorCondition[];
    readonly versions?: readonly { readonly name: string; readonly version: string }[];
    readonly relatedObjects?: readonly RelatedObject[];
  };
}

/** A release, by version, by image, or by both; `force` takes one that nobody vouches for. */
export interface DesiredUpdate {
  readonly version?: string;
  readonly image?: string;
  readonly architecture?: string;
  readonly force?: boolean;
}

export interface ClusterVersionHistoryEntry {
  readonly state?: string;
  readonly startedTime?: string;
  /** Null while it goes on. */
  readonly completionTime?: string | null;
  readonly version?: string;
  readonly image?: string;
  readonly verified?: boolean;
}

export interface ClusterVersion extends KubeObject {
  readonly spec?: {
    readonly clusterID?: string;
    readonly channel?: string;
    readonly desiredUpdate?: DesiredUpdate | null;
  };
  readonly status?: {
    readonly desired?: { readonly version?: string; readonly image?: string };
    /** The newest first. */
    readonly history?: readonly ClusterVersionHistoryEntry[];
    readonly observedGeneration?: number;
    readonly versionHash?: string;
    readonly conditions?: readonly ClusterOperatorCondition[];
    readonly availableUpdates?: readonly { readonly version?: string; readonly image?: string }[] | null;
  };
}

export interface FeatureGate extends KubeObject {
  readonly spec?: { readonly featureSet?: string };
  readonly status?: {
    readonly featureGates?: readonly {
      readonly version: string;
      readonly enabled?: readonly { readonly name: string }[];
      readonly disabled?: readonly { readonly name: string }[];
    }[];
  };
}

export interface Proxy extends KubeObject {
  readonly spec?: { readonly trustedCA?: { readonly name?: string } };
  readonly status?: { readonly httpProxy?: string; readonly httpsProxy?: string; readonly noProxy?: string };
}

export interface Network extends KubeObject {
  readonly spec?: { readonly serviceNetwork?: readonly string[] };
}

export interface TlsProfileSpec {
  readonly ciphers?: readonly string[];
  readonly minTLSVersion?: string;
}

export interface TlsSecurityProfile {
  readonly type?: string;
  readonly custom?: TlsProfileSpec | null;
}

export interface ApiServerConfig extends KubeObject {
  readonly spec?: { readonly tlsAdherence?: string; readonly tlsSecurityProfile?: TlsSecurityProfile | null };
}

const clusterKind = <T extends KubeObject>(kind: string, plural: string): Kind<T> => ({
  group: 'config.openshift.io',
  version: 'v1',
  kind,
  plural,
  scope: 'Cluster',
});

export const Infrastructure = clusterKind<Infrastructure>('Infrastructure', 'infrastructures');
export const ClusterOperator = clusterKind<ClusterOperator>('ClusterOperator', 'clusteroperators');
export const ClusterVersion = clusterKind<ClusterVersion>('ClusterVersion', 'clusterversions');
export const FeatureGate = clusterKind<FeatureGate>('FeatureGate', 'featuregates');
export const Proxy = clusterKind<Proxy>('Proxy', 'proxies');
export const Network = clusterKind<Network>('Network', 'networks');
export const ApiServerConfig = clusterKind<ApiServerConfig>('APIServer', 'apiservers');

/** There is one of each of these kinds, and this is its name. */
export const SINGLETON = { name: 'cluster' } as const;
