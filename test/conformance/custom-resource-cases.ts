import type { Json, JsonObject } from '../../src/object/json.ts';

export interface ResourceCase {
  readonly name: string;
  /** What the object has beside apiVersion and kind. */
  readonly object: JsonObject;
}

/** A kind and objects to create of it. */
export interface ResourceKind {
  readonly kind: string;
  readonly version: JsonObject;
  readonly cases: readonly ResourceCase[];
}

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const inSpec = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
  object({
    spec: object(properties, more),
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  });

/** One case for each value of one field of spec. */
const values = (field: string, ...list: readonly Json[]): readonly ResourceCase[] =>
  list.map((value) => ({
    name: `spec.${field} = ${JSON.stringify(value)}`,
    object: { spec: { [field]: value } },
  }));
const spec = (name: string, value: Json): ResourceCase => ({ name, object: { spec: value } });

const limits: ResourceKind = {
  kind: 'Limit',
  version: {
    schema: {
      openAPIV3Schema: inSpec({
        text: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-c]+$' },
        emoji: { type: 'string', maxLength: 2 },
        choice: { type: 'string', enum: ['a', 'b "c"', ''] },
        number: { type: 'integer', enum: [1, 2] },
        mixed: { 'x-kubernetes-preserve-unknown-fields': true, enum: ['1', 2, true, null, { a: 1 }, [1]] },
        i: { type: 'integer' },
        i32: { type: 'integer', format: 'int32' },
        i64: { type: 'integer', format: 'int64', minimum: -5, maximum: 5 },
        exclusive: { type: 'integer', minimum: 0, maximum: 3, exclusiveMinimum: true, exclusiveMaximum: true },
        half: { type: 'integer', minimum: 0.5 },
        multiple: { type: 'integer', multipleOf: 3 },
        n: { type: 'number', minimum: 0.5, maximum: 2.5 },
        steps: { type: 'number', multipleOf: 0.5 },
        f: { type: 'number', format: 'float' },
        b: { type: 'boolean' },
        list: { type: 'array', items: { type: 'string', maxLength: 2 }, minItems: 1, maxItems: 2 },
        map: { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1, maxProperties: 2 },
        closed: { type: 'object', additionalProperties: false },
        open: { type: 'object', additionalProperties: true },
        must: object({ a: { type: 'string' }, b: { type: 'string' } }, { required: ['a', 'b'] }),
        nullable: { type: 'string', nullable: true, minLength: 2 },
        nullableEnum: { type: 'string', nullable: true, enum: ['x'] },
        intOrString: { 'x-kubernetes-int-or-string': true },
        port: {
          'x-kubernetes-int-or-string': true,
          anyOf: [{ type: 'integer' }, { type: 'string' }],
          pattern: '^[0-9]+%$',
          maximum: 9,
        },
      }),
    },
  },
  cases: [
    ...values('text', 'ab', 'a', 'abcde', 'xyz', 1, true, {}, [], null, ''),
    ...values('emoji', '😀😀', '😀😀😀', 'é'),
    ...values('choice', 'a', '', 'b', 'b "c"', 5, 97, null),
    ...values('number', 1, 3, '1', 1.5, 2.5),
    ...values('mixed', '1', 1, 2, true, false, { a: 1 }, { a: 2 }, [1], [2]),
    ...values('i', 1, '1', 1.5, true, {}, 1e20),
    ...values('i32', 2147483647, 2147483648, -2147483649, 'a', 1.5, true, [], {}),
    ...values('i64', 5, 6, -6, 5.5),
    ...values('exclusive', 0, 1, 3),
    ...values('half', 0, 1),
    ...values('multiple', 3, 4, 0),
    ...values('n', 0.5, 0, 0.4, 2.6, 3, 2, 'a', true),
    ...values('steps', 1.5, 1.3, 1, 0),
    ...values('f', 1e39, 1, 'x'),
    ...values('b', true, 'true', 0, null),
    ...values('list', ['a'], [], ['a', 'b', 'c'], ['abc', 1, null], 'a', {}),
    ...values('map', { a: 1 }, {}, { a: 1, b: 2, c: 3 }, { a: 'x', b: null }, []),
    ...values('closed', {}, { a: 1 }, { a: { b: 1 } }),
    ...values('open', { a: 1 }, { a: { b: 1 } }),
    ...values('must', {}, { a: 'x' }, { a: null, b: 1 }),
    ...values('nullable', null, 'ab', 'a'),
    ...values('nullableEnum', null, 'x', 'y'),
    ...values('intOrString', 1, 'a', 1.5, true, [], {}),
    ...values('port', 5, 10, '5%', 'x', true),
    spec('several things wrong', { text: 1, i: 'a', list: [1, 2, 3], must: {}, choice: 'z' }),
    spec('spec as text', 'x'),
    spec('spec as list', []),
  ],
};

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  bsonobjectid: ['507f1f77bcf86cd799439011', '507f1f77bcf86cd79943901'],
  uri: [
    'https://a.b/c?d#e',
    '/path',
    'a',
    'http://[::1]:80/',
    'http://a b/',
    'mailto:x',
    'http://a/%zz',
    '',
    ':a',
    'http://a:b/',
  ],
  email: ['a@b', 'A <a@b.c>', 'a', '@b', 'a@b c', '"x y"@b', 'a.@b'],
  hostname: ['a', 'a-b', 'a-b-c', 'a.b', 'a.bc', 'a_b', 'a.com', '1a.com', '-a.com', 'x.c0m', ''],
  ipv4: ['1.2.3.4', '01.2.3.4', '1.2.3', '256.1.1.1', '::ffff:1.2.3.4', '1.2.3.4/8', ''],
  ipv6: ['::1', '1.2.3.4', 'fe80::1%eth0', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7', '::ffff:1.2.3.4', '1::2::3', '::'],
  cidr: ['10.0.0.0/8', '10.0.0.0/33', 'fd00::/8', '10.0.0.0', '010.0.0.0/8', '1.2.3.4/a'],
  mac: ['00:00:5e:00:53:01', '02-00-5e-10-00-00-00-01', '0000.5e00.5301', '00:00:5e:00:53', '00:00-5e:00:53:01'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', '123e4567e89b12d3a456426614174000', 'x'],
  uuid3: ['123e4567-e89b-32d3-a456-426614174000', '123e4567-e89b-42d3-a456-426614174000'],
  uuid4: ['123e4567-e89b-42d3-a456-426614174000', '123e4567-e89b-42d3-c456-426614174000'],
  uuid5: ['123e4567-e89b-52d3-b456-426614174000', '123e4567-e89b-42d3-b456-426614174000'],
  isbn: ['0321751043', '978-0321751041', '0321751044'],
  isbn10: ['0-321-75104-3', '978-0321751041', '080442957X'],
  isbn13: ['978-0321751041', '978-0321751042'],
  creditcard: ['4111 1111 1111 1111', '4111-1111-1111-1112', '1'],
  ssn: ['111-11-1111', '111111111', '111 11 1111'],
  hexcolor: ['#fff', '00ff00', '#ffff'],
  rgbcolor: ['rgb(0, 1,255)', 'rgb(0,1,256)', 'rgb(01,1,1)'],
  byte: ['YQ==', 'YWJj', '', 'YQ', 'Y===', '!!!!'],
  password: ['x'],
  date: ['2024-02-29', '2023-02-29', '2024-2-1', '2024-01-01T00:00:00Z'],
  duration: ['1h', '1.5m', '22 ns', '3 weeks', '1', '', '-1s', 'x5minutes', '0', '1y'],
  datetime: [
    '2024-01-01T00:00:00Z',
    '2024-01-01t00:00:00.5+02:00',
    '2024-01-01T24:00:00Z',
    '2024-01-01 00:00:00Z',
    '2024-01-01T00:00:00',
  ],
  'date-time': ['2024-01-01T00:00:00Z', '2024-01-01'],
  'k8s-short-name': ['a-b', 'A', '-a', 'a.b', ''],
  'k8s-long-name': ['a.b-c', 'a..b', 'A.b'],
  ip: ['nonsense'],
};

const formats: ResourceKind = {
  kind: 'Format',
  version: {
    schema: {
      openAPIV3Schema: inSpec(
        Object.fromEntries(Object.keys(FORMATS).map((format) => [format, { type: 'string', format }])),
      ),
    },
  },
  cases: [
    ...Object.entries(FORMATS).flatMap(([format, texts]) => [...values(format, ...texts)]),
    ...values('date', ['a'], 5, {}, true),
  ],
};

const branches: ResourceKind = {
  kind: 'Branch',
  version: {
    schema: {
      openAPIV3Schema: inSpec({
        one: object(
          { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'string' } },
          { oneOf: [{ required: ['a'] }, { required: ['b'], properties: { b: { minimum: 3 } } }] },
        ),
        any: object(
          { a: { type: 'string' }, b: { type: 'integer' } },
          {
            anyOf: [
              { required: ['a'], properties: { a: { minLength: 3 } } },
              { required: ['b'], properties: { b: { maximum: 3 }, a: { minLength: 9 } } },
            ],
          },
        ),
        all: { type: 'string', allOf: [{ minLength: 2 }, { maxLength: 4 }, { pattern: 'x' }] },
        not: { type: 'string', not: { enum: ['bad', 'worse'] } },
        notRequired: object({ a: { type: 'string' }, b: { type: 'string' } }, { not: { required: ['a', 'b'] } }),
        quantity: {
          'x-kubernetes-int-or-string': true,
          anyOf: [{ type: 'integer' }, { type: 'string' }],
          pattern: '^[0-9]+Gi$',
        },
        deep: {
          type: 'array',
          items: object({ x: { type: 'string', oneOf: [{ format: 'ipv4' }, { format: 'ipv6' }] } }),
        },
        allRoot: { type: 'integer', allOf: [{ minimum: 5 }, { minimum: 7 }] },
      }),
    },
  },
  cases: [
    ...values('one', {}, { a: 'x' }, { b: 5 }, { a: 'x', b: 5 }, { b: 1 }, { c: 'x' }, { a: 1 }),
    ...values('any', {}, { a: 'abc' }, { a: 'x' }, { b: 5 }, { b: 1 }, { b: 5, a: 'x' }),
    ...values('all', 'xy', 'x', 'ab', 'abcde', 'xxxxx', 1),
    ...values('not', 'good', 'bad'),
    ...values('notRequired', { a: '1' }, { a: '1', b: '2' }),
    ...values('quantity', '5Gi', '5', 5, true),
    ...values('deep', [{ x: '1.2.3.4' }, { x: '::1' }, { x: 'no' }, { x: '::ffff:1.2.3.4' }]),
    ...values('allRoot', 8, 6, 4),
  ],
};

