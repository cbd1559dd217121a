import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assertGoldenFile } from '../../../test/support/golden-file.ts';
import { objectDifferences, objectTitle } from '../../../test/support/object-differences.ts';
import { PLATFORM_VARIANTS, platformContext } from '../../../test/support/platform-contexts.ts';
import type { PodSpec } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { PlatformStatus } from '../../api/openshift/config-v1.ts';
import { printYamlBody } from '../../object/yaml-print.ts';
import type { AssetSource, CloudProviderDefinition, RenderContext } from '../definition.ts';
import { defineCloudProvider } from '../render/cloud-provider.ts';
import { PLATFORMS } from './index.ts';

const NAMESPACE = 'openshift-cloud-controller-manager';
const CCM = 'cloud-controller-manager';
const POLICY = 'ValidatingAdmissionPolicy';

/** What comes last on every platform that has anything, named after its lower-cased type. */
const common = (type: string) => [
  `PodDisruptionBudget/${NAMESPACE}/${type}-${CCM}`,
  `Service/${NAMESPACE}/${type}-${CCM}`,
];

const AZURE_WORKLOADS = [
  `Deployment/${NAMESPACE}/azure-${CCM}`,
  `DaemonSet/${NAMESPACE}/azure-cloud-node-manager`,
  'Role/kube-system/azure-cloud-provider',
  'RoleBinding/kube-system/azure-cloud-provider:azure-cloud-provider',
];

interface Row {
  readonly id: string;
  readonly status: PlatformStatus;
  /** Kind, namespace if it is in one, and name, in the order in which they are applied. */
  readonly objects: readonly string[];
  /** With several control-plane machines, and with one. */
  readonly counts: readonly [number, number];
  /** By the fields of the templates, in alphabetical order. */
  readonly images: readonly string[];
  readonly needsName: boolean;
  readonly sources?: readonly string[];
  readonly credentials: readonly string[];
}

const AZURE_FACTS = {
  needsName: true,
  sources: ['managed', 'user'],
  credentials: ['openshift-azure-cloud-controller-manager -> azure-cloud-credentials'],
};

