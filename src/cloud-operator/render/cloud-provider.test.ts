import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { CloudProviderDefinition, RenderContext } from '../definition.ts';
import { defineCloudProvider } from './cloud-provider.ts';
import { specimenContext } from './specimen.ts';

const FOLDER = new URL('testdata/acme', import.meta.url);

const acme = (changes: Partial<CloudProviderDefinition> = {}): CloudProviderDefinition => ({
  id: 'acme',
  match: { type: 'External' },
  images: {
    cloudControllerManagerAcme: {
      container: 'cloud-controller-manager',
      field: 'CloudControllerManager',
      payloadTag: 'acme-cloud-controller-manager',
    },
    cloudControllerManagerOperator: { field: 'Operator', payloadTag: 'operator' },
  },
  assets: { folder: FOLDER, files: ['deployment.yaml', 'role.yaml'] },
  bootstrapAssets: { folder: FOLDER, files: ['pod.yaml'] },
  values: ({ platformName }) => ({ region: `${platformName}-1` }),
  requiredValues: ['region', 'infrastructureName'],
  ...changes,
});

const context = (changes: Partial<RenderContext> = {}): RenderContext => ({
  ...specimenContext(acme()),
  images: new Map([
    ['cloudControllerManagerAcme', 'acme:1'],
    ['cloudControllerManagerOperator', 'operator:1'],
  ]),
  tls: { minVersion: '', cipherSuites: '' },
  ...changes,
});

/** A cluster whose Infrastructure says this. */
const withStatus = (status: NonNullable<RenderContext['infra']['status']>): RenderContext =>
  context({ infra: { ...specimenContext(acme()).infra, status } });

const namesOf = (objects: readonly KubeObject[]): readonly string[] =>
  objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);

const resources = (changes: Partial<CloudProviderDefinition>, around = context()): readonly KubeObject[] =>
  defineCloudProvider(acme(changes)).getResources(around);

function deployment(around: RenderContext): Deployment {
  const found = resources({}, around).find((object): object is Deployment => object.kind === 'Deployment');
  assert.ok(found !== undefined);
  return found;
}

