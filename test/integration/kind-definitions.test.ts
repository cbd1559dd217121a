import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import * as z from 'zod';
import { celRulesOf } from '../../src/api/schema/cel-rules.ts';
import { defineKind } from '../../src/api/schema/define-kind.ts';
import { defineVersions } from '../../src/api/schema/define-versions.ts';
import { cel } from '../../src/api/schema/extensions.ts';
import type { Schema } from '../../src/api/schema/structural.ts';
import { microTime, time } from '../../src/api/time.ts';
import { compileSchemaRules } from '../../src/apiserver/cel/rules.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/object/json.ts';
import { schemaArbitrary } from '../support/schema-arbitrary.ts';
import { APPLY, at, metaOf, ServedApi } from '../support/served-api.ts';
import { Widget } from '../support/widget-kind.ts';

const WIDGETS = '/apis/kinds.slipway.example/v1/namespaces/default/widgets';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const STRICT = '?fieldValidation=Strict';
const RUNS = 150;

const widget = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'kinds.slipway.example/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
});

/** Without the rules that objects made of the schema alone may break, at any depth. */
function withoutUnions(schema: Schema): Schema {
  const { spec, ...rest } = schema.properties ?? {};
  const { source: _source, window: _window, ...fields } = spec?.properties ?? {};
  return { ...schema, properties: { ...rest, spec: { ...spec, properties: fields } } };
}

const ruleProblems = (schema: Schema): readonly string[] =>
  compileSchemaRules(schema).problems.map(({ path, message }) => `${path}: ${message}`);

