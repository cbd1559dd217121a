import type { InstallNeeds } from '../../src/cloud/manifests/install-options.ts';
import type { Need } from '../../src/kube/rbac/need.ts';
import { electionNeeds, reviewNeeds } from '../../src/kube/rbac/runtime-needs.ts';
import type { MetadataFacts } from '../../src/sdk/capabilities/metadata.ts';
import { defineProvider } from '../../src/sdk/provider/define-provider.ts';
import type { ProviderDefinition, ProviderInput } from '../../src/sdk/provider/provider-definition.ts';
import { FakeCloud } from '../../src/testing/fake-cloud.ts';

/** A metadata service with everything that one can ask for: a token, headers of its own, a port, a zone. */
export const ACME_METADATA: MetadataFacts = {
  addresses: ['169.254.169.254', 'fd00:ec2::254'],
  port: 8080,
  headers: { 'Metadata-Flavor': 'acme' },
  token: {
    path: '/v1/token',
    method: 'PUT',
    requestHeaders: { 'X-Token-Seconds': '60' },
    header: 'X-Token',
  },
  paths: { instanceId: '/v1/instance/id', zone: '/v1/instance/zone' },
};

/** A definition of a cloud that nobody calls: what is generated from it is all that matters. */
export function acmeDefinition(overrides: Partial<ProviderInput<unknown>> = {}): ProviderDefinition {
  const { capabilities } = new FakeCloud();
  return defineProvider<unknown>({
    name: 'acme',
    displayName: 'Acme Cloud',
    architectures: ['amd64'],
    providerID: { scheme: 'acme', format: '{zone}/{id}', pattern: /^acme:\/\/[a-z0-9-]+\/[a-z0-9-]+$/ },
    secrets: ['ACME_KEY', 'ACME_SECRET'],
    connect: () => ({ client: undefined, clusterId: 'test' }),
    capabilities: { ...capabilities, metadata: { declare: () => ACME_METADATA } },
    ...overrides,
  });
}

/** A cloud that says as little as one may: no metadata service, no credentials. */
export const plainDefinition = (): ProviderDefinition =>
  acmeDefinition({
    name: 'plain',
    displayName: 'Plain Cloud',
    providerID: { scheme: 'plain', format: '{id}', pattern: /^plain:\/\/[a-z0-9-]+$/ },
    secrets: [],
    capabilities: { instances: new FakeCloud().capabilities.instances },
  });

const need = (resource: string, ...verbs: Need['verbs']): Need => ({ group: '', resource, verbs });

/** Needs like those of the controllers (ccm §2.4), with one that no built-in role of Kubernetes covers. */
export const acmeNeeds = (lockNamespace: string): InstallNeeds => ({
  process: [
    ...electionNeeds({ namespace: lockNamespace, name: 'cloud-controller-manager' }),
    ...reviewNeeds(),
    need('nodes', 'get', 'list', 'watch'),
    need('services', 'get', 'list', 'watch'),
  ],
  accounts: new Map([
    [
      'node-controller',
      [
        need('nodes', 'update', 'patch', 'delete'),
        need('nodes/status', 'patch'),
        need('events', 'create', 'patch'),
      ],
    ],
    ['service-controller', [need('services/status', 'patch'), need('nodes/status', 'patch')]],
  ]),
});
