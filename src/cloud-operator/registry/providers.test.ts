import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../api/object.ts';
import type { Infrastructure, PlatformStatus, PlatformType } from '../../api/openshift/config-v1.ts';
import type { CloudProvider, CloudProviderDefinition } from '../definition.ts';
import { defineCloudProvider } from '../render/cloud-provider.ts';
import { ProviderRegistry, platformNameMismatch } from './providers.ts';

const define = (
  id: string,
  match: CloudProviderDefinition['match'],
  changes: Partial<CloudProviderDefinition> = {},
): CloudProvider => defineCloudProvider({ id, match, images: {}, assets: { objects: [] }, ...changes });

const role = (namespace: string | undefined, resource: string): KubeObject & { rules: object[] } => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: namespace === undefined ? 'ClusterRole' : 'Role',
  metadata: { name: resource, ...(namespace === undefined ? {} : { namespace }) },
  rules: [{ apiGroups: [''], resources: [resource], verbs: ['get'] }],
});

const full = (id: string, objects: readonly KubeObject[]): Partial<CloudProviderDefinition> => ({
  images: {
    [`cloudControllerManager${id}`]: { field: 'Manager', payloadTag: `${id}-cloud-controller-manager` },
    cloudControllerManagerOperator: { field: 'Operator', payloadTag: 'cluster-cloud-controller-manager-operator' },
  },
  assets: { objects },
  cloudConfig: { sources: ['user'] },
  credentials: [
    {
      name: `openshift-${id}`,
      secretName: `${id}-credentials`,
      serviceAccountNames: ['a'],
      providerSpec: { kind: id },
    },
  ],
});

const isStack = ({ azure }: PlatformStatus): boolean => azure?.cloudName === 'AzureStackCloud';

const registry = (): ProviderRegistry =>
  new ProviderRegistry([
    define(
      'aws',
      { type: 'AWS' },
      full('aws', [role('kube-system', 'leases'), role(undefined, 'nodes'), role(undefined, 'nodes')]),
    ),
    define('azure', { type: 'Azure' }),
    define('azurestack', { type: 'Azure', when: isStack }, { cloudConfig: { sources: ['managed', 'user'] } }),
    define('kubevirt', { type: 'KubeVirt' }),
    define('edge', { type: 'Libvirt' }, { kubelet: { cloudProvider: '' } }),
  ]);

const acme = (): CloudProvider =>
  define('acme', { type: 'External', platformName: 'Acme' }, full('acme', [role(undefined, 'services')]));

const cluster = (status: PlatformStatus | undefined, platformName?: string): Infrastructure => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  ...(platformName === undefined ? {} : { spec: { platformSpec: { external: { platformName } } } }),
  ...(status === undefined ? {} : { status: { platformStatus: status } }),
});

const idOf = (provider: CloudProvider | undefined): string | undefined => provider?.definition.id;

