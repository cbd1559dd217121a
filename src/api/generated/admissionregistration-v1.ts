// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './admissionregistration-v1-types.ts';

export type * from './admissionregistration-v1-types.ts';

export type MutatingAdmissionPolicy = types.MutatingAdmissionPolicy;
export const MutatingAdmissionPolicy: Kind<MutatingAdmissionPolicy, CreateOf<MutatingAdmissionPolicy, 'spec'>> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  scope: 'Cluster',
};

export type MutatingAdmissionPolicyBinding = types.MutatingAdmissionPolicyBinding;
export const MutatingAdmissionPolicyBinding: Kind<MutatingAdmissionPolicyBinding, CreateOf<MutatingAdmissionPolicyBinding, 'spec'>> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
  scope: 'Cluster',
};

export type MutatingWebhookConfiguration = types.MutatingWebhookConfiguration;
export const MutatingWebhookConfiguration: Kind<MutatingWebhookConfiguration, CreateOf<MutatingWebhookConfiguration>> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  scope: 'Cluster',
};

export type ValidatingAdmissionPolicy = types.ValidatingAdmissionPolicy;
export const ValidatingAdmissionPolicy: Kind<ValidatingAdmissionPolicy, CreateOf<ValidatingAdmissionPolicy, 'spec'>> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  scope: 'Cluster',
};

export type ValidatingAdmissionPolicyBinding = types.ValidatingAdmissionPolicyBinding;
export const ValidatingAdmissionPolicyBinding: Kind<ValidatingAdmissionPolicyBinding, CreateOf<ValidatingAdmissionPolicyBinding>> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  scope: 'Cluster',
};

export type ValidatingWebhookConfiguration = types.ValidatingWebhookConfiguration;
export const ValidatingWebhookConfiguration: Kind<ValidatingWebhookConfiguration, CreateOf<ValidatingWebhookConfiguration>> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  scope: 'Cluster',
};
