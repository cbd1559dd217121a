import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldErrorText } from '../../object/field-error.ts';
import { cloneJson, type Json, type JsonObject } from '../../object/json.ts';
import type { WriteContext } from '../registry/resource.ts';
import { type CustomResource, customResources } from './custom-resource.ts';
import { decodeCustomResource } from './decoding.ts';

const context: WriteContext = {
  now: new Date(0),
  isDryRun: false,
  subresource: '',
  user: { name: 'a', groups: [] },
};
const onStatus: WriteContext = { ...context, subresource: 'status' };

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        color: { type: 'string', default: 'red', enum: ['red', 'blue'] },
        replicas: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
      'x-kubernetes-validations': [{ rule: '!has(self.replicas) || self.replicas != 13', message: 'no 13' }],
    },
    status: {
      type: 'object',
      properties: {
        phase: { type: 'string', maxLength: 3 },
        replicas: { type: 'integer' },
        selector: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

const definition = (version: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['w'],
      categories: ['all'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: SCHEMA },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.replicas' }],
        ...version,
      },
    ],
    ...spec,
  },
});

function resourceOf(crd: JsonObject = definition()): CustomResource {
  const [resource] = customResources(crd);
  assert.ok(resource);
  return resource;
}

const widget = (fields: JsonObject): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a' },
  ...fields,
});

const createErrors = (fields: JsonObject, resource = resourceOf()): readonly string[] =>
  (resource.strategy.validate?.(widget(fields), context) ?? []).map(fieldErrorText);
const updateErrors = (old: JsonObject, fields: JsonObject, on = context): readonly string[] =>
  (resourceOf().strategy.validateUpdate?.(widget(fields), widget(old), on) ?? []).map(fieldErrorText);
const NOT_CHECKED =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

describe('custom resources', () => {
  it('serves each version that is to be served', () => {
    const versions: Json[] = ['v1', 'v2', 'v3'].map((name) => ({
      name,
      served: name !== 'v2',
      storage: name === 'v2',
    }));
    const crd = definition({}, { versions });
    assert.deepEqual(
      customResources(crd).map(({ version, storageVersion }) => [version, storageVersion]),
      [
        ['v1', 'v2'],
        ['v3', 'v2'],
      ],
    );
  });

  it('tells discovery and storage what they need', () => {
    const { columns: _columns, strategy: _strategy, schema, userSchema, subresources, ...rest } = resourceOf();
    assert.deepEqual(rest, {
      group: 'example.com',
      version: 'v1',
      kind: 'Widget',
      listKind: 'WidgetList',
      plural: 'widgets',
      singular: 'widget',
      shortNames: ['w'],
      categories: ['all'],
      isNamespaced: true,
      isCustom: true,
      verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
      prefix: '/registry/example.com/widgets/',
      storageVersion: 'v1',
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
      deprecationWarning: undefined,
    });
    assert.deepEqual([...subresources.keys()], ['status', 'scale']);
    assert.equal(userSchema, SCHEMA);
    assert.deepEqual(Object.keys(schema.properties ?? {}), ['spec', 'status', 'apiVersion', 'kind', 'metadata']);
  });

  it('goes by the names that were accepted', () => {
    const crd = {
      ...definition(),
      status: { acceptedNames: { plural: 'widgets', singular: 'thing', kind: 'Thing', listKind: 'ThingList' } },
    };
    assert.equal(resourceOf(crd).kind, 'Thing');
  });

  it('apiserver/X10: defaults what it reads', () => {
    const object = widget({ spec: {} });
    resourceOf().strategy.setDefaults?.(object);
    assert.deepEqual(object['spec'], { color: 'red' });
  });

  it('gives the values of selectable fields', () => {
    const fields = resourceOf().strategy.selectableFields ?? {};
    assert.deepEqual(Object.keys(fields), ['spec.color', 'spec.replicas']);
    assert.equal(fields['spec.color']?.(widget({ spec: { color: 'red' } })), 'red');
    assert.equal(fields['spec.replicas']?.(widget({ spec: { replicas: 3 } })), '3');
    assert.equal(fields['spec.replicas']?.(widget({})), '');
  });

  it('apiserver/S2: owns no status in writes to the object and nothing else in writes to the status', () => {
    assert.deepEqual(resourceOf().strategy.resetFields, { '': ['status'], status: ['metadata', 'spec'] });
    assert.deepEqual(resourceOf(definition({ subresources: null })).strategy.resetFields, {
      status: ['metadata', 'spec'],
    });
  });
});

