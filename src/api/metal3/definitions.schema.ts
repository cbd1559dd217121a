import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { metal3Versions } from './infrastructure-v1beta2.schema.ts';
import { BareMetalHostDefinition } from './metal3-v1alpha1.schema.ts';

/** CustomResourceDefinitions of the kinds of Metal3 that we use, for clusters without it; new ones each time. */
export const metal3Definitions = (): readonly (JsonObject & KubeObject)[] => [
  BareMetalHostDefinition.toCRD(),
  ...metal3Versions().map((versions) => versions.toCRD()),
];
