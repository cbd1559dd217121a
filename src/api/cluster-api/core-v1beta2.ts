import type { Condition, Kind, KubeObject } from '../object.ts';

/** The part of `cluster.x-k8s.io/v1beta2` that we read and write; what a type does not name is kept (DESIGN §5). */

export const CLUSTER_GROUP = 'cluster.x-k8s.io';

/** On every object of a cluster; its value is the name of the Cluster. */
export const CLUSTER_NAME_LABEL = 'cluster.x-k8s.io/cluster-name';
/** On MachineDeployments that core made for a topology: their name there. */
export const TOPOLOGY_DEPLOYMENT_LABEL = 'topology.cluster.x-k8s.io/deployment-name';
/** On objects of the control plane; only the key counts. */
export const CONTROL_PLANE_LABEL = 'cluster.x-k8s.io/control-plane';
export const CONTROL_PLANE_NAME_LABEL = 'cluster.x-k8s.io/control-plane-name';
export const DEPLOYMENT_NAME_LABEL = 'cluster.x-k8s.io/deployment-name';
export const SET_NAME_LABEL = 'cluster.x-k8s.io/set-name';
export const WATCH_LABEL = 'cluster.x-k8s.io/watch-filter';

export const PAUSED_ANNOTATION = 'cluster.x-k8s.io/paused';
/** Machines with it go first when a set gets smaller. */
export const DELETE_MACHINE_ANNOTATION = 'cluster.x-k8s.io/delete-machine';
export const CLONED_FROM_NAME_ANNOTATION = 'cluster.x-k8s.io/cloned-from-name';
export const CLONED_FROM_GROUP_KIND_ANNOTATION = 'cluster.x-k8s.io/cloned-from-groupkind';
export const CONVERSION_DATA_ANNOTATION = 'cluster.x-k8s.io/conversion-data';

export const MACHINE_FINALIZER = 'machine.cluster.x-k8s.io';
export const CLUSTER_FINALIZER = 'cluster.cluster.x-k8s.io';
/** Of Secrets that Cluster API reads: bootstrap data and kubeconfigs. */
export const CLUSTER_SECRET_TYPE = 'cluster.x-k8s.io/secret';

/** An object of the same namespace; its version follows from labels of its CustomResourceDefinition. */
export interface ContractReference {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** A condition as Cluster API wrote it before v1beta2. */
export interface V1beta1Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly severity?: '' | 'Error' | 'Warning' | 'Info';
  readonly lastTransitionTime: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface DeprecatedStatus {
  readonly v1beta1?: { readonly conditions?: readonly V1beta1Condition[] };
}

export interface FailureDomain {
  readonly name: string;
  readonly controlPlane?: boolean;
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface ApiEndpoint {
  readonly host?: string;
  readonly port?: number;
}

export interface TemplateMeta {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What a ClusterClass makes the rest of a Cluster from. */
export interface ClusterTopology {
  readonly classRef: { readonly name: string };
  /** Of Kubernetes. */
  readonly version: string;
  readonly workers?: {
    readonly machineDeployments?: readonly {
      readonly class: string;
      readonly name: string;
      readonly replicas?: number;
    }[];
  };
}

export interface Cluster extends KubeObject {
  readonly spec?: {
    readonly paused?: boolean;
    readonly clusterNetwork?: {
      readonly pods?: { readonly cidrBlocks?: readonly string[] };
      readonly services?: { readonly cidrBlocks?: readonly string[] };
    };
    readonly controlPlaneEndpoint?: ApiEndpoint;
    readonly controlPlaneRef?: ContractReference;
    readonly infrastructureRef?: ContractReference;
    readonly topology?: ClusterTopology;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly initialization?: {
      readonly infrastructureProvisioned?: boolean;
      readonly controlPlaneInitialized?: boolean;
    };
    readonly failureDomains?: readonly FailureDomain[];
    readonly phase?: string;
    readonly observedGeneration?: number;
    readonly deprecated?: DeprecatedStatus;
  };
}

export interface MachineDeletion {
  readonly nodeDrainTimeoutSeconds?: number;
  readonly nodeVolumeDetachTimeoutSeconds?: number;
  readonly nodeDeletionTimeoutSeconds?: number;
}

export interface MachineSpec {
  readonly clusterName: string;
  readonly bootstrap: { readonly configRef?: ContractReference; readonly dataSecretName?: string };
  readonly infrastructureRef: ContractReference;
  readonly version?: string;
  readonly providerID?: string;
  readonly failureDomain?: string;
  readonly deletion?: MachineDeletion;
}

export interface MachineAddress {
  readonly type: string;
  readonly address: string;
}

/** How far a Machine is. */
export const MACHINE_PHASES = [
  'Pending',
  'Provisioning',
  'Provisioned',
  'Running',
  'Updating',
  'Deleting',
  'Deleted',
  'Failed',
  'Unknown',
] as const;

export interface Machine extends KubeObject {
  readonly spec: MachineSpec;
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly initialization?: {
      readonly infrastructureProvisioned?: boolean;
      readonly bootstrapDataSecretCreated?: boolean;
    };
    readonly nodeRef?: { readonly name: string };
    readonly nodeInfo?: Readonly<Record<string, unknown>>;
    readonly addresses?: readonly MachineAddress[];
    readonly phase?: string;
    readonly observedGeneration?: number;
    readonly deprecated?: DeprecatedStatus;
  };
}

export interface MachineTemplate {
  readonly metadata?: TemplateMeta;
  readonly spec: MachineSpec;
}

export interface MachineSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

interface MachineCounts {
  readonly conditions?: readonly Condition[];
  readonly selector?: string;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly upToDateReplicas?: number;
  readonly observedGeneration?: number;
}

export interface MachineSet extends KubeObject {
  readonly spec: {
    readonly clusterName: string;
    readonly replicas?: number;
    readonly selector: MachineSelector;
    readonly template: MachineTemplate;
  };
  readonly status?: MachineCounts;
}

export interface MachineDeployment extends KubeObject {
  readonly spec: {
    readonly clusterName: string;
    readonly replicas?: number;
    readonly selector: MachineSelector;
    readonly template: MachineTemplate;
    readonly paused?: boolean;
  };
  readonly status?: MachineCounts & { readonly phase?: string };
}

const coreKind = <T extends KubeObject>(kind: string, plural: string): Kind<T> => ({
  group: CLUSTER_GROUP,
  version: 'v1beta2',
  kind,
  plural,
  scope: 'Namespaced',
});

export const Cluster = coreKind<Cluster>('Cluster', 'clusters');
export const Machine = coreKind<Machine>('Machine', 'machines');
export const MachineSet = coreKind<MachineSet>('MachineSet', 'machinesets');
export const MachineDeployment = coreKind<MachineDeployment>('MachineDeployment', 'machinedeployments');
