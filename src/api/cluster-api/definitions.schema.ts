import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { DefinedKind } from '../schema/define-kind.ts';
import {
  ClusterDefinition,
  MachineDefinition,
  MachineDeploymentDefinition,
  MachineSetDefinition,
} from './core-v1beta2.schema.ts';

const KINDS: readonly Pick<DefinedKind, 'toCRD'>[] = [
  ClusterDefinition,
  MachineDefinition,
  MachineSetDefinition,
  MachineDeploymentDefinition,
];

/** CustomResourceDefinitions of the kinds of Cluster API that we use, for clusters without it; new ones each time. */
export const clusterApiDefinitions = (): readonly (JsonObject & KubeObject)[] => KINDS.map((kind) => kind.toCRD());
