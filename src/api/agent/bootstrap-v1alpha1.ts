import type { TemplateMeta, V1beta1Condition } from '../cluster-api/core-v1beta2.ts';
import type { Kind, KubeObject } from '../object.ts';
import { BOOTSTRAP_GROUP, type CommonConfigSpec } from './bootstrap-v1alpha2.ts';
import type { ObjectReference } from './controlplane-v1alpha2.ts';

/** `bootstrap.cluster.x-k8s.io/v1alpha1`: deprecated, still served, converted to v1alpha2. */

export interface OpenshiftAssistedConfigV1alpha1 extends KubeObject {
  readonly spec?: CommonConfigSpec;
  readonly status?: {
    readonly infraEnvRef?: ObjectReference;
    readonly agentRef?: { readonly name?: string };
    readonly ready?: boolean;
    readonly dataSecretName?: string;
    readonly failureReason?: string;
    readonly failureMessage?: string;
    readonly observedGeneration?: number;
    readonly conditions?: readonly V1beta1Condition[];
  };
}

export interface OpenshiftAssistedConfigTemplateV1alpha1 extends KubeObject {
  readonly spec: {
    readonly template: { readonly metadata?: TemplateMeta; readonly spec?: CommonConfigSpec };
  };
}

const bootstrapKind = <T extends KubeObject>(kind: string, plural: string): Kind<T> => ({
  group: BOOTSTRAP_GROUP,
  version: 'v1alpha1',
  kind,
  plural,
  scope: 'Namespaced',
});

export const OpenshiftAssistedConfigV1alpha1 = bootstrapKind<OpenshiftAssistedConfigV1alpha1>(
  'OpenshiftAssistedConfig',
  'openshiftassistedconfigs',
);
export const OpenshiftAssistedConfigTemplateV1alpha1 = bootstrapKind<OpenshiftAssistedConfigTemplateV1alpha1>(
  'OpenshiftAssistedConfigTemplate',
  'openshiftassistedconfigtemplates',
);
