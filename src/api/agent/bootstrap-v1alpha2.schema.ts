import * as z from 'zod';
import { contractLabels, notEmpty, templateMeta, v1beta1Conditions } from '../cluster-api/shapes.schema.ts';
import { defineKind } from '../schema/define-kind.ts';
import { cel, conditions } from '../schema/extensions.ts';
import { OpenshiftAssistedConfig, OpenshiftAssistedConfigTemplate } from './bootstrap-v1alpha2.ts';
import { configSpec } from './config-spec.schema.ts';

/** clusterctl finds what belongs to a provider, and core the version that follows a contract, by these labels. */
const BOOTSTRAP_LABELS = {
  'cluster.x-k8s.io/provider': 'bootstrap-openshift-assisted',
  ...contractLabels({ v1beta1: 'v1alpha1', v1beta2: 'v1alpha2' }),
};

/** What both versions say. */
export const CONFIG_NAMES = {
  description: 'How one machine is booted into the assisted installer and becomes a node.',
  shortNames: ['oac', 'oacs'],
  labels: BOOTSTRAP_LABELS,
} as const;

export const TEMPLATE_NAMES = {
  description: 'What OpenshiftAssistedConfigs of workers are made from.',
  labels: BOOTSTRAP_LABELS,
  // Upstream does not require it and cannot do anything without it.
  rules: { root: [cel('has(self.spec)', 'spec is missing')] },
} as const;

const SPEC = 'How the machine is booted and registered.';

export const OpenshiftAssistedConfigDefinition = defineKind({
  ...OpenshiftAssistedConfig,
  ...CONFIG_NAMES,
  spec: configSpec().describe(`${SPEC} It cannot be changed.`).optional(),
  status: z
    .object({
      conditions: conditions()
        .meta({ maxItems: 32 })
        .describe('How far the machine is, for the v1beta2 contract.'),
      initialization: z
        .object({
          dataSecretCreated: z
            .boolean()
            .describe('The Secret with the bootstrap data is there; the machine may boot.'),
        })
        .partial()
        .describe('What happens once in the life of the machine.'),
      dataSecretName: z.string().min(1).max(253).describe('Name of the Secret with the bootstrap data.'),
      observedGeneration: z.int().min(1).describe('Generation that the controller last worked on.'),
      v1beta1Conditions: v1beta1Conditions().describe('How far the machine is, for the v1beta1 contract.'),
    })
    .partial()
    .describe('How far the machine is.'),
});

export const OpenshiftAssistedConfigTemplateDefinition = defineKind({
  ...OpenshiftAssistedConfigTemplate,
  ...TEMPLATE_NAMES,
  spec: z
    .object({
      template: z
        .object({
          metadata: notEmpty(templateMeta()).optional().describe('Labels and annotations of the configs.'),
          spec: configSpec().optional().describe(SPEC),
        })
        .describe('What the configs are made from.'),
    })
    .describe('What the configs are made from.')
    .optional(),
  status: z.object({}).describe('Nothing: templates have no state.'),
});
