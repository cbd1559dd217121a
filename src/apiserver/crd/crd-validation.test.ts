import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fieldErrorText } from '../../object/field-error.ts';
import type { Json, JsonObject } from '../../object/json.ts';
import type { WriteContext } from '../registry/resource.ts';
import { crdStrategy } from './crd-strategy.ts';

const context: WriteContext = {
  now: new Date(0),
  isDryRun: false,
  subresource: '',
  user: { name: 'a', groups: [] },
};

interface Parts {
  readonly schema?: JsonObject;
  readonly version?: JsonObject;
  readonly spec?: JsonObject;
  readonly metadata?: JsonObject;
}

const widget = ({ schema, version, spec, metadata }: Parts = {}): JsonObject => ({
  metadata: { name: 'widgets.example.com', ...metadata },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema ?? { type: 'object' } },
        ...version,
      },
    ],
    ...spec,
  },
});

function created(parts: Parts): JsonObject {
  const crd = widget(parts);
  crdStrategy.setDefaults?.(crd);
  crdStrategy.prepareForCreate?.(crd, context);
  return crd;
}

const errorsOf = (parts: Parts): readonly string[] =>
  (crdStrategy.validate?.(created(parts), context) ?? []).map(fieldErrorText);

const updateErrors = (old: JsonObject, crd: JsonObject): readonly string[] => {
  crdStrategy.setDefaults?.(crd);
  crdStrategy.prepareForUpdate?.(crd, old, context);
  return (crdStrategy.validateUpdate?.(crd, old, context) ?? []).map(fieldErrorText);
};

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const field = (a: JsonObject): Parts => ({ schema: object({ a }) });
const webhook = (clientConfig: Json, more: JsonObject = {}): Parts => ({
  spec: {
    conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'], ...more } },
  },
});

interface BadDefinition {
  readonly parts: Parts;
  /** How each error starts. The conformance test compares whole texts with the real server. */
  readonly errors: readonly string[];
}

const BAD: readonly BadDefinition[] = JSON.parse(
  readFileSync(new URL('testdata/bad-definitions.json', import.meta.url), 'utf8'),
);

describe('validation of definitions', () => {
  for (const { parts, errors: starts } of BAD) {
    it(`apiserver/X2: refuses ${JSON.stringify(parts).slice(0, 120)}`, () => {
      const errors = errorsOf(parts);
      assert.equal(errors.length, starts.length, errors.join('\n'));
      for (const [index, start] of starts.entries()) {
        assert.ok(errors[index]?.startsWith(start), `${errors[index]}\n${start}`);
      }
    });
  }

  it('accepts a plain definition', () => assert.deepEqual(errorsOf({}), []));

  it('reports parts that differ between versions at their versions', () => {
    const version = (name: string, storage: boolean, a: JsonObject): JsonObject => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: object({ a }) },
      selectableFields: [
        { jsonPath: '.a' },
        { jsonPath: '.a' },
        { jsonPath: '' },
        { jsonPath: '.metadata.x' },
        { jsonPath: "['a']" },
      ],
    });
    const versions = [
      version('v1', true, { type: 'object' }),
      version('v1', true, { type: 'string', default: 1 }),
    ];
    const fields = errorsOf({ spec: { versions } }).map((text) => text.split(': ').slice(0, 2).join(' '));
    assert.ok(
      fields.includes('spec.versions[1].schema.openAPIV3Schema.properties[a].default Invalid value'),
      fields.join('\n'),
    );
    assert.ok(fields.includes('spec.selectableFields[1].jsonPath Duplicate value'));
    assert.ok(fields.includes('spec.selectableFields[2].jsonPath Required value'));
    assert.equal(fields.filter((field) => field === 'spec.versions Invalid value').length, 2);
  });

  it('counts selectable fields', () => {
    const names = Array.from({ length: 9 }, (_, index) => `f${index}`);
    const schema = object(Object.fromEntries(names.map((name) => [name, { type: 'string' }])));
    const version = { selectableFields: names.map((name) => ({ jsonPath: `.${name}` })) };
    assert.deepEqual(errorsOf({ version: { schema: { openAPIV3Schema: schema }, ...version } }), [
      'spec.selectableFields: Too many: 9: must have at most 8 items',
    ]);
  });

  it('apiserver/X7: wants an approval for groups of the community', () => {
    const annotations = (value: string): Parts => ({
      spec: { group: 'x.k8s.io' },
      metadata: { name: 'widgets.x.k8s.io', annotations: { 'api-approved.kubernetes.io': value } },
    });
    assert.match(
      errorsOf(annotations(''))[0] ?? '',
      /^metadata\.annotations\[api-approved\.kubernetes\.io\]: Required value/,
    );
    assert.match(
      errorsOf(annotations('yes'))[0] ?? '',
      /with either a URL or a reason starting with "unapproved"/,
    );
    assert.deepEqual(errorsOf(annotations('unapproved')), []);
    assert.deepEqual(errorsOf(annotations('https://github.com/x')), []);
    const old = created(annotations(''));
    assert.deepEqual(updateErrors(old, widget(annotations(''))), []);
  });
});