describe('what a cloud provider has applied', () => {
  it('operator/case 1: is its own objects in order, then a budget and a Service', () => {
    const objects = resources({});
    assert.deepEqual(namesOf(objects), [
      'Deployment/acme-cloud-controller-manager',
      'Role/acme-cloud-controller-manager',
      'PodDisruptionBudget/acme-cloud-controller-manager',
      'Service/acme-cloud-controller-manager',
    ]);
    const { spec } = deployment(context());
    assert.equal(spec.replicas, 2);
    assert.doesNotMatch(spec.template.spec?.containers[0]?.command?.[2] ?? '', /--tls-/);
  });

  it('operator/case 2: has one replica and no budget where there is one control plane machine', () => {
    const objects = resources({}, context({ singleReplica: true }));
    assert.deepEqual(
      objects.map(({ kind }) => kind),
      ['Deployment', 'Role', 'Service'],
    );
    assert.equal(deployment(context({ singleReplica: true })).spec.replicas, 1);
  });

  it('operator/case 3: names the budget and the Service after the platform, whatever the provider is called', () => {
    const objects = resources({ id: 'ibm', match: { type: 'IBMCloud' } }, context({ platformType: 'IBMCloud' }));
    const selector = { 'infrastructure.openshift.io/cloud-controller-manager': 'IBMCloud' };
    const metadata = {
      name: 'ibmcloud-cloud-controller-manager',
      namespace: 'openshift-cloud-controller-manager',
    };
    assert.deepEqual(objects.slice(-2), [
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata,
        spec: { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: selector } },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { ...metadata, labels: { 'k8s-app': metadata.name } },
        spec: {
          type: 'ClusterIP',
          ports: [{ name: 'https', port: 10258 }],
          selector,
          sessionAffinity: 'None',
        },
      },
    ]);
  });

  it('operator/R95: has what templates name, and is named after the provider on the platform External', () => {
    const { metadata, spec } = deployment(context({ tls: { minVersion: 'VersionTLS13', cipherSuites: '' } }));
    assert.deepEqual(metadata.labels, { 'infrastructure.openshift.io/cloud-controller-manager': 'acme' });
    const { containers = [], initContainers = [] } = spec.template.spec ?? {};
    assert.deepEqual(
      [...initContainers, ...containers].map(({ image }) => image),
      ['operator:1', 'acme:1', 'acme-helper'],
    );
    assert.equal(
      containers[0]?.command?.[2],
      [
        'exec /bin/acme-cloud-controller-manager \\',
        '--cloud-provider=acme \\',
        '--tls-min-version=VersionTLS13 \\',
        '--region=specimen-1 \\',
        '--leader-elect-resource-namespace=openshift-cloud-controller-manager\n',
      ].join('\n'),
    );
  });

  it('operator/R25.5: is in the namespace that the operator manages', () => {
    const objects = resources({}, context({ managedNamespace: 'elsewhere' }));
    assert.deepEqual(
      objects.map(({ metadata }) => metadata.namespace),
      ['elsewhere', 'kube-system', 'elsewhere', 'elsewhere'],
    );
  });

  it('operator/case 5: is nothing without its images, with a message that names them', () => {
    assert.throws(() => resources({}, context({ images: new Map([['cloudControllerManagerAcme', '']]) })), {
      reason: 'MissingImages',
      disposition: 'terminal',
      message:
        'acme: missed images in config: CloudControllerManager: non zero value required;Operator: non zero value required (images.json lacks cloudControllerManagerAcme, cloudControllerManagerOperator)',
    });
  });

  it('operator/R20: does without an image that is optional', () => {
    const images = { ...acme().images, extra: { field: 'Extra', payloadTag: 'extra', optional: true } };
    assert.equal(resources({ images }).length, 4);
  });

  it('operator/R20: is nothing without values that must be there, with a message that names them', () => {
    assert.throws(() => resources({ values: () => ({ region: '' }) }, withStatus({})), {
      reason: 'MissingTemplateValues',
      disposition: 'terminal',
      message:
        'can not construct template values for acme assets: infrastructureName: non zero value required;region: non zero value required',
    });
  });

  it('operator/R23: is nothing when a template asks for a value that nobody gives', () => {
    assert.throws(() => resources({ values: () => ({}), requiredValues: [] }), {
      message: 'acme: deployment.yaml:34: there is no value .region',
    });
  });

  it('operator/R98: is nothing at all for a platform that brings its own, whatever the images', () => {
    assert.deepEqual(resources({ assets: { objects: [] } }, context({ images: new Map() })), []);
  });

  it('operator/R93: is nothing where the control plane runs elsewhere', () => {
    const around = withStatus({ controlPlaneTopology: 'External' });
    assert.deepEqual(resources({}, around), []);
    assert.deepEqual(defineCloudProvider(acme()).getBootstrapResources(around), []);
  });

  it('operator/R27: is the same each time, and nobody shares any of it', () => {
    const inline: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', labels: { a: 'b' } },
    };
    for (const assets of [acme().assets, { objects: [inline] }]) {
      const provider = defineCloudProvider(acme({ assets }));
      const getResources = () => provider.getResources(context());
      const getBootstrapResources = () => provider.getBootstrapResources(context());
      for (const get of [getResources, getBootstrapResources]) {
        const [first, second] = [get(), get()];
        const parts = partsOf(first);
        assert.equal(new Set(parts).size, parts.length, 'objects share a part');
        assert.deepEqual(first, second);
        assert.deepEqual(
          partsOf(second).filter((part) => parts.includes(part)),
          [],
        );
        for (const part of parts) Reflect.set(part, 'spoiled', true);
        assert.deepEqual(get(), second);
      }
    }
    assert.deepEqual(inline.metadata, { name: 'a', labels: { a: 'b' } });
  });
});

/** Every object and list of a value, itself included. */
const partsOf = (value: unknown): readonly object[] =>
  typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(partsOf)] : [];

describe('what a cloud provider has on the bootstrap machine', () => {
  it('operator/R95: is pods in kube-system with the images of the release', () => {
    const [pod, ...others] = defineCloudProvider(acme()).getBootstrapResources(context());
    assert.deepEqual(others, []);
    assert.deepEqual(pod?.metadata, { name: 'acme-cloud-controller-manager', namespace: 'kube-system' });
    assert.match(JSON.stringify(pod), /"image":"acme:1"/);
  });

  it('operator/R95: is nothing but pods', () => {
    const provider = defineCloudProvider(acme({ bootstrapAssets: { folder: FOLDER, files: ['role.yaml'] } }));
    assert.throws(() => provider.getBootstrapResources(context()), {
      message: 'acme: bootstrap/role.yaml: only static pods are allowed, found Role',
    });
  });

  it('operator/case 20: is nothing where the provider says nothing of it', () => {
    const { bootstrapAssets: _, ...definition } = acme();
    assert.deepEqual(defineCloudProvider(definition).getBootstrapResources(context({ images: new Map() })), []);
  });
});

