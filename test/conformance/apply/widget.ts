import fc from 'fast-check';
import type { Schema } from '../../../src/api/schema/structural.ts';
import type { Json, JsonObject } from '../../../src/object/json.ts';
import type { Kind } from './session.ts';

const STRING: Schema = { type: 'string' };

/** One field for every way to own something. */
const SPEC: Schema = {
  type: 'object',
  properties: {
    text: STRING,
    count: { type: 'integer' },
    mode: { type: 'string', default: 'auto' },
    maybe: { type: 'string', nullable: true },
    either: { 'x-kubernetes-int-or-string': true },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: {
        type: 'object',
        required: ['port'],
        properties: {
          port: { type: 'integer' },
          protocol: { type: 'string', default: 'TCP' },
          name: STRING,
          names: { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' },
        },
      },
    },
    tags: { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' },
    numbers: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
    whole: { type: 'array', items: STRING },
    labels: { type: 'object', additionalProperties: STRING },
    groups: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { a: STRING, b: STRING, deep: { type: 'object', additionalProperties: STRING } },
      },
    },
    leaf: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: STRING, b: STRING } },
    granular: { type: 'object', 'x-kubernetes-map-type': 'granular', properties: { a: STRING, b: STRING } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    half: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { a: STRING } } },
    },
  },
};

const WIDGET_SCHEMA: Schema = {
  type: 'object',
  properties: {
    spec: SPEC,
    status: {
      type: 'object',
      properties: { phase: STRING, seen: { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' } },
    },
  },
};

/** The next version owns some things differently. */
const LATER_SCHEMA: Schema = {
  type: 'object',
  properties: {
    ...WIDGET_SCHEMA.properties,
    spec: {
      ...SPEC,
      properties: {
        ...SPEC.properties,
        whole: { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' },
        granular: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: STRING, b: STRING } },
        labels: { type: 'object', additionalProperties: STRING, 'x-kubernetes-map-type': 'atomic' },
      },
    },
  },
};

const kindOf = (version: string, schema: Schema): Kind => ({
  apiVersion: `apply.slipway.test/${version}`,
  kind: 'Widget',
  plural: 'widgets',
  schema,
  isCustom: true,
  resetFields: { '': ['status'], status: ['metadata', 'spec'] },
  unallocated: (stored) => {
    const { status: _, ...rest } = stored;
    return rest;
  },
});

export const WIDGET = kindOf('v1', WIDGET_SCHEMA);
export const LATER_WIDGET = kindOf('v2', LATER_SCHEMA);

export const WIDGET_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.apply.slipway.test' },
  spec: {
    group: 'apply.slipway.test',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: WIDGET_SCHEMA },
        subresources: { status: {} },
      },
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: LATER_SCHEMA },
        subresources: { status: {} },
      },
    ],
  },
} as unknown as JsonObject;

const word = fc.constantFrom('x', 'y', '<z>');
const strings = (keys: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.dictionary(fc.constantFrom(...keys), word, { maxKeys: 2 });
const set = (...members: readonly Json[]): fc.Arbitrary<Json> =>
  fc.shuffledSubarray([...members], { maxLength: Math.min(3, members.length) });
const partial = (model: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<JsonObject> =>
  fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;

const port = fc.record(
  {
    port: fc.constantFrom(80, 81),
    protocol: fc.constantFrom('TCP', 'UDP'),
    name: word,
    names: set('a', 'b'),
  },
  { requiredKeys: ['port'] },
) as fc.Arbitrary<JsonObject>;
const portKey = ({ port: number, protocol = 'TCP' }: JsonObject): string => JSON.stringify([number, protocol]);

const anything = fc.oneof(
  word,
  fc.constant(null),
  fc.constant({}),
  strings(['p', 'q']),
  fc.record({ p: strings(['r', 's']) }),
  fc.constantFrom<Json>(['l'], ['l', 'm'], []),
) as fc.Arbitrary<Json>;

const spec = partial({
  text: word,
  count: fc.constantFrom(1, 2),
  mode: word,
  maybe: fc.constantFrom('x', null),
  either: fc.constantFrom<Json>(1, '1'),
  ports: fc.uniqueArray(port, { selector: portKey, maxLength: 3 }) as fc.Arbitrary<Json>,
  tags: set('a', 'b', 'c', '<d>'),
  numbers: set(9, 10, 100),
  whole: set('a', 'b'),
  labels: strings(['k', 'l/m']),
  groups: fc.dictionary(fc.constantFrom('g', 'h'), partial({ a: word, b: word, deep: strings(['x', 'y']) }), {
    maxKeys: 2,
  }),
  leaf: strings(['a', 'b']),
  granular: strings(['a', 'b']),
  free: fc.dictionary(fc.constantFrom('u', 'v'), anything, { maxKeys: 2 }) as fc.Arbitrary<Json>,
  half: partial({ known: partial({ a: word }), extra: anything }),
});

const owner = (uid: string): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid });

const metadata = partial({
  labels: strings(['app', 'tier']),
  annotations: strings(['note']),
  finalizers: set('test/a', 'test/b'),
  ownerReferences: set(owner('u-1'), owner('u-2')),
});

/** Random objects of the kind, without identity. */
export const widgets = (isConfig: boolean): fc.Arbitrary<JsonObject> =>
  fc.record({ metadata, spec }, { requiredKeys: isConfig ? [] : ['spec'] }) as fc.Arbitrary<JsonObject>;

export const widgetStatuses: fc.Arbitrary<JsonObject> = fc.record({
  status: partial({ phase: word, seen: set('a', 'b') }),
  spec: partial({ text: word }),
});

export const configProblems: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { spec: { nosuch: 1 } },
  { spec: { tags: ['a', 'a'] } },
  { spec: { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } },
  { spec: { text: 1 } },
  { spec: { count: 'x' } },
  { spec: { ports: 'x' } },
  { spec: { labels: ['x'] } },
  { spec: { tags: [null] } },
  { spec: { leaf: { nosuch: 'x' } } },
  { metadata: { nosuch: 1 } },
);
