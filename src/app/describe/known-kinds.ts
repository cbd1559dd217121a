import { BOOTSTRAP_GROUP, OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { CONTROL_PLANE_GROUP, OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { Agent, InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, Machine, MachineDeployment, MachineSet } from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';
import { LabCluster, LabMachine } from '../../api/lab-infrastructure/infrastructure-v1beta2.ts';
import { INFRASTRUCTURE_GROUP, Metal3Cluster, Metal3Machine } from '../../api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import { groupIn, type Reference } from './object-fields.ts';

export type GroupKind = Pick<Reference, 'group' | 'kind'>;

/**
 * Kinds that are asked for in this version without asking the server what it serves: discovery is a request, and an
 * answer 404 leads to it soon enough (experience X46).
 */
const KNOWN: readonly Kind[] = [
  Cluster,
  Machine,
  MachineDeployment,
  MachineSet,
  OpenshiftAssistedControlPlane,
  OpenshiftAssistedConfig,
  Metal3Cluster,
  Metal3Machine,
  LabCluster,
  LabMachine,
  BareMetalHost,
  InfraEnv,
  Agent,
  AgentClusterInstall,
  ClusterDeployment,
  ClusterImageSet,
  Secret,
];

export const kindText = ({ group, kind }: GroupKind): string => `${kind}.${group}`;

const BY_NAME: ReadonlyMap<string, Kind> = new Map(KNOWN.map((kind) => [kindText(kind), kind]));

export const knownKind = (wanted: GroupKind): Kind | undefined => BY_NAME.get(kindText(wanted));

export const isAssistedControlPlane = ({ group, kind }: GroupKind): boolean =>
  group === CONTROL_PLANE_GROUP && kind === OpenshiftAssistedControlPlane.kind;

export const isAssistedConfig = ({ group, kind }: GroupKind): boolean =>
  group === BOOTSTRAP_GROUP && kind === OpenshiftAssistedConfig.kind;

export const isMetal3Machine = ({ group, kind }: GroupKind): boolean =>
  group === INFRASTRUCTURE_GROUP && kind === Metal3Machine.kind;

export const groupKindOf = ({ apiVersion, kind }: KubeObject): GroupKind => ({ group: groupIn(apiVersion), kind });
