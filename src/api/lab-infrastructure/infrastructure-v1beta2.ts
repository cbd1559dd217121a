import type {
  ApiEndpoint,
  DeprecatedStatus,
  FailureDomain,
  MachineAddress,
  TemplateMeta,
} from '../cluster-api/core-v1beta2.ts';
import type { Condition, Kind, KubeObject } from '../object.ts';

/** Machines of the lab's cloud as infrastructure of Cluster API, contract v1beta2. */

export const LAB_MACHINE_FINALIZER = 'labmachine.infrastructure.cluster.x-k8s.io';

export interface LabCluster extends KubeObject {
  readonly spec?: {
    readonly controlPlaneEndpoint?: ApiEndpoint;
    /** Where Machines may be; they become failure domains. */
    readonly zones?: readonly string[];
  };
  readonly status?: {
    readonly initialization?: { readonly provisioned?: boolean };
    readonly failureDomains?: readonly FailureDomain[];
    readonly conditions?: readonly Condition[];
    readonly deprecated?: DeprecatedStatus;
  };
}

export interface LabMachineSpec {
  readonly providerID?: string;
  /** Such as lab.large. */
  readonly instanceType?: string;
  readonly zone?: string;
  /** What its disk holds at first. */
  readonly imageId?: string;
}

export interface LabMachine extends KubeObject {
  readonly spec?: LabMachineSpec;
  readonly status?: {
    readonly initialization?: { readonly provisioned?: boolean };
    readonly instanceId?: string;
    readonly instanceState?: string;
    readonly failureDomain?: string;
    readonly addresses?: readonly MachineAddress[];
    readonly conditions?: readonly Condition[];
    readonly deprecated?: DeprecatedStatus;
  };
}

export interface LabMachineTemplate extends KubeObject {
  readonly spec: {
    readonly template: { readonly metadata?: TemplateMeta; readonly spec: LabMachineSpec };
  };
}

const labKind = <T extends KubeObject>(kind: string, plural: string): Kind<T> => ({
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1beta2',
  kind,
  plural,
  scope: 'Namespaced',
});

export const LabCluster = labKind<LabCluster>('LabCluster', 'labclusters');
export const LabMachine = labKind<LabMachine>('LabMachine', 'labmachines');
export const LabMachineTemplate = labKind<LabMachineTemplate>('LabMachineTemplate', 'labmachinetemplates');
