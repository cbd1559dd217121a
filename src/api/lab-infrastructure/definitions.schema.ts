import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import {
  LabClusterDefinition,
  LabMachineDefinition,
  LabMachineTemplateDefinition,
} from './infrastructure-v1beta2.schema.ts';

/** CustomResourceDefinitions of the lab's own infrastructure provider; new ones each time. */
export const labInfrastructureDefinitions = (): readonly (JsonObject & KubeObject)[] =>
  [LabClusterDefinition, LabMachineDefinition, LabMachineTemplateDefinition].map((kind) => kind.toCRD());
