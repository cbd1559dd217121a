import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Conversion } from '../schema/crd.ts';
import { defineVersions } from '../schema/define-versions.ts';
import {
  OpenshiftAssistedConfigTemplateV1alpha1Definition,
  OpenshiftAssistedConfigV1alpha1Definition,
} from './bootstrap-v1alpha1.schema.ts';
import {
  OpenshiftAssistedConfigDefinition,
  OpenshiftAssistedConfigTemplateDefinition,
} from './bootstrap-v1alpha2.schema.ts';
import { OpenshiftAssistedControlPlaneV1alpha2Definition } from './controlplane-v1alpha2.schema.ts';
import {
  OpenshiftAssistedControlPlaneDefinition,
  OpenshiftAssistedControlPlaneTemplateDefinition,
} from './controlplane-v1alpha3.schema.ts';

/** Without a webhook the versions are not converted: enough for whoever uses the stored ones only. */
const NONE: Conversion = { strategy: 'None' };

/** CustomResourceDefinitions of the bootstrap provider; new ones each time. */
export const bootstrapDefinitions = (conversion: Conversion = NONE): readonly (JsonObject & KubeObject)[] =>
  [
    defineVersions(OpenshiftAssistedConfigDefinition, [OpenshiftAssistedConfigV1alpha1Definition], { conversion }),
    defineVersions(
      OpenshiftAssistedConfigTemplateDefinition,
      [OpenshiftAssistedConfigTemplateV1alpha1Definition],
      { conversion },
    ),
  ].map((versions) => versions.toCRD());

/** CustomResourceDefinitions of the control-plane provider; new ones each time. */
export const controlPlaneDefinitions = (conversion: Conversion = NONE): readonly (JsonObject & KubeObject)[] => [
  defineVersions(OpenshiftAssistedControlPlaneDefinition, [OpenshiftAssistedControlPlaneV1alpha2Definition], {
    conversion,
  }).toCRD(),
  // One version: there is nothing to convert.
  OpenshiftAssistedControlPlaneTemplateDefinition.toCRD(),
];

/** CustomResourceDefinitions of both providers; new ones each time. */
export const agentDefinitions = (conversion: Conversion = NONE): readonly (JsonObject & KubeObject)[] => [
  ...bootstrapDefinitions(conversion),
  ...controlPlaneDefinitions(conversion),
];
