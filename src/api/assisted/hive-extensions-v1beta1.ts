import type { ProxySettings } from '../agent/bootstrap-v1alpha2.ts';
import type { DiskEncryption } from '../agent/controlplane-v1alpha3.ts';
import type { Kind, KubeObject } from '../object.ts';
import type { AssistedCondition } from './agent-install-v1beta1.ts';

/** The part of `extensions.hive.openshift.io/v1beta1` that we read and write; what a type does not name is kept. */

const HIVE_EXTENSIONS_GROUP = 'extensions.hive.openshift.io';
/** JSON that assisted-service merges into the install-config. */
export const INSTALL_CONFIG_OVERRIDES = 'agent-install.openshift.io/install-config-overrides';

/** What `hive.openshift.io/v1` ClusterDeployments get, too. */
export interface ClusterMetadata {
  readonly clusterID?: string;
  readonly infraID?: string;
  readonly adminKubeconfigSecretRef?: { readonly name?: string };
  readonly adminPasswordSecretRef?: { readonly name?: string };
}

export interface AgentClusterInstallNetworking {
  readonly clusterNetwork?: readonly { readonly cidr: string; readonly hostPrefix?: number }[];
  readonly serviceNetwork?: readonly string[];
  readonly machineNetwork?: readonly { readonly cidr: string }[];
  readonly networkType?: string;
  readonly userManagedNetworking?: boolean;
}

export interface AgentClusterInstall extends KubeObject {
  readonly spec?: {
    readonly clusterDeploymentRef?: { readonly name?: string };
    readonly imageSetRef?: { readonly name: string };
    readonly provisionRequirements?: {
      readonly controlPlaneAgents?: number;
      readonly workerAgents?: number;
      readonly arbiterAgents?: number;
    };
    readonly platformType?: '' | 'BareMetal' | 'None' | 'VSphere' | 'Nutanix' | 'External';
    readonly external?: { readonly platformName?: string; readonly cloudControllerManager?: '' | 'External' };
    readonly apiVIPs?: readonly string[];
    readonly ingressVIPs?: readonly string[];
    readonly diskEncryption?: DiskEncryption;
    readonly mastersSchedulable?: boolean;
    readonly proxy?: ProxySettings;
    readonly sshPublicKey?: string;
    readonly networking?: AgentClusterInstallNetworking;
    readonly manifestsConfigMapRefs?: readonly { readonly name: string }[];
    readonly clusterMetadata?: ClusterMetadata;
    readonly holdInstallation?: boolean;
    readonly ignitionEndpoint?: Readonly<Record<string, unknown>>;
  };
  readonly status?: {
    readonly conditions?: readonly AssistedCondition[];
    readonly debugInfo?: {
      readonly state?: string;
      readonly stateInfo?: string;
      readonly eventsURL?: string;
      readonly logsURL?: string;
    };
    readonly progress?: { readonly totalPercentage?: number };
    readonly platformType?: string;
    readonly userManagedNetworking?: boolean;
  };
}

export const AgentClusterInstall: Kind<AgentClusterInstall> = {
  group: HIVE_EXTENSIONS_GROUP,
  version: 'v1beta1',
  kind: 'AgentClusterInstall',
  plural: 'agentclusterinstalls',
  scope: 'Namespaced',
};
