import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import type { Json, JsonObject } from '../json.ts';
import { microTimeProblem, timeProblem } from './go-time.ts';
import { decodeObjectMeta } from './object-meta.ts';
import { checkTypes, type TypeNames } from './type-check.ts';

const NAMED = new Map<Schema, string>();
const named = (name: string, schema: Schema): Schema => {
  NAMED.set(schema, name);
  return schema;
};
const typeNames: TypeNames = (schema) => NAMED.get(schema);

const TEXT: Schema = { type: 'string' };
const CONTAINER = named('core.v1.Container', {
  type: 'object',
  properties: { name: TEXT, args: { type: 'array', items: TEXT }, port: named('intstr.IntOrString', {}) },
});
const SPEC = named('core.v1.PodSpec', {
  type: 'object',
  properties: {
    containers: { type: 'array', items: CONTAINER },
    byName: { type: 'object', additionalProperties: CONTAINER },
    limits: { type: 'object', additionalProperties: named('resource.Quantity', { type: 'string' }) },
    labels: { type: 'object', additionalProperties: TEXT },
    grace: { type: 'integer', format: 'int64' },
    count: { type: 'integer', format: 'int32' },
    rate: { type: 'number' },
    hostNetwork: { type: 'boolean' },
    time: named('meta.v1.Time', { type: 'string' }),
    renewTime: named('meta.v1.MicroTime', { type: 'string' }),
    raw: named('runtime.RawExtension', { type: 'object' }),
    bytes: { type: 'string', format: 'byte' },
    uid: named('types.UID', { type: 'string' }),
    lists: { type: 'array', items: { type: 'array', items: TEXT } },
  },
});
const POD = named('core.v1.Pod', { type: 'object', properties: { spec: SPEC } });

const problemOf = (spec: Json): string | undefined => checkTypes({ spec }, POD, typeNames).problem;