describe('updates of definitions', () => {
  const established = (crd: JsonObject): JsonObject => ({
    ...crd,
    status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] },
  });

  it('apiserver/X2: keeps what objects are stored under', () => {
    const changed = widget({
      spec: { group: 'b.com', scope: 'Cluster', names: { plural: 'gadgets', kind: 'Gadget' } },
    });
    assert.deepEqual(updateErrors(established(widget()), changed), [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Gadget": field is immutable',
      'spec.group: Invalid value: "b.com": field is immutable',
      'spec.names.plural: Invalid value: "gadgets": field is immutable',
    ]);
    const kind = widget({ spec: { names: { plural: 'widgets', kind: 'Gadget' } } });
    assert.deepEqual(updateErrors({ ...widget(), status: { storedVersions: ['v1'] } }, kind), []);
  });

  it('apiserver/X5: keeps versions that objects may be stored in', () => {
    const errors = updateErrors(established(widget()), widget({ version: { name: 'v2' } }));
    assert.equal(errors.length, 1);
    assert.match(
      errors[0] ?? '',
      /^status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions; v1 was previously a storage version/,
    );
  });

  it('takes only the status on /status', () => {
    const old = established(widget());
    const crd: JsonObject = { metadata: {}, spec: {}, status: { acceptedNames: { plural: 'A' } } };
    const onStatus = { ...context, subresource: 'status' };
    crdStrategy.prepareForUpdate?.(crd, old, onStatus);
    assert.deepEqual(crd['spec'], old['spec']);
    const errors = crdStrategy.validateUpdate?.(crd, old, onStatus) ?? [];
    assert.deepEqual(
      errors.map(({ field }) => field),
      ['status.acceptedNames.plural'],
    );
  });
});

describe('the strategy of definitions', () => {
  it('apiserver/X1: names singular and list kind, and chooses no conversion', () => {
    const crd = created({});
    const spec = crd['spec'] as JsonObject;
    assert.deepEqual(spec['names'], {
      plural: 'widgets',
      kind: 'Widget',
      singular: 'widget',
      listKind: 'WidgetList',
    });
    assert.deepEqual(spec['conversion'], { strategy: 'None' });
    assert.equal(crdStrategy.tracksGeneration, true);
  });

  it('apiserver/X1: gives webhook services a port', () => {
    const crd = created(webhook({ service: { name: 'a', namespace: 'b' } }));
    assert.match(JSON.stringify(crd), /"service":\{"name":"a","namespace":"b","port":443\}/);
  });

  it('leaves a body without a spec alone', () => {
    const crd: JsonObject = { metadata: {} };
    crdStrategy.setDefaults?.(crd);
    assert.deepEqual(crd, { metadata: {} });
  });

  it('apiserver/X3: resets the status and remembers every storage version', () => {
    const crd = widget();
    crd['status'] = { storedVersions: ['v9'], conditions: [{ type: 'x' }] };
    crdStrategy.prepareForCreate?.(crd, context);
    const unnamed = { conditions: null, acceptedNames: { plural: '', kind: '' } };
    assert.deepEqual(crd['status'], { ...unnamed, storedVersions: ['v1'] });
    const next = widget({ version: { name: 'v2' } });
    crdStrategy.prepareForUpdate?.(next, crd, context);
    assert.deepEqual(next['status'], { ...unnamed, storedVersions: ['v1', 'v2'] });
  });

  it('apiserver/X16: warns of formats without meaning, on update of new ones', () => {
    const crd = widget(
      field(
        object({
          x: { type: 'string', format: 'ip' },
          y: { type: 'integer', format: 'int8' },
          z: { type: 'string', format: 'uri' },
        }),
      ),
    );
    assert.deepEqual(crdStrategy.warnings?.(crd, undefined), [
      'unrecognized format "ip"',
      'unrecognized format "int8"',
    ]);
    assert.deepEqual(crdStrategy.warnings?.(crd, widget(field({ type: 'string', format: 'ip' }))), [
      'unrecognized format "int8"',
    ]);
  });
});