/** Table 4.2, and what sections 12 and 16 say about the same platforms. */
const TABLE: readonly Row[] = [
  {
    id: 'aws',
    status: { type: 'AWS' },
    objects: [
      `Deployment/${NAMESPACE}/aws-${CCM}`,
      `${POLICY}/openshift-${CCM}-cloud-provider-aws`,
      `${POLICY}Binding/openshift-${CCM}-cloud-provider-aws`,
      ...common('aws'),
    ],
    counts: [5, 4],
    images: ['CloudControllerManager'],
    needsName: false,
    sources: ['managed', 'user'],
    credentials: [],
  },
  {
    id: 'azure',
    status: { type: 'Azure', azure: { cloudName: 'AzurePublicCloud' } },
    objects: [
      ...AZURE_WORKLOADS,
      `ClusterRole/azure-${CCM}`,
      `ClusterRoleBinding/${CCM}:azure-${CCM}`,
      `${POLICY}/openshift-${CCM}-cloud-provider-azure-node-admission`,
      `${POLICY}Binding/openshift-${CCM}-cloud-provider-azure-node-admission`,
      `${POLICY}Binding/azure-load-balancer-tcp-idle-timeout-validation-annotation-binding`,
      `${POLICY}/azure-load-balancer-tcp-idle-timeout-annotation-validation-policy`,
      ...common('azure'),
    ],
    counts: [12, 11],
    images: ['CloudControllerManager', 'CloudControllerManagerOperator', 'CloudNodeManager'],
    ...AZURE_FACTS,
  },
  {
    id: 'azurestack',
    status: { type: 'Azure', azure: { cloudName: 'AzureStackCloud' } },
    objects: [...AZURE_WORKLOADS, ...common('azure')],
    counts: [6, 5],
    images: ['CloudControllerManager', 'CloudNodeManager', 'Operator'],
    ...AZURE_FACTS,
  },
  {
    id: 'gcp',
    status: { type: 'GCP' },
    objects: [
      `Deployment/${NAMESPACE}/gcp-${CCM}`,
      `ClusterRole/gcp-${CCM}`,
      `ClusterRoleBinding/gcp-${CCM}:cloud-provider`,
      `${POLICY}Binding/network-tier-annotation-binding`,
      `${POLICY}/network-tier-annotation-validation-policy`,
      ...common('gcp'),
    ],
    counts: [7, 6],
    images: ['CloudControllerManager'],
    needsName: true,
    sources: ['user'],
    credentials: ['openshift-gcp-ccm -> gcp-ccm-cloud-credentials'],
  },
  {
    id: 'ibm',
    status: { type: 'IBMCloud' },
    objects: [`Deployment/${NAMESPACE}/ibm-${CCM}`, ...common('ibmcloud')],
    counts: [3, 2],
    images: ['CloudControllerManager'],
    needsName: false,
    sources: ['user'],
    credentials: ['openshift-ibm-cloud-controller-manager -> ibm-cloud-credentials'],
  },
  {
    id: 'powervs',
    status: { type: 'PowerVS' },
    objects: [`Deployment/${NAMESPACE}/powervs-${CCM}`, ...common('powervs')],
    counts: [3, 2],
    images: ['CloudControllerManager'],
    needsName: false,
    sources: ['user'],
    credentials: ['openshift-powervs-cloud-controller-manager -> ibm-cloud-credentials'],
  },
  {
    id: 'openstack',
    status: { type: 'OpenStack' },
    objects: [`Deployment/${NAMESPACE}/openstack-${CCM}`, ...common('openstack')],
    counts: [3, 2],
    images: ['CloudControllerManager'],
    needsName: true,
    sources: ['user'],
    credentials: ['openshift-openstack-cloud-controller-manager -> openstack-cloud-credentials'],
  },
  {
    id: 'vsphere',
    status: { type: 'VSphere' },
    objects: [
      `Deployment/${NAMESPACE}/vsphere-${CCM}`,
      `Role/${NAMESPACE}/vsphere-${CCM}`,
      `RoleBinding/${NAMESPACE}/vsphere-${CCM}:vsphere-${CCM}`,
      `RoleBinding/${NAMESPACE}/vsphere-${CCM}:${CCM}`,
      `ClusterRole/vsphere-${CCM}`,
      `ClusterRoleBinding/vsphere-${CCM}:vsphere-${CCM}`,
      `ClusterRoleBinding/vsphere-${CCM}:${CCM}`,
      ...common('vsphere'),
    ],
    counts: [9, 8],
    images: ['CloudControllerManager'],
    needsName: true,
    sources: ['user'],
    credentials: ['openshift-vsphere-cloud-controller-manager -> vsphere-cloud-credentials'],
  },
  {
    id: 'nutanix',
    status: { type: 'Nutanix' },
    objects: [
      `Deployment/${NAMESPACE}/nutanix-${CCM}`,
      `Role/${NAMESPACE}/nutanix-${CCM}`,
      `RoleBinding/${NAMESPACE}/nutanix-${CCM}:nutanix-${CCM}`,
      `ClusterRole/nutanix-${CCM}`,
      `ClusterRoleBinding/nutanix-${CCM}:nutanix-${CCM}`,
      ...common('nutanix'),
    ],
    counts: [7, 6],
    images: ['CloudControllerManager'],
    needsName: true,
    sources: ['user'],
    credentials: ['openshift-nutanix-cloud-controller-manager -> nutanix-credentials'],
  },
  ...(['AlibabaCloud', 'KubeVirt'] as const).map((type) => ({
    id: type.toLowerCase(),
    status: { type },
    objects: [],
    counts: [0, 0] as const,
    images: [],
    needsName: false,
    credentials: [],
  })),
];

const definitionOf = (id: string): CloudProviderDefinition =>
  PLATFORMS.find((definition) => definition.id === id) ?? assert.fail(`no platform ${id}`);

const render = ({ id, status }: Row, changes?: Partial<RenderContext>): KubeObject[] =>
  defineCloudProvider(definitionOf(id)).getResources(platformContext(status, changes));

const renderBootstrap = ({ id, status }: Row): KubeObject[] =>
  defineCloudProvider(definitionOf(id)).getBootstrapResources(platformContext(status));

const podOf = (object: KubeObject): PodSpec | undefined =>
  (object as { readonly spec?: { readonly template?: { readonly spec?: PodSpec } } }).spec?.template?.spec;

/** With sorted keys: where a manifest has its fields does not matter. */
const yaml = (objects: readonly KubeObject[]): string =>
  objects.map((object) => `---\n${printYamlBody(JSON.parse(JSON.stringify(object)))}`).join('');

/** What the variants change is said in comments: the file stays YAML, and is not ten times as long. */
const goldenText = (row: Row): string => {
  const plain = render(row);
  const changes = PLATFORM_VARIANTS.slice(1).flatMap(([name, variant]) => {
    const lines = objectDifferences(plain, render(row, variant));
    return [
      `${name}: ${lines.length === 0 ? 'no difference' : ''}`.trimEnd(),
      ...lines.map((line) => `  ${line}`),
    ];
  });
  const bootstrap = renderBootstrap(row);
  return [
    `# ${row.id} as ha.plain\n${yaml(plain)}`,
    bootstrap.length === 0 ? '' : `# ${row.id} on the bootstrap machine\n${yaml(bootstrap)}`,
    ...changes.map((line) => `# ${line}\n`),
  ].join('');
};

