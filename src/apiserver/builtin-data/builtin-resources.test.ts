import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import type { Columns, Strategy } from '../registry/resource.ts';
import { builtinPackage, builtinResources, completeResource, kubernetesVersion } from './builtin-resources.ts';
import { builtinSchema, builtinTypeOf } from './builtin-schema.ts';
import { longName, shortName, tableOf } from './schema-name.ts';

const find = (kind: string, group = '') => {
  const found = builtinResources().find((resource) => resource.kind === kind && resource.group === group);
  return found ?? assert.fail(`${kind} is not built in`);
};

/** The node at a path of property names; `[]` goes to the items of a list, `{}` to the values of a map. */
function at(schema: Schema, ...path: readonly string[]): Schema {
  return path.reduce((node, step): Schema => {
    const values = node.additionalProperties;
    const next = step === '[]' ? node.items : step === '{}' ? values : node.properties?.[step];
    return typeof next === 'object' ? next : assert.fail(`${step} is not in the schema`);
  }, schema);
}

const GENERATED = new URL('../generated/', import.meta.url);
const generatedFiles = () => [
  'resources.json',
  ...['schemas', 'protobuf'].flatMap((folder) => filesOf(`${folder}/`)),
];
const filesOf = (folder: string) => readdirSync(new URL(folder, GENERATED)).map((name) => `${folder}${name}`);

