import type { TemplateMeta, V1beta1Condition } from '../cluster-api/core-v1beta2.ts';
import type { Kind, KubeObject } from '../object.ts';
import type { CommonConfigSpec } from './bootstrap-v1alpha2.ts';
import { CONTROL_PLANE_GROUP, type ControlPlaneConfig } from './controlplane-v1alpha3.ts';

/** `controlplane.cluster.x-k8s.io/v1alpha2`: deprecated, still served, converted to v1alpha3. */

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

export interface OpenshiftAssistedControlPlaneV1alpha2 extends KubeObject {
  readonly spec: {
    readonly distributionVersion: string;
    readonly replicas?: number;
    readonly config?: ControlPlaneConfig;
    readonly machineTemplate: {
      readonly metadata?: TemplateMeta;
      readonly infrastructureRef: ObjectReference;
      /** Durations such as `1m30s`. */
      readonly nodeDrainTimeout?: string;
      readonly nodeVolumeDetachTimeout?: string;
      readonly nodeDeletionTimeout?: string;
    };
    readonly openshiftAssistedConfigSpec?: CommonConfigSpec;
  };
  readonly status?: {
    readonly clusterDeploymentRef?: ObjectReference;
    readonly conditions?: readonly V1beta1Condition[];
    readonly selector?: string;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly unavailableReplicas?: number;
    readonly version?: string;
    readonly distributionVersion?: string;
    readonly initialized?: boolean;
    readonly ready?: boolean;
    readonly failureReason?: string;
    readonly failureMessage?: string;
  };
}

export const OpenshiftAssistedControlPlaneV1alpha2: Kind<OpenshiftAssistedControlPlaneV1alpha2> = {
  group: CONTROL_PLANE_GROUP,
  version: 'v1alpha2',
  kind: 'OpenshiftAssistedControlPlane',
  plural: 'openshiftassistedcontrolplanes',
  scope: 'Namespaced',
};