describe('the provider of a cluster', () => {
  const cases: readonly { status: PlatformStatus | undefined; want: string | undefined }[] = [
    { status: { type: 'AWS' }, want: 'aws' },
    { status: { type: 'Azure' }, want: 'azure' },
    { status: { type: 'Azure', azure: { cloudName: 'AzureStackCloud' } }, want: 'azurestack' },
    { status: { type: 'BareMetal' }, want: undefined },
    { status: { type: 'External' }, want: undefined },
    { status: { type: '' }, want: undefined },
    { status: {}, want: undefined },
    { status: undefined, want: undefined },
  ];
  for (const { status, want } of cases) {
    it(`operator/R21: is ${want ?? 'nobody, which is no error,'} for ${JSON.stringify(status)}`, () => {
      assert.equal(idOf(registry().resolve(cluster(status))), want);
    });
  }

  it('operator/R97: is the only one for External, or the one that was asked for', () => {
    const all = registry();
    const external = cluster({ type: 'External' }, 'Other');
    all.register(acme());
    assert.equal(idOf(all.resolve(external)), 'acme');
    all.register(define('orbit', { type: 'External' }));
    assert.equal(idOf(all.resolve(external, { provider: 'orbit' })), 'orbit');
    assert.throws(() => all.resolve(external), {
      reason: 'UnknownProvider',
      message: 'choose a cloud provider by --provider: acme, orbit',
    });
  });

  it('operator/R97: is never one that nobody knows, or that is for other clusters', () => {
    assert.throws(() => registry().resolve(cluster(undefined), { provider: 'acme' }), {
      reason: 'UnknownProvider',
      message: 'there is no cloud provider acme; there are aws, azure, azurestack, kubevirt, edge',
    });
    for (const provider of ['aws', 'azurestack']) {
      assert.throws(() => registry().resolve(cluster({ type: 'Azure' }), { provider }), {
        reason: 'ProviderMismatch',
      });
    }
  });

  it('operator/R97: is never a guess between two that look at the cluster', () => {
    const all = registry();
    all.register(define('stack', { type: 'Azure', when: isStack }));
    assert.equal(idOf(all.resolve(cluster({ type: 'Azure' }))), 'azure');
    assert.throws(() => all.resolve(cluster({ type: 'Azure', azure: { cloudName: 'AzureStackCloud' } })), {
      reason: 'AmbiguousProvider',
      message: 'more than one cloud provider is for this cluster: azurestack, stack',
    });
  });

  it('operator/R97: is warned about when the name of the platform is another, in whatever case', () => {
    const infra = (name?: string) => cluster({ type: 'External' }, name);
    assert.equal(platformNameMismatch(acme(), infra('aCME')), undefined);
    assert.equal(platformNameMismatch(define('orbit', { type: 'External' }), infra('Other')), undefined);
    assert.equal(
      platformNameMismatch(acme(), infra()),
      'cloud provider acme is for the platform Acme, the cluster says Unknown',
    );
  });
});

describe('registering a cloud provider', () => {
  const cases: readonly { name: string; given: () => CloudProvider; want: string }[] = [
    {
      name: 'an id that is taken',
      given: () => define('aws', { type: 'GCP' }),
      want: 'cloud provider aws: the id is taken',
    },
    {
      name: 'a second provider of all clusters of a platform',
      given: () => define('other', { type: 'AWS' }),
      want: 'cloud provider other: aws is for every cluster on AWS already; say when in its match',
    },
    {
      name: 'another image under a known key',
      given: () =>
        define(
          'other',
          { type: 'GCP' },
          { images: { cloudControllerManageraws: { field: 'A', payloadTag: 'other' } } },
        ),
      want: 'cloud provider other: images.cloudControllerManageraws is aws-cloud-controller-manager already, not other',
    },
    {
      name: 'other credentials under a known name',
      given: () =>
        define(
          'other',
          { type: 'GCP' },
          { credentials: [{ name: 'openshift-aws', secretName: 'a', providerSpec: {} }] },
        ),
      want: 'cloud provider other: credentials openshift-aws are asked for otherwise already',
    },
  ];
  for (const { name, given, want } of cases) {
    it(`operator/R97: is refused with ${name}, and changes nothing`, () => {
      const all = registry();
      assert.throws(() => all.register(given()), { reason: 'InvalidDefinition', message: want });
      assert.deepEqual(all.platformTable(), registry().platformTable());
    });
  }
});