/** Every object and list inside, itself included. */
const partsOf = (value: unknown): object[] =>
  typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(partsOf)] : [];

const foldersOf = ({ assets, bootstrapAssets }: CloudProviderDefinition) =>
  [assets, bootstrapAssets].filter(
    (source): source is Extract<AssetSource, { readonly folder: URL }> =>
      source !== undefined && 'folder' in source,
  );

const COMMON_FLAGS = [
  '--leader-elect=true',
  '--leader-elect-lease-duration=137s',
  '--leader-elect-renew-deadline=107s',
  '--leader-elect-retry-period=26s',
  '--leader-elect-resource-namespace=openshift-cloud-controller-manager',
  '--configure-cloud-routes=false',
  '--use-service-account-credentials=true',
];

describe('the built-in platforms', () => {
  it('operator/R98: are the nine of upstream and two that bring their own', () => {
    assert.deepEqual(
      PLATFORMS.map(({ id }) => id),
      TABLE.map(({ id }) => id),
    );
  });

  for (const row of TABLE) {
    it(`operator/R98: ${row.id} is the only one for its clusters`, () => {
      const chosen = PLATFORMS.filter(({ match }) => match.type === row.status.type).filter(
        ({ match }) => match.type === 'External' || match.when?.(row.status) !== false,
      );
      assert.deepEqual(
        chosen.map(({ id }) => id),
        [row.id],
      );
    });

    it(`operator/R98: ${row.id} has the objects of table 4.2, in this order`, () => {
      const [several, single] = [render(row), render(row, { singleReplica: true })].map((all) =>
        all.map(objectTitle),
      );
      assert.deepEqual(several, row.objects);
      assert.deepEqual(
        single,
        row.objects.filter((title) => !title.startsWith('PodDisruptionBudget/')),
      );
      assert.deepEqual([several?.length, single?.length], row.counts);
    });

    it(`operator/R27: ${row.id} is the same each time, and nothing of it is shared`, () => {
      const definition = defineCloudProvider(definitionOf(row.id));
      const context = platformContext(row.status);
      const all = () => [...definition.getResources(context), ...definition.getBootstrapResources(context)];
      const [first, second] = [all(), all()];
      assert.deepEqual(first, second);
      const parts = partsOf(first);
      assert.equal(new Set([...parts, ...partsOf(second)]).size, 2 * parts.length);
      for (const part of parts) for (const key of Object.keys(part)) Reflect.deleteProperty(part, key);
      assert.deepEqual(all(), second, 'what was done to the first is not seen later');
    });

    it(`operator/CCM-T06: ${row.id} renders every file of its folders`, () => {
      for (const { folder, files } of foldersOf(definitionOf(row.id))) {
        assert.deepEqual(readdirSync(folder).sort(), [...files].sort());
      }
    });

    it(`operator/R64: ${row.id} gets its cloud config from where it is`, () => {
      assert.deepEqual(definitionOf(row.id).cloudConfig?.sources, row.sources);
    });

    it(`operator/CCM-W34: ${row.id} asks for the credentials that it mounts`, () => {
      const { credentials = [] } = definitionOf(row.id);
      assert.deepEqual(
        credentials.map(({ name, secretName }) => `${name} -> ${secretName}`),
        row.credentials,
      );
      const mounted = render(row)
        .flatMap((object) => podOf(object)?.volumes ?? [])
        .flatMap(({ secret }) => secret?.secretName ?? []);
      const known = new Set(credentials.map(({ secretName }) => secretName));
      assert.deepEqual(
        mounted.filter((name) => !known.has(name)),
        [],
      );
    });

    it(`operator/R96: ${row.id} waives lint rules for objects that it has, and says why`, () => {
      const titles = new Set(render(row).map(({ kind, metadata }) => `${kind}/${metadata.name}`));
      for (const { object, reason } of definitionOf(row.id).lint?.ignore ?? []) {
        assert.ok(object !== undefined && titles.has(object), object);
        assert.match(reason, /^[A-Z].+\.$/);
      }
    });
  }

  for (const row of TABLE.filter(({ objects }) => objects.length > 0)) {
    it(`operator/R98: ${row.id} is rendered as its golden file says, in every variant`, () => {
      assertGoldenFile(join(import.meta.dirname, 'testdata', `${row.id}.golden.yaml`), goldenText(row));
    });

    it(`operator/R26: ${row.id} tells its cloud controller manager what all of them are told`, () => {
      const deployment = render(row).find(({ kind }) => kind === 'Deployment') ?? assert.fail('no Deployment');
      const words = JSON.stringify(podOf(deployment)?.containers[0]?.command).split(/\\\\\\n|\\n|\s+|"/);
      for (const flag of COMMON_FLAGS) assert.ok(words.includes(flag), `${flag} in ${words.join(' ')}`);
    });

    it(`operator/R20: ${row.id} cannot be rendered without its images`, () => {
      const missing = row.images.map((field) => `${field}: non zero value required`).join(';');
      const keys = Object.keys(definitionOf(row.id).images).toSorted().join(', ');
      const message = `${row.id}: missed images in config: ${missing} (images.json lacks ${keys})`;
      assert.throws(() => render(row, { images: new Map() }), { message });
    });

    it(`operator/R20: ${row.id} ${row.needsName ? 'cannot' : 'can'} be rendered without a name of the cluster`, () => {
      const { infra } = platformContext(row.status);
      const nameless = { infra: { ...infra, status: { platformStatus: row.status } } };
      if (!row.needsName) return assert.deepEqual(render(row, nameless), render(row));
      const message = `can not construct template values for ${row.id} assets: infrastructureName: non zero value required`;
      assert.throws(() => render(row, nameless), { message });
    });

    it(`operator/R25: ${row.id} is wholly in another namespace when told so`, () => {
      const text = yaml(render(row, { managedNamespace: 'elsewhere' }));
      assert.doesNotMatch(text, /openshift-cloud-controller-manager(?!-cloud-provider)/);
    });
  }
});

describe('what is special about a platform', () => {
  const rowOf = (id: string): Row => TABLE.find((row) => row.id === id) ?? assert.fail(id);

  it('operator/R71: a cluster of Azure that does not say which cloud it is in is in the public one', () => {
    const chosen = PLATFORMS.filter(({ match }) => match.type === 'Azure' && match.when?.({ type: 'Azure' }));
    assert.deepEqual(
      chosen.map(({ id }) => id),
      ['azure'],
    );
  });

  it('operator/R65: Azure Stack Hub needs the addresses of its services besides', () => {
    assert.deepEqual(definitionOf('azurestack').cloudConfig?.requiredKeys, ['endpoints']);
    assert.deepEqual(
      PLATFORMS.filter(({ cloudConfig }) => cloudConfig?.requiredKeys !== undefined).map(({ id }) => id),
      ['azurestack'],
    );
  });

  it('operator/R96: both kinds of Azure share one request for credentials, for the payload holds it once', () => {
    assert.deepEqual(definitionOf('azurestack').credentials, definitionOf('azure').credentials);
  });

  it('operator/R87: AWS and Azure have a static pod each for the bootstrap machine, nobody else has any', () => {
    const pods = TABLE.flatMap((row) => renderBootstrap(row).map((object) => `${row.id} ${objectTitle(object)}`));
    assert.deepEqual(pods, [`aws Pod/kube-system/aws-${CCM}`, `azure Pod/kube-system/azure-${CCM}`]);
  });

  it('operator/case 1: AWS with nothing but its image says nothing about TLS and has two replicas', () => {
    const images = new Map([['cloudControllerManagerAWS', 'registry.example/aws:1']]);
    const objects = render(rowOf('aws'), { images });
    assert.equal(objects.length, 5);
    assert.doesNotMatch(yaml(objects), /--tls-/);
    assert.match(yaml(objects), /^ {2}replicas: 2$/m);
  });

  it('operator/case 2: AWS on a single machine has one replica and no disruption budget', () => {
    const objects = render(rowOf('aws'), { singleReplica: true });
    assert.equal(objects.length, 4);
    assert.match(yaml(objects), /^ {2}replicas: 1$/m);
    assert.ok(objects.every(({ kind }) => kind !== 'PodDisruptionBudget'));
  });

  it('operator/R10: the images are those of images.json, with the tags of the payload', () => {
    const tags = PLATFORMS.flatMap(({ images }) =>
      Object.entries(images).map(([key, { payloadTag }]) => `${key} ${payloadTag}`),
    );
    assert.deepEqual([...new Set(tags)].sort(), [
      'cloudControllerManagerAWS aws-cloud-controller-manager',
      'cloudControllerManagerAzure azure-cloud-controller-manager',
      'cloudControllerManagerGCP gcp-cloud-controller-manager',
      'cloudControllerManagerIBM ibm-cloud-controller-manager',
      'cloudControllerManagerNutanix nutanix-cloud-controller-manager',
      'cloudControllerManagerOpenStack openstack-cloud-controller-manager',
      'cloudControllerManagerOperator cluster-cloud-controller-manager-operator',
      'cloudControllerManagerPowerVS powervs-cloud-controller-manager',
      'cloudControllerManagerVSphere vsphere-cloud-controller-manager',
      'cloudNodeManagerAzure azure-cloud-node-manager',
    ]);
  });
});
