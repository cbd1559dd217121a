import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { ClusterDeploymentDefinition, ClusterImageSetDefinition } from './hive-v1.schema.ts';

/** CustomResourceDefinitions of the kinds of Hive that we use, for clusters without it; new ones each time. */
export const hiveDefinitions = (): readonly (JsonObject & KubeObject)[] => [
  ClusterDeploymentDefinition.toCRD(),
  ClusterImageSetDefinition.toCRD(),
];