describe('the definition of a cloud provider', () => {
  it('operator/R97: is frozen through and through, and whoever gave it keeps theirs', () => {
    const given = acme({ credentials: [{ name: 'a', secretName: 'b', providerSpec: { c: { d: 'e' } } }] });
    const { definition } = defineCloudProvider(given);
    assert.deepEqual(definition.credentials, given.credentials);
    assert.ok(Object.isFrozen(definition.credentials?.[0]?.providerSpec['c']));
    assert.ok(!Object.isFrozen(given.credentials));
  });

  const objects = (object: object): Partial<CloudProviderDefinition> => ({
    // What people write who are not told by a type checker.
    assets: { objects: [object as KubeObject] },
  });
  const files = (...names: string[]): Partial<CloudProviderDefinition> => ({
    assets: { folder: FOLDER, files: names },
  });
  const binding = { field: 'A', container: 'a', payloadTag: 'a' };
  const cases: readonly { name: string; given: Partial<CloudProviderDefinition>; want: RegExp }[] = [
    {
      name: 'an id that names nothing',
      given: { id: 'Acme' },
      want: /^cloud provider Acme: id "Acme" a lowercase/,
    },
    { name: 'a file that is not there', given: files('none.yaml'), want: /^cloud provider acme: ENOENT/ },
    {
      name: 'a file outside of the folder',
      given: files('../a.yaml'),
      want: /assets\.files: "\.\.\/a\.yaml" is not a file of/,
    },
    { name: 'an absolute file', given: files('/etc/passwd'), want: /is not a file of the folder/ },
    { name: 'a file twice', given: files('role.yaml', 'role.yaml'), want: /role\.yaml is there more than once/ },
    {
      name: 'a folder elsewhere',
      given: { assets: { folder: new URL('https://example.com/'), files: [] } },
      want: /assets\.folder is not a folder of this machine/,
    },
    {
      name: 'an object of another kind',
      given: objects({ kind: 'Job' }),
      want: /^acme: objects\[0\]: unhandled type Job/,
    },
    {
      name: 'two images of one field',
      given: { images: { a: binding, b: { ...binding, container: 'b' } } },
      want: /two images have the field A/,
    },
    {
      name: 'two images of one container',
      given: { images: { a: binding, b: { ...binding, field: 'B' } } },
      want: /two images are for the container a/,
    },
    {
      name: 'an image that nobody uses',
      given: { images: { a: { payloadTag: 'a' } } },
      want: /images\.a has neither field nor container/,
    },
    {
      name: 'a field that templates cannot name',
      given: { images: { a: { ...binding, field: 'a-b' } } },
      want: /cannot name the field "a-b"/,
    },
    {
      name: 'a key that is none',
      given: { images: { 'a-b': binding } },
      want: /"a-b" cannot be a key of images\.json/,
    },
    {
      name: 'a payload tag that is none',
      given: { images: { a: { ...binding, payloadTag: 'A' } } },
      want: /images\.a\.payloadTag "A" a lowercase/,
    },
    {
      name: 'a cloud config from nowhere',
      given: { cloudConfig: { sources: [] } },
      want: /cloudConfig\.sources is empty/,
    },
    {
      name: 'a waiver without a reason',
      given: { lint: { ignore: [{ rule: 'CCM-W07', reason: ' ' }] } },
      want: /CCM-W07 is waived without a reason/,
    },
    {
      name: 'credentials twice',
      given: { credentials: ['a', 'b'].map((secretName) => ({ name: 'x', secretName, providerSpec: {} })) },
      want: /credentials: x is there more than once/,
    },
  ];
  for (const { name, given, want } of cases) {
    it(`operator/R97: is refused with ${name}`, () => {
      assert.throws(() => defineCloudProvider(acme(given)), { message: want });
    });
  }

  it('operator/R97: is refused with everything that is wrong at once', () => {
    assert.throws(() => defineCloudProvider(acme({ id: 'A', cloudConfig: { sources: [] } })), {
      reason: 'InvalidDefinition',
      message: /id "A" .*; cloudConfig\.sources/,
    });
  });
});