describe('the generated tables', () => {
  it('style/S9: name their generator and the version they are from', () => {
    for (const name of generatedFiles()) {
      const { generator, kubernetes } = JSON.parse(readFileSync(new URL(name, GENERATED), 'utf8'));
      assert.deepEqual([generator, kubernetes], ['scripts/generate.ts', kubernetesVersion()], name);
    }
    assert.match(kubernetesVersion(), /^v1\.36\./);
  });

  it('are small: together below 500 kB, without descriptions of schemas', () => {
    const texts = generatedFiles().map((name) => readFileSync(new URL(name, GENERATED), 'utf8'));
    assert.ok(texts.join('').length < 500_000);
    assert.doesNotMatch(texts.join(''), /"description":"/);
  });
});

describe('built-in resources', () => {
  it('are those of the specification, core first', () => {
    const kinds = builtinResources().map(({ group, version, kind }) => `${group}/${version} ${kind}`);
    assert.equal(kinds[0], '/v1 Binding');
    for (const kind of [
      '/v1 Namespace',
      '/v1 Pod',
      'apps/v1 Deployment',
      'batch/v1 CronJob',
      'coordination.k8s.io/v1 Lease',
      'events.k8s.io/v1 Event',
      'apiextensions.k8s.io/v1 CustomResourceDefinition',
      'authorization.k8s.io/v1 SubjectAccessReview',
      'autoscaling/v1 HorizontalPodAutoscaler',
      'autoscaling/v2 HorizontalPodAutoscaler',
      'flowcontrol.apiserver.k8s.io/v1 FlowSchema',
    ]) {
      assert.ok(kinds.includes(kind), kind);
    }
    assert.ok(!kinds.some((kind) => /resource\.k8s\.io/.test(kind)));
  });

  it('know what discovery says about them', () => {
    const { schema: _, subresources, ...pods } = find('Pod');
    assert.deepEqual(pods, {
      group: '',
      version: 'v1',
      kind: 'Pod',
      listKind: 'PodList',
      plural: 'pods',
      singular: 'pod',
      shortNames: ['po'],
      categories: ['all'],
      isNamespaced: true,
      isCustom: false,
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      prefix: '/registry/core/pods/',
      storageVersion: 'v1',
      typeName: 'core.v1.Pod',
      isStored: true,
    });
    assert.deepEqual(subresources.get('eviction'), {
      name: 'eviction',
      kind: 'Eviction',
      group: 'policy',
      version: 'v1',
      verbs: ['create'],
      type: 'custom',
    });
    assert.equal(subresources.get('status')?.type, 'status');
  });

  it('apiserver/G12: share their storage where upstream does', () => {
    const event = find('Event', 'events.k8s.io');
    assert.deepEqual([event.prefix, event.storageGroup], ['/registry/core/events/', '']);
    const scalers = builtinResources().filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    assert.deepEqual(
      scalers.map(({ prefix, storageVersion }) => [prefix, storageVersion]),
      Array(2).fill(['/registry/autoscaling/horizontalpodautoscalers/', 'v2']),
    );
  });

  it('have a scale where they have replicas', () => {
    const scaled = builtinResources().filter(({ scale }) => scale !== undefined);
    assert.deepEqual(
      scaled.map(({ kind }) => kind),
      ['ReplicationController', 'Deployment', 'ReplicaSet', 'StatefulSet'],
    );
    assert.equal(scaled[0]?.subresources.get('scale')?.type, 'scale');
  });

  it('are not stored when they are only answered', () => {
    const answered = builtinResources().filter(({ isStored }) => !isStored);
    assert.ok(answered.every(({ verbs }) => ['create', 'get,list'].includes(verbs.join())));
    assert.equal(answered.length, 8);
  });

  it('become resources without making their schemas', () => {
    const strategy: Strategy = { tracksGeneration: true, allowsUnconditionalUpdate: true };
    const columns: Columns = { definitions: [], cells: () => [] };
    const resource = completeResource(find('Deployment', 'apps'), strategy, columns);
    assert.equal(typeof Object.getOwnPropertyDescriptor(resource, 'schema')?.get, 'function');
    assert.equal(resource.strategy, strategy);
    assert.equal(resource.columns, columns);
    assert.equal(resource.schema, builtinSchema('apps.v1.Deployment'));
  });

  it('know the package of their group version', () => {
    assert.equal(builtinPackage('rbac.authorization.k8s.io', 'v1'), 'rbac.v1');
    assert.equal(builtinPackage('ex.io', 'v1'), undefined);
  });
});

describe('the schema of a built-in resource', () => {
  it('holds other types in the place of references', () => {
    const container = at(find('Deployment', 'apps').schema, 'spec', 'template', 'spec', 'containers', '[]');
    assert.equal(at(container, 'name').type, 'string');
    assert.deepEqual(at(container, 'ports')['x-kubernetes-list-map-keys'], ['containerPort', 'protocol']);
    assert.equal(at(container, 'ports', '[]', 'protocol').default, 'TCP');
    assert.equal(at(find('Pod').schema, 'metadata', 'labels', '{}').type, 'string');
  });

  it('keeps what stands beside a reference', () => {
    const { schema } = find('Pod');
    assert.deepEqual(at(schema, 'metadata').default, {});
    assert.equal(builtinSchema('meta.v1.ObjectMeta').default, undefined);
  });

  it('may refer to itself', () => {
    const path = ['spec', 'versions', '[]', 'schema', 'openAPIV3Schema'];
    const schema = at(find('CustomResourceDefinition', 'apiextensions.k8s.io').schema, ...path);
    assert.equal(at(schema, 'not'), schema);
    assert.equal(at(schema, 'properties', '{}', 'properties', '{}', 'type').type, 'string');
  });

  it('tells types apart that look the same', () => {
    const spec = at(find('Lease', 'coordination.k8s.io').schema, 'spec');
    assert.equal(builtinTypeOf(at(spec, 'renewTime')), 'meta.v1.MicroTime');
    assert.equal(builtinTypeOf(at(find('Pod').schema, 'metadata')), 'meta.v1.ObjectMeta');
    assert.equal(builtinTypeOf(at(find('Pod').schema, 'kind')), undefined);
  });

  it('is made for every resource', () => {
    for (const { schema, kind } of builtinResources()) assert.equal(schema.type, 'object', kind);
  });

  it('is an error for a type that does not exist', () => {
    assert.throws(() => builtinSchema('core.v1.Nothing'), /no schema is generated for core\.v1\.Nothing/);
  });
});

describe('the name of a type', () => {
  for (const [short, long, table] of [
    ['core.v1.Pod', 'io.k8s.api.core.v1.Pod', 'core.v1'],
    ['meta.v1.Time', 'io.k8s.apimachinery.pkg.apis.meta.v1.Time', 'machinery'],
    ['resource.Quantity', 'io.k8s.apimachinery.pkg.api.resource.Quantity', 'machinery'],
    ['apiextensions.v1.JSON', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', 'apiextensions.v1'],
    [
      'apiregistration.v1.APIService',
      'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService',
      'apiregistration.v1',
    ],
  ] as const) {
    it(`${short} is short for ${long}`, () => {
      assert.deepEqual([shortName(long), longName(short), tableOf(short)], [short, long, table]);
    });
  }
});