describe('writes of custom resources', () => {
  it('apiserver/M8: leaves counting the generation to the engine', () => {
    const { strategy } = resourceOf();
    assert.equal(strategy.tracksGeneration, true);
    assert.equal(strategy.allowsUnconditionalUpdate, false);
  });

  it('ignores the status where it has an endpoint of its own', () => {
    const { strategy } = resourceOf();
    const created = widget({ status: { phase: 'x' } });
    strategy.prepareForCreate?.(created, context);
    assert.equal('status' in created, false);
    const updated = widget({ status: { phase: 'y' } });
    strategy.prepareForUpdate?.(updated, widget({ status: { phase: 'x' } }), context);
    assert.deepEqual(updated['status'], { phase: 'x' });
    strategy.prepareForUpdate?.(updated, widget({}), context);
    assert.equal('status' in updated, false);
    const plain = widget({ status: { phase: 'y' } });
    resourceOf(definition({ subresources: null })).strategy.prepareForUpdate?.(plain, widget({}), context);
    assert.deepEqual(plain['status'], { phase: 'y' });
  });

  it('apiserver/W10: takes only the status and its owners on /status', () => {
    const old = widget({
      metadata: { name: 'a', labels: { a: 'b' }, managedFields: [1] },
      spec: { color: 'red' },
      status: { phase: 'x' },
    });
    const before = cloneJson(old);
    const object = widget({
      metadata: { name: 'a', labels: {}, managedFields: [2] },
      spec: {},
      extra: 1,
      status: { phase: 'y' },
    });
    resourceOf().strategy.prepareForUpdate?.(object, old, onStatus);
    assert.deepEqual(
      object,
      widget({
        metadata: { name: 'a', labels: { a: 'b' }, managedFields: [2] },
        spec: { color: 'red' },
        status: { phase: 'y' },
      }),
    );
    assert.deepEqual(old, before);
  });

  it('apiserver/X14: refuses another kind and nothing more', () => {
    assert.deepEqual(createErrors({ kind: 'Gadget', spec: { color: 5 } }), [
      'kind: Invalid value: "Gadget": must be Widget',
    ]);
    assert.deepEqual(createErrors({ apiVersion: 'example.com/v2' }), [
      'apiVersion: Invalid value: "example.com/v2": must be example.com/v1',
    ]);
  });

  it('apiserver/X18: says that rules were not checked when the shape is wrong', () => {
    assert.deepEqual(createErrors({ spec: { color: 'green', replicas: 13 } }), [
      'spec.color: Unsupported value: "green": supported values: "red", "blue"',
      NOT_CHECKED,
    ]);
    assert.deepEqual(createErrors({ spec: { replicas: 13 } }), ['spec: Invalid value: no 13']);
  });

  const replicas: readonly (readonly [value: Json, problem: string])[] = [
    [-1, '.spec.replicas: Invalid value: -1: should be a non-negative integer'],
    [2 ** 31, '.spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647'],
    [
      'x',
      '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected int64',
    ],
    [
      { b: [1, null], a: true },
      '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: map[a:true b:[1 <nil>]] is of the type map[string]interface {}, expected int64',
    ],
    [
      1.5,
      '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1.5 is of the type float64, expected int64',
    ],
  ];
  for (const [value, problem] of replicas) {
    it(`apiserver/X20: cannot scale ${JSON.stringify(value)}`, () => {
      const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
      const resource = resourceOf(definition({ schema: { openAPIV3Schema: open } }));
      assert.deepEqual(createErrors({ spec: { replicas: value } }, resource), [problem]);
    });
  }

  it('apiserver/X20: looks at the selector and at what is on the way', () => {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const resource = resourceOf(definition({ schema: { openAPIV3Schema: open } }));
    assert.deepEqual(createErrors({ spec: 'x', status: { selector: [1] } }, resource), [
      '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected map[string]interface{}',
      '.status.selector: Invalid value: "": .status.selector accessor error: [1] is of the type []interface {}, expected string',
    ]);
  });

  it('apiserver/X23: checks uniqueness on update only if it held before', () => {
    assert.deepEqual(updateErrors({ spec: { tags: ['a', 'a'] } }, { spec: { tags: ['a', 'a', 'b'] } }), []);
    assert.deepEqual(updateErrors({ spec: { tags: ['a'] } }, { spec: { tags: ['a', 'a'] } }), [
      'spec.tags[1]: Duplicate value: "a"',
    ]);
  });

  it('apiserver/X22: forgives a rule where nothing changed', () => {
    assert.deepEqual(updateErrors({ spec: { replicas: 13 } }, { spec: { replicas: 13 } }), []);
    assert.deepEqual(updateErrors({ spec: { replicas: 13 } }, { spec: { replicas: 13, color: 'red' } }), [
      'spec: Invalid value: no 13',
    ]);
  });

  it('apiserver/X21: ratchets the status by itself', () => {
    assert.deepEqual(
      updateErrors({ status: { phase: 'long' } }, { status: { phase: 'long', replicas: 1 } }, onStatus),
      [],
    );
    assert.deepEqual(updateErrors({}, { status: { phase: 'long' } }, onStatus), [
      'status.phase: Too long: may not be more than 3 bytes',
      NOT_CHECKED,
    ]);
  });

  it('judges embedded resources and kinds on update as on create', () => {
    assert.deepEqual(updateErrors({ spec: { template: {} } }, { spec: { template: {} } }), [
      'spec.template.apiVersion: Required value',
      'spec.template.kind: Required value',
      NOT_CHECKED,
    ]);
    assert.deepEqual(updateErrors({}, { kind: 'X' }), ['kind: Invalid value: "X": must be Widget']);
  });

  it('warns of new finalizers without a domain', () => {
    const { strategy } = resourceOf();
    const object = widget({ metadata: { finalizers: ['b', 'a', 'a', 'x.com/y'] } });
    assert.equal(strategy.warnings?.(object, undefined)?.length, 2);
    assert.equal(strategy.warnings?.(object, widget({ metadata: { finalizers: ['a'] } }))?.length, 1);
    assert.deepEqual(strategy.warnings?.(widget({}), undefined), []);
  });
});

