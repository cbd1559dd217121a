import type { ContractReference, MachineDeletion, TemplateMeta } from '../cluster-api/core-v1beta2.ts';
import type { Condition, Kind, KubeObject } from '../object.ts';
import type { LocalReference, OpenshiftAssistedConfigSpec, ProxySettings } from './bootstrap-v1alpha2.ts';

/** `controlplane.cluster.x-k8s.io/v1alpha3`, the stored version: a control plane that the assisted installer makes. */

export const CONTROL_PLANE_GROUP = 'controlplane.cluster.x-k8s.io';
export const CONTROL_PLANE_FINALIZER = 'openshiftassistedcontrolplane.controlplane.cluster.x-k8s.io/deprovision';
/** JSON for the install-config. */
export const INSTALL_CONFIG_OVERRIDE = 'controlplane.cluster.x-k8s.io/install-config-override';
/** Repository of release images instead of the public one. */
export const RELEASE_REPOSITORY_OVERRIDE = 'cluster.x-k8s.io/release-image-repository-override';
/** `External`: the cluster waits for the cloud controller manager of a cloud that OpenShift does not know. */
export const PLATFORM = 'controlplane.cluster.x-k8s.io/platform';
export const PLATFORM_NAME = 'controlplane.cluster.x-k8s.io/platform-name';
export const PLATFORM_CLOUD_CONTROLLER_MANAGER = 'controlplane.cluster.x-k8s.io/cloud-controller-manager';

export interface DiskEncryption {
  readonly enableOn?: string;
  readonly mode?: 'tpmv2' | 'tang';
  readonly tangServers?: string;
}

export interface Capabilities {
  readonly baselineCapability?: string;
  readonly additionalEnabledCapabilities?: readonly string[];
}

/** What both versions have below `spec.config`. */
export interface ControlPlaneConfig {
  readonly apiVIPs?: readonly string[];
  readonly ingressVIPs?: readonly string[];
  readonly manifestsConfigMapRefs?: readonly { readonly name: string }[];
  readonly diskEncryption?: DiskEncryption;
  readonly proxy?: ProxySettings;
  readonly mastersSchedulable?: boolean;
  readonly sshAuthorizedKey?: string;
  readonly clusterName?: string;
  readonly baseDomain: string;
  readonly pullSecretRef?: LocalReference;
  readonly imageRegistryRef?: LocalReference;
  readonly capabilities?: Capabilities;
}

export interface ControlPlaneMachineTemplate {
  readonly metadata?: TemplateMeta;
  /** Missing in what a ClusterClass made: that has it below `spec`. */
  readonly infrastructureRef?: ContractReference;
  readonly deletion?: MachineDeletion;
  /** Where the contract of Cluster API has it: others read it there, and the fields above win (agent X6). */
  readonly spec?: { readonly infrastructureRef?: ContractReference; readonly deletion?: MachineDeletion };
}

export interface OpenshiftAssistedControlPlane extends KubeObject {
  readonly spec: {
    readonly distributionVersion: string;
    /** Of Kubernetes, as the topology of a Cluster has it; `distributionVersion` is what is installed. */
    readonly version?: string;
    readonly replicas?: number;
    readonly config?: ControlPlaneConfig;
    readonly machineTemplate: ControlPlaneMachineTemplate;
    readonly openshiftAssistedConfigSpec?: OpenshiftAssistedConfigSpec;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly initialization?: { readonly controlPlaneInitialized?: boolean };
    readonly selector?: string;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly upToDateReplicas?: number;
    readonly version?: string;
    readonly distributionVersion?: string;
    readonly observedGeneration?: number;
  };
}

/** What a ClusterClass makes control planes from: what is the same for every one of them. */
export interface OpenshiftAssistedControlPlaneTemplate extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly metadata?: TemplateMeta;
      readonly spec: {
        readonly distributionVersion?: string;
        readonly config?: Partial<ControlPlaneConfig>;
        readonly machineTemplate?: Pick<ControlPlaneMachineTemplate, 'metadata' | 'deletion'>;
        readonly openshiftAssistedConfigSpec?: OpenshiftAssistedConfigSpec;
      };
    };
  };
}

export const OpenshiftAssistedControlPlane: Kind<OpenshiftAssistedControlPlane> = {
  group: CONTROL_PLANE_GROUP,
  version: 'v1alpha3',
  kind: 'OpenshiftAssistedControlPlane',
  plural: 'openshiftassistedcontrolplanes',
  scope: 'Namespaced',
};

export const OpenshiftAssistedControlPlaneTemplate: Kind<OpenshiftAssistedControlPlaneTemplate> = {
  group: CONTROL_PLANE_GROUP,
  version: 'v1alpha3',
  kind: 'OpenshiftAssistedControlPlaneTemplate',
  plural: 'openshiftassistedcontrolplanetemplates',
  scope: 'Namespaced',
};