describe('whether kubelets wait for a cloud controller manager', () => {
  const external = (state?: '' | 'External' | 'None'): PlatformStatus => ({
    type: 'External',
    external: state === undefined ? {} : { cloudControllerManager: { state } },
  });
  // What Infrastructure may hold some day.
  const unknown = 'Moon' as PlatformType;
  const cases: readonly { status: PlatformStatus; want: boolean }[] = [
    { status: { type: 'AWS' }, want: true },
    { status: { type: 'Azure' }, want: true },
    { status: { type: 'Azure', azure: { cloudName: 'AzureStackCloud' } }, want: true },
    { status: { type: 'KubeVirt' }, want: true },
    { status: { type: 'Libvirt' }, want: false },
    { status: external('External'), want: true },
    { status: external('None'), want: false },
    { status: external(''), want: false },
    { status: external(), want: false },
    { status: { type: 'External' }, want: false },
    { status: { type: 'None' }, want: false },
    { status: { type: 'BareMetal' }, want: false },
    { status: { type: '' }, want: false },
    { status: {}, want: false },
    { status: { type: unknown }, want: false },
  ];
  for (const { status, want } of cases) {
    it(`operator/case 19: is ${want} for ${JSON.stringify(status)}, and so is their flag`, () => {
      const all = registry();
      all.register(acme());
      assert.equal(all.isCloudProviderExternal(status), want);
      assert.equal(all.kubeletCloudProvider(status), want ? 'external' : '');
    });
  }

  it('operator/case 19: cannot be said of a cluster without a platform', () => {
    assert.throws(() => registry().isCloudProviderExternal(undefined), { message: 'platformStatus is required' });
  });
});