const shapes: ResourceKind = {
  kind: 'Shape',
  version: {
    subresources: {
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    },
    schema: {
      openAPIV3Schema: object({
        spec: object(
          {
            replicas: { 'x-kubernetes-preserve-unknown-fields': true },
            tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
            ports: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['port', 'protocol'],
              items: object(
                {
                  port: { type: 'integer' },
                  protocol: { type: 'string', default: 'TCP' },
                  name: { type: 'string' },
                },
                { required: ['port'] },
              ),
            },
            named: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['name'],
              items: object({ name: { type: 'string' } }, { required: ['name'] }),
            },
            points: {
              type: 'array',
              'x-kubernetes-list-type': 'set',
              items: object(
                { x: { type: 'integer' }, y: { type: 'integer' } },
                { 'x-kubernetes-map-type': 'atomic' },
              ),
            },
            template: {
              type: 'object',
              'x-kubernetes-embedded-resource': true,
              'x-kubernetes-preserve-unknown-fields': true,
            },
            templates: {
              type: 'array',
              items: object(
                { spec: object({ a: { type: 'string' } }) },
                { 'x-kubernetes-embedded-resource': true },
              ),
            },
            nested: {
              type: 'object',
              additionalProperties: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
            },
          },
          {
            'x-kubernetes-validations': [
              { rule: '!has(self.tags) || size(self.tags) < 4', message: 'too many tags' },
            ],
          },
        ),
        status: object({ replicas: { type: 'integer' }, selector: { type: 'string' } }),
      }),
    },
  },
  cases: [
    ...values('replicas', 1, -1, 2147483648, 'x', 1.5, true, null, { a: 1 }),
    ...values('tags', ['a', 'b'], ['a', 'a', 'a', 'b', 'b'], ['a', 1], ['a', 'b', 'c', 'd']),
    ...values(
      'ports',
      [{ port: 1 }, { port: 1 }],
      [{ port: 1 }, { port: 1, protocol: 'UDP' }],
      [{ port: 1 }, { port: 1, protocol: 'TCP', name: 'x' }],
      [{ name: 'a' }, {}],
    ),
    ...values('named', [{ name: 'a' }, { name: 'a' }], [{}, {}], ['x']),
    ...values(
      'points',
      [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
      [{ x: 1 }, { x: 2 }],
    ),
    ...values(
      'template',
      {},
      { apiVersion: 'v1', kind: 'Pod', any: 1 },
      { apiVersion: 'a/b/c', kind: 'P_d' },
      { apiVersion: '', kind: '' },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a/b', labels: { 'a b': 'c' } } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { unknown: 1, namespace: 'B_' } },
      { apiVersion: 5, kind: 'Pod' },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 5 } },
      { apiVersion: 'v1', kind: 'Pod', metadata: 'x' },
      { apiVersion: 'v1', kind: 'Pod', metadata: null },
    ),
    ...values('templates', [{ kind: 'A' }, { apiVersion: 'v1', kind: 'B', spec: { a: 1, z: 2 } }]),
    ...values('nested', { 'a.b': ['x', 'x'] }),
    { name: 'status is dropped', object: { status: { replicas: 'x' } } },
    { name: 'another kind', object: { kind: 'Gadget', spec: {} } },
    { name: 'metadata as text', object: { metadata: 'x' } },
    { name: 'labels as text', object: { metadata: { name: 'case', labels: 'x' } } },
    { name: 'a label that is a number', object: { metadata: { name: 'case', labels: { a: 1 } } } },
    { name: 'a bad label', object: { metadata: { name: 'case', labels: { 'a b': 'c' } } } },
    { name: 'a bad name', object: { metadata: { name: 'A_b' } } },
    {
      name: 'owner references without uid',
      object: { metadata: { name: 'case', ownerReferences: [{ uid: 1 }] } },
    },
  ],
};

/** Kinds with good and bad objects; the answers of the real server are the expectation. */
export const RESOURCE_KINDS: readonly ResourceKind[] = [limits, formats, branches, shapes];
