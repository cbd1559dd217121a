import * as z from 'zod';
import { localReference } from '../assisted/shapes.schema.ts';
import { templateMeta, v1beta1Conditions } from '../cluster-api/shapes.schema.ts';
import { defineKind } from '../schema/define-kind.ts';
import { mapAtomic } from '../schema/extensions.ts';
import { OpenshiftAssistedConfigTemplateV1alpha1, OpenshiftAssistedConfigV1alpha1 } from './bootstrap-v1alpha1.ts';
import { CONFIG_NAMES, TEMPLATE_NAMES } from './bootstrap-v1alpha2.schema.ts';
import { commonConfigSpec } from './config-spec.schema.ts';

const DEPRECATED = { deprecationWarning: 'v1alpha1 is deprecated, use v1alpha2' };
const SPEC = 'How the machine is booted and registered.';

/** A reference as it was before the contract took its version from labels. */
export const objectReference = () =>
  mapAtomic(
    z
      .object({
        apiVersion: z.string().describe('API version of the object.'),
        kind: z.string().describe('Kind of the object.'),
        name: z.string().describe('Name of the object.'),
        namespace: z.string().describe('Namespace of the object.'),
        uid: z.string().describe('Uid of the object.'),
        resourceVersion: z.string().describe('Version of the object that is meant.'),
        fieldPath: z.string().describe('Part of the object that is meant.'),
      })
      .partial(),
  );

export const OpenshiftAssistedConfigV1alpha1Definition = defineKind({
  ...OpenshiftAssistedConfigV1alpha1,
  ...CONFIG_NAMES,
  ...DEPRECATED,
  spec: commonConfigSpec().describe(`${SPEC} It cannot be changed.`).optional(),
  status: z
    .object({
      infraEnvRef: objectReference().describe('The InfraEnv of the machine.'),
      agentRef: localReference().describe('The Agent of the machine.'),
      ready: z.boolean().describe('The Secret with the bootstrap data is there; the machine may boot.'),
      dataSecretName: z.string().describe('Name of the Secret with the bootstrap data.'),
      failureReason: z.string().describe('Why the machine cannot be booted, in one word.'),
      failureMessage: z.string().describe('Why the machine cannot be booted, in a sentence.'),
      observedGeneration: z.int().describe('Generation that the controller last worked on.'),
      conditions: v1beta1Conditions().describe('How far the machine is.'),
    })
    .partial()
    .describe('How far the machine is.'),
});

export const OpenshiftAssistedConfigTemplateV1alpha1Definition = defineKind({
  ...OpenshiftAssistedConfigTemplateV1alpha1,
  ...TEMPLATE_NAMES,
  ...DEPRECATED,
  spec: z
    .object({
      template: z
        .object({
          metadata: templateMeta().optional().describe('Labels and annotations of the configs.'),
          spec: commonConfigSpec().optional().describe(SPEC),
        })
        .describe('What the configs are made from.'),
    })
    .describe('What the configs are made from.')
    .optional(),
  status: z.object({}).describe('Nothing: templates have no state.'),
});