describe('decoding of built-in kinds', () => {
  it('apiserver/W3: drops unknown fields and reports them with positions and keys', () => {
    const body: JsonObject = {
      Spec: {},
      spec: {
        containers: [{ name: 'a', zzz: 1 }],
        byName: { k: { y: 1 } },
        x: { y: 1 },
        raw: { free: { form: 1 } },
      },
    };
    const { unknown, problem } = checkTypes(body, POD, typeNames);
    assert.deepEqual(unknown, ['Spec', 'spec.containers[0].zzz', 'spec.byName.k.y', 'spec.x']);
    assert.equal(problem, undefined);
    assert.deepEqual(body, {
      spec: { containers: [{ name: 'a' }], byName: { k: {} }, raw: { free: { form: 1 } } },
    });
  });

  it('drops nulls; those in lists and maps are empty values', () => {
    const body: JsonObject = {
      spec: { grace: null, containers: [null], labels: { a: null }, lists: [null], limits: { cpu: null } },
    };
    assert.equal(checkTypes(body, POD, typeNames).problem, undefined);
    assert.deepEqual(body, { spec: { containers: [{}], labels: { a: '' }, lists: [null], limits: { cpu: '0' } } });
  });

  const problems: readonly (readonly [spec: Json, text: string])[] = [
    ['a', 'json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec'],
    [
      { containers: { name: 1 } },
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      { containers: [1] },
      'json: cannot unmarshal number into Go struct field PodSpec.spec.containers of type v1.Container',
    ],
    [
      { containers: [{ name: 1 }] },
      'json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string',
    ],
    [
      { labels: 'x' },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.labels of type map[string]string',
    ],
    [
      { labels: { a: true } },
      'json: cannot unmarshal bool into Go struct field PodSpec.spec.labels of type string',
    ],
    [{ lists: ['x'] }, 'json: cannot unmarshal string into Go struct field PodSpec.spec.lists of type []string'],
    [{ grace: 1.5 }, 'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.grace of type int64'],
    [
      { count: 2 ** 31 },
      'json: cannot unmarshal number 2147483648 into Go struct field PodSpec.spec.count of type int32',
    ],
    [{ rate: 'x' }, 'json: cannot unmarshal string into Go struct field PodSpec.spec.rate of type float64'],
    [
      { hostNetwork: [] },
      'json: cannot unmarshal array into Go struct field PodSpec.spec.hostNetwork of type bool',
    ],
    [{ uid: 1 }, 'json: cannot unmarshal number into Go struct field PodSpec.spec.uid of type types.UID'],
    [
      { containers: [{ port: true }] },
      'json: cannot unmarshal bool into Go struct field Container.spec.containers.port of type int32',
    ],
    [{ time: 5 }, 'json: cannot unmarshal number into Go struct field PodSpec.spec.time of type string'],
    [{ time: 'a' }, 'parsing time "a" as "2006-01-02T15:04:05Z07:00": cannot parse "a" as "2006"'],
    [
      { limits: { cpu: 'x' } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      { limits: { cpu: '' } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [{ limits: { cpu: '1KK' } }, "unable to parse quantity's suffix"],
    [{ bytes: '!' }, 'illegal base64 data at input byte 0'],
    [{ bytes: 'YQ' }, 'illegal base64 data at input byte 2'],
    [{ bytes: 1 }, 'json: cannot unmarshal number into Go struct field PodSpec.spec.bytes of type []uint8'],
  ];
  for (const [spec, text] of problems) {
    it(`refuses ${JSON.stringify(spec)} like Go`, () => assert.equal(problemOf(spec), text));
  }

  it('reports the first of several problems', () => {
    assert.match(problemOf({ grace: 'a', count: 'b' }) ?? '', /spec\.grace/);
  });

  const fine: readonly Json[] = [
    { limits: { a: '1', b: '1.5Gi', c: 5, d: '-1e3', e: '.5', f: '2n' } },
    { containers: [{ port: 'http' }, { port: 80 }] },
    { bytes: 'YQ==', time: '2020-01-01T00:00:00.5+02:00', renewTime: '2020-01-01T00:00:00.000000Z', rate: 1 },
    { grace: 2n ** 62n, raw: [1] },
  ];
  for (const [index, spec] of fine.entries())
    it(`takes good values (${index})`, () => assert.equal(problemOf(spec), undefined));

  it('apiserver/G14: wants exactly six digits in a MicroTime', () => {
    assert.equal(microTimeProblem('2020-01-01T00:00:00.123456Z'), undefined);
    assert.match(microTimeProblem('2020-01-01T00:00:00Z') ?? '', /cannot parse "Z" as "\.000000"$/);
    assert.match(microTimeProblem('2020-01-01T00:00:00.1234567Z') ?? '', /cannot parse "7Z" as "Z07:00"$/);
  });

  const times: readonly (readonly [text: string, problem: RegExp])[] = [
    ['2020-13-01T00:00:00Z', /: month out of range$/],
    ['2020-02-30T00:00:00Z', /: day out of range$/],
    ['2020-01-01T25:00:00Z', /: hour out of range$/],
    ['2020-01-01T00:00:00+25:00', /: time zone offset hour out of range$/],
    ['2020-01-01T00:00:00Zx', /: extra text: "x"$/],
  ];
  for (const [text, problem] of times)
    it(`refuses the time ${text}`, () => assert.match(timeProblem(text) ?? '', problem));

  it('apiserver/W3: tells the first hundred unknown fields and drops all', () => {
    const object = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`k${at}`, at]));
    const { unknown } = checkTypes(object, { type: 'object', properties: {} });
    assert.deepEqual([unknown.length, unknown[0], unknown[99], object], [100, 'k0', 'k99', {}]);
  });
});

describe('decoding of metadata', () => {
  it('drops unknown, null and empty fields', () => {
    const metadata: JsonObject = {
      name: 'a',
      namespace: '',
      labels: {},
      annotations: null,
      generation: 0,
      deletionGracePeriodSeconds: 0,
      finalizers: [],
      foo: 1,
      ownerReferences: [{ name: 'x', bar: 1 }],
    };
    assert.deepEqual(decodeObjectMeta(metadata), {
      unknown: ['foo', 'ownerReferences[0].bar'],
      problem: undefined,
    });
    assert.deepEqual(metadata, { name: 'a', deletionGracePeriodSeconds: 0, ownerReferences: [{ name: 'x' }] });
  });

  it('names the type of what it cannot read', () => {
    const text =
      'json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.uid of type types.UID';
    assert.equal(decodeObjectMeta({ ownerReferences: [{ uid: 1 }] }).problem, text);
  });
});