describe('a definition on the embedded server', () => {
  let api: ServedApi;

  before(async () => {
    api = await ServedApi.start();
    await api.define(Widget.toCRD());
  });
  after(() => api[Symbol.asyncDispose]());

  it('runtime/K7: is accepted with strict validation and does not change when it is applied again', async () => {
    const crd = { ...Widget.toCRD(), metadata: { name: 'widgets.kinds.slipway.example' } };
    const target = `${CRDS}/widgets.kinds.slipway.example?fieldManager=kinds&force=true&fieldValidation=Strict`;
    const first = await api.send('PATCH', target, { body: crd, type: APPLY });
    assert.equal(first.status, 200, first.text);
    const second = await api.send('PATCH', target, { body: crd, type: APPLY });
    assert.equal(metaOf(second.body)['resourceVersion'], metaOf(first.body)['resourceVersion']);
    assert.equal(first.headers['warning'], undefined);
    // What the server keeps is what was sent: nothing is dropped, nothing is spelled differently.
    assert.deepEqual(at(first.body, 'spec', 'versions', 0, 'schema'), at(crd, 'spec', 'versions', 0, 'schema'));
  });

  it('runtime/K1: objects are defaulted as the type says', async () => {
    const created = await api.create(`${WIDGETS}${STRICT}`, widget('defaults', { config: { own: true } }));
    assert.deepEqual(created['spec'], Widget.parse(created).spec);
    assert.deepEqual(created['spec'], {
      config: { level: 3, own: true },
      replicas: 1,
      strategy: { kind: 'Safe' },
      timeout: '1m30s',
    });
  });

  for (const [name, spec, message] of [
    ['a value out of bounds', { replicas: -1 }, /spec\.replicas/],
    ['a value that is none of an enum', { color: 'blue' }, /spec\.color/],
    ['a duration that is none', { timeout: 'soon' }, /spec\.timeout/],
    ['a quantity that is none', { limits: { cpu: 'much' } }, /spec\.limits\.cpu/],
    ['an address that is none', { address: '1.2.3' }, /spec\.address/],
    [
      'a branch of a union that the key does not name',
      { source: { type: 'file', import: { url: 'http://a' } } },
      /import is required when type is import/,
    ],
    ['a broken rule', { window: { from: 2, to: 1 } }, /from comes before to/],
    ['a key twice', { ports: [{ port: 1 }, { port: 1, proto: 'TCP' }] }, /Duplicate value/],
  ] as const) {
    it(`runtime/K1: refuses ${name}`, async () => {
      const answer = await api.send('POST', WIDGETS, { body: widget('wrong', spec as JsonObject) });
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.text, message);
    });
  }

  it('runtime/K5: CEL rules are checked with the types of the definition', () => {
    assert.equal(celRulesOf(Widget).length, 5);
    assert.deepEqual(ruleProblems(Widget.schema), []);
    const Wrong = defineKind({
      group: 'a.example',
      version: 'v1',
      kind: 'Wrong',
      plural: 'wrongs',
      scope: 'Cluster',
      spec: z.object({ count: z.int32() }),
      rules: { spec: [cel("self.count == 'a'", 'never'), cel('self.cuont > 1', 'never')] },
    });
    const problems = ruleProblems(Wrong.schema);
    assert.equal(problems.length, 2, problems.join('\n'));
    assert.match(problems.join('\n'), /no matching overload for '_==_'[^]*undefined field 'cuont'/);
  });

  it('runtime/K1: several versions of one kind are one definition', async () => {
    const names = { group: 'a.example', kind: 'Boat', plural: 'boats', scope: 'Cluster' } as const;
    const v1 = defineKind({ ...names, version: 'v1', spec: z.object({ sails: z.int32().default(2) }) });
    const v1beta1 = defineKind({ ...names, version: 'v1beta1', spec: z.object({ sails: z.int32().optional() }) });
    await api.define(defineVersions(v1, [v1beta1]).toCRD());
    await api.create('/apis/a.example/v1beta1/boats', {
      metadata: { name: 'a' },
      kind: 'Boat',
      apiVersion: 'a.example/v1beta1',
      spec: {},
    });
    const { body } = await api.get('/apis/a.example/v1/boats/a');
    assert.deepEqual(v1.parse(body).spec, { sails: 2 });
  });

  it('keeps what the subset of a foreign kind does not name', async () => {
    const Foreign = defineKind({
      group: 'theirs.example',
      version: 'v1',
      kind: 'Thing',
      plural: 'things',
      scope: 'Cluster',
      isForeign: true,
      spec: z.object({ items: z.array(z.object({ name: z.string() })).optional() }),
    });
    await api.define(Foreign.toCRD());
    const spec = { items: [{ name: 'a', size: { deep: [1] } }], other: true };
    const thing = { apiVersion: 'theirs.example/v1', kind: 'Thing', metadata: { name: 'a' }, spec, top: 1 };
    const created = await api.create(`/apis/theirs.example/v1/things${STRICT}`, thing);
    assert.deepEqual([created['spec'], created['top']], [spec, 1]);
    assert.deepEqual(Foreign.parse(created), created);
  });

  it('runtime/K9: a Lease takes times with six digits and refuses those of JavaScript', async () => {
    const date = new Date('2026-01-02T03:04:05.678Z');
    const lease = (name: string, renewTime: string): JsonObject => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name },
      spec: { renewTime },
    });
    const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const created = await api.create(LEASES, lease('good', microTime(date)));
    assert.equal(at(created, 'spec', 'renewTime'), '2026-01-02T03:04:05.678000Z');
    for (const wrong of [date.toISOString(), time(date)]) {
      const answer = await api.send('POST', LEASES, { body: lease('bad', wrong) });
      assert.equal(answer.status, 400, `${wrong}: ${answer.text}`);
    }
  });

  it('runtime/K10: an object is plain JSON, with times as text and whole integers of 64 bits', async () => {
    const text = `{"apiVersion":"kinds.slipway.example/v1","kind":"Widget","metadata":{"name":"plain"},"spec":{"size":9007199254740993}}`;
    const answer = await api.send('POST', WIDGETS, { body: text });
    assert.equal(typeof metaOf(answer.body)['creationTimestamp'], 'string');
    assert.equal(at(answer.body, 'spec', 'size'), 9_007_199_254_740_993n);
    assert.equal(Widget.parse(answer.body).spec.size, 9_007_199_254_740_993n);
  });

  it('runtime/K8: parse and the server accept the same objects and default them alike', async () => {
    const { spec } = withoutUnions(Widget.schema).properties ?? {};
    const target = `${WIDGETS}${STRICT}&dryRun=All`;
    await fc.assert(
      fc.asyncProperty(schemaArbitrary(spec ?? {}), async (value: Json) => {
        assert.ok(isJsonObject(value));
        const object = widget('generated', value);
        const created = await api.create(target, object);
        assert.deepEqual(created['spec'], Widget.parse(object).spec);
      }),
      { numRuns: RUNS },
    );
  });
});