describe('decoding of custom resources', () => {
  it('apiserver/W3: reports metadata first, then the rest, then embedded metadata', () => {
    const object = widget({
      zzz: 1,
      metadata: { name: 'a', foo: 1 },
      spec: { y: 1, template: { metadata: { x: 1 } } },
    });
    const { unknown } = decodeCustomResource(object, resourceOf().userSchema);
    assert.deepEqual(unknown, ['metadata.foo', 'spec.y', 'zzz', 'spec.template.metadata.x']);
  });

  const unreadable: readonly (readonly [fields: JsonObject, problem: RegExp])[] = [
    [{ kind: 5 }, /^\.kind accessor error: 5 is of the type int64, expected string$/],
    [{ apiVersion: [] }, /is of the type \[\]interface \{\}, expected string$/],
    [{ apiVersion: {} }, /map\[string\]interface/],
    [{ kind: true }, /bool/],
    [{ kind: 1.5 }, /float64/],
    [{ metadata: 'x' }, /^json: cannot unmarshal string into Go value of type v1\.ObjectMeta$/],
    [{ metadata: [] }, /cannot unmarshal array/],
    [{ metadata: false }, /cannot unmarshal bool/],
    [
      { metadata: { labels: 'x' } },
      /^json: cannot unmarshal string into Go struct field ObjectMeta\.labels of type map\[string\]string$/,
    ],
  ];
  for (const [fields, problem] of unreadable) {
    it(`cannot read ${JSON.stringify(fields)}`, () => {
      assert.match(decodeCustomResource(widget(fields), resourceOf().userSchema).problem ?? '', problem);
    });
  }

  it('takes null for empty metadata and leaves objects of other kinds whole', () => {
    const object = widget({ metadata: null, zzz: 1 });
    assert.deepEqual(decodeCustomResource(object, undefined), { unknown: [], problem: undefined });
    assert.deepEqual(object, widget({ metadata: {}, zzz: 1 }));
  });
});

describe('deprecated versions', () => {
  const versions = (warning?: string): Json[] => [
    {
      name: 'v1beta1',
      served: true,
      deprecated: true,
      ...(warning !== undefined && { deprecationWarning: warning }),
    },
    { name: 'v1', served: true, storage: true },
    { name: 'v2', served: false },
    { name: 'v2alpha1', served: true },
  ];
  const warningOf = (list: Json[]): string | undefined =>
    resourceOf(definition({}, { versions: list })).deprecationWarning;

  it('apiserver/X36: recommends the newest version', () => {
    assert.equal(warningOf(versions()), 'example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget');
    assert.equal(warningOf(versions().slice(0, 1)), 'example.com/v1beta1 Widget is deprecated');
    assert.equal(warningOf(versions('go away')), 'go away');
  });
});