describe('what follows from the providers that are there', () => {
  it('operator/R20: are the images without which nothing can be deployed, for one or for all', () => {
    const all = registry();
    const images = {
      needed: { field: 'Needed', payloadTag: 'needed' },
      extra: { field: 'Extra', payloadTag: 'extra', optional: true },
    };
    all.register(define('gcp', { type: 'GCP' }, { images }));
    assert.deepEqual(all.requiredImages({ provider: 'gcp' }), ['needed']);
    assert.deepEqual(all.requiredImages(), [
      'cloudControllerManageraws',
      'cloudControllerManagerOperator',
      'needed',
    ]);
  });

  it('operator/R96: is all of it without one of External', () => {
    const all = registry();
    assert.deepEqual(all.imageKeys(), ['cloudControllerManagerOperator', 'cloudControllerManageraws']);
    assert.deepEqual(all.imagesJson(), {
      cloudControllerManagerOperator: 'payload.invalid/openshift/cluster-cloud-controller-manager-operator',
      cloudControllerManageraws: 'payload.invalid/openshift/aws-cloud-controller-manager',
    });
    assert.deepEqual(all.syncedPlatforms(), ['AWS', 'Azure']);
    assert.deepEqual(all.operatorRules(), [
      { rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }] },
      { namespace: 'kube-system', rules: [{ apiGroups: [''], resources: ['leases'], verbs: ['get'] }] },
    ]);
    assert.deepEqual(all.credentialsRequests('elsewhere'), [
      {
        apiVersion: 'cloudcredential.openshift.io/v1',
        kind: 'CredentialsRequest',
        metadata: { name: 'openshift-aws', namespace: 'openshift-cloud-credential-operator' },
        spec: {
          serviceAccountNames: ['a'],
          secretRef: { name: 'aws-credentials', namespace: 'elsewhere' },
          providerSpec: { kind: 'aws' },
        },
      },
    ]);
  });

  it('operator/R96: names each image of the release once, by what stands in images.json', () => {
    const { kind, apiVersion, spec } = registry().imageReferences();
    assert.deepEqual([apiVersion, kind], ['image.openshift.io/v1', 'ImageStream']);
    assert.deepEqual(
      spec.tags.map(({ from }) => from.name),
      Object.values(registry().imagesJson()),
    );
    assert.deepEqual(spec.tags[1], {
      name: 'aws-cloud-controller-manager',
      from: { kind: 'DockerImage', name: 'payload.invalid/openshift/aws-cloud-controller-manager' },
    });
  });

  it('operator/R63: is whether a cloud config is synced, and how', () => {
    const all = registry();
    all.register(acme());
    const sourcesOf = (status: PlatformStatus) => all.cloudConfigOf(cluster(status))?.sources;
    assert.deepEqual(sourcesOf({ type: 'Azure', azure: { cloudName: 'AzureStackCloud' } }), ['managed', 'user']);
    assert.equal(sourcesOf({ type: 'Azure' }), undefined);
    assert.equal(sourcesOf({ type: 'BareMetal' }), undefined);
    assert.deepEqual(all.cloudConfigOf(cluster({ type: 'External' }), { provider: 'acme' })?.sources, ['user']);
  });

  it('operator/R92: is what the operator has to do with: of one provider when it was chosen, else of all', () => {
    const all = registry();
    all.register(acme());
    const placesOf = (provider?: string) =>
      all.operandKinds('here', { provider }).map(({ kind, namespaces }) => `${kind.kind}: ${namespaces.join()}`);
    const common = ['PodDisruptionBudget: here', 'Service: here'];
    assert.deepEqual(placesOf(), ['Role: kube-system', 'ClusterRole: ', ...common]);
    assert.deepEqual(placesOf('acme'), ['ClusterRole: ', ...common]);
    assert.deepEqual(placesOf('kubevirt'), []);
    assert.deepEqual(all.operatorRules({ provider: 'acme' }), [
      { rules: [{ apiGroups: [''], resources: ['services'], verbs: ['get'] }] },
    ]);
  });

  it('operator/R92: is to bind roles that are there already, by their names, and to hold no more for it', () => {
    const binding = (kind: string, name: string, namespace?: string): KubeObject & { roleRef: object } => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
      metadata: { name, ...(namespace !== undefined && { namespace }) },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    });
    const objects = [
      role('kube-system', 'leases'),
      role(undefined, 'nodes'),
      binding('Role', 'leases', 'kube-system'),
      binding('ClusterRole', 'nodes', 'kube-system'),
      binding('Role', 'there', 'kube-system'),
      binding('ClusterRole', 'admin', 'kube-system'),
      binding('ClusterRole', 'view'),
    ];
    const all = new ProviderRegistry([define('aws', { type: 'AWS' }, { assets: { objects } })]);
    const bind = (resource: string, name: string) => ({
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: [resource],
      resourceNames: [name],
      verbs: ['bind'],
    });
    const get = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
    assert.deepEqual(all.operatorRules(), [
      { rules: [get('nodes'), bind('clusterroles', 'view')] },
      {
        namespace: 'kube-system',
        rules: [get('leases'), bind('roles', 'there'), bind('clusterroles', 'admin')],
      },
    ]);
  });

  it('operator/case 22: has a new provider in every place as soon as it is registered, and is otherwise the same', () => {
    const [before, after] = [registry(), registry()];
    after.register(acme());
    const rule = { apiGroups: [''], resources: ['services'], verbs: ['get'] };
    assert.deepEqual(after.imageKeys(), [...before.imageKeys(), 'cloudControllerManageracme']);
    assert.deepEqual(after.imageReferences().spec.tags.toSpliced(-1), before.imageReferences().spec.tags);
    assert.equal(after.imageReferences().spec.tags.at(-1)?.name, 'acme-cloud-controller-manager');
    assert.deepEqual(
      after.operatorRules(),
      before.operatorRules().map((one) => ('namespace' in one ? one : { rules: [...one.rules, rule] })),
    );
    assert.deepEqual(after.credentialsRequests().toSpliced(-1), before.credentialsRequests());
    assert.equal(after.credentialsRequests().at(-1)?.metadata.name, 'openshift-acme');
    assert.deepEqual(after.syncedPlatforms(), [...before.syncedPlatforms(), 'External']);
    assert.deepEqual(after.platformTable(), [
      ...before.platformTable(),
      {
        id: 'acme',
        platform: 'External',
        objects: [
          'ClusterRole/services',
          'PodDisruptionBudget/acme-cloud-controller-manager',
          'Service/acme-cloud-controller-manager',
        ],
        images: ['cloudControllerManageracme', 'cloudControllerManagerOperator'],
        isConfigSynced: true,
        secrets: ['acme-credentials'],
        kubeletFlag: '--cloud-provider=external',
      },
    ]);
  });
});
