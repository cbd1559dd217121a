import type { Need } from './need.ts';

/** What leader election does: the one Lease by name, and its creation (B1). */
export const electionNeeds = (lease: { readonly namespace: string; readonly name: string }): readonly Need[] => [
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['get', 'create', 'update'],
    names: [lease.name],
    namespace: lease.namespace,
  },
];

/** What recording events does. The core group is asked where a program wants it, or events.k8s.io is not served (V5). */
export const eventNeeds = ({
  hasFallback = false,
  inCoreGroup = false,
}: {
  readonly hasFallback?: boolean;
  readonly inCoreGroup?: boolean;
} = {}): readonly Need[] =>
  [...(hasFallback || inCoreGroup ? [''] : []), ...(inCoreGroup ? [] : ['events.k8s.io'])].map((group) => ({
    group,
    resource: 'events',
    verbs: ['create', 'patch'],
  }));

/** What a metrics endpoint does that asks the API server who may read it (M7). */
export const reviewNeeds = (): readonly Need[] => [
  { group: 'authentication.k8s.io', resource: 'tokenreviews', verbs: ['create'], scope: 'Cluster' },
  { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verbs: ['create'], scope: 'Cluster' },
];

export interface CertificateObjects {
  readonly secret: { readonly namespace: string; readonly name: string };
  /** Names of MutatingWebhookConfigurations. */
  readonly mutating?: readonly string[];
  /** Names of ValidatingWebhookConfigurations. */
  readonly validating?: readonly string[];
  /** Names of CustomResourceDefinitions with a conversion webhook. */
  readonly definitions?: readonly string[];
  /** The Secret is not part of what is installed and the first process makes it; a rule cannot name what is created. */
  readonly mayCreate?: boolean;
}

/** What a webhook server with a certificate authority of its own does (W6): named objects only. */
export function certificateNeeds(objects: CertificateObjects): readonly Need[] {
  const { secret, mutating = [], validating = [], definitions = [], mayCreate = false } = objects;
  const patching = (group: string, resource: string, names: readonly string[]): readonly Need[] =>
    names.length === 0 ? [] : [{ group, resource, verbs: ['get', 'patch'], names, scope: 'Cluster' }];
  return [
    {
      group: '',
      resource: 'secrets',
      verbs: mayCreate ? ['get', 'create', 'update'] : ['get', 'update'],
      names: [secret.name],
      namespace: secret.namespace,
    },
    ...patching('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', mutating),
    ...patching('admissionregistration.k8s.io', 'validatingwebhookconfigurations', validating),
    ...patching('apiextensions.k8s.io', 'customresourcedefinitions', definitions),
  ];
}
