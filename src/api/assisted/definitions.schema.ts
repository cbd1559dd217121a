import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { AgentDefinition, InfraEnvDefinition } from './agent-install-v1beta1.schema.ts';
import { AgentClusterInstallDefinition } from './hive-extensions-v1beta1.schema.ts';

/** CustomResourceDefinitions of the kinds of assisted-service that we use, for clusters without it; new ones each time. */
export const assistedDefinitions = (): readonly (JsonObject & KubeObject)[] => [
  InfraEnvDefinition.toCRD(),
  AgentDefinition.toCRD(),
  AgentClusterInstallDefinition.toCRD(),
];
