import fc from 'fast-check';
import { COLLECTIONS, JSON_TYPE, objectNamed, type Requests } from './request.ts';

type Members = Record<string, unknown>;

/** Rules that are wrong, endless, or made to be slow. */
const rule = fc.oneof(
  fc.constantFrom(
    'true',
    'self',
    'self.',
    '1 + "a"',
    'self.nobody',
    "self.text.matches('^(a+)+$')",
    "self.text.matches('(')",
    'self.__proto__',
    'self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, a == b && c == d))))',
    '[1,2,3].map(x, x / 0)[0] == 1',
    'self.constructor.constructor("return process")()',
    `${'('.repeat(1000)}true${')'.repeat(1000)}`,
    `${'!'.repeat(2000)}true`,
    `${'true && '.repeat(3000)}true`,
    '"a".replace("a", "b".replace("", "cccccccc"))',
    'oldSelf.text == self.text',
    '9223372036854775807 + 1 > 0',
    'duration("1s") == timestamp("2026-01-01T00:00:00Z")',
    "quantity('1Ki').isGreaterThan(quantity('x'))",
    '{"a": 1}["__proto__"] == 1',
    "'a'.format([self])",
    'self.text.split("").join("").size() > 0',
    `"${'x'.repeat(20_000)}" == self.text`,
    '',
    ' ',
    '\u0000',
    'in',
    'self.text ? 1',
  ),
  fc.string({ maxLength: 40, unit: fc.constantFrom(...'self.txali()[]{}"\'&|!=<>+-*/%,:? 0123\\'.split('')) }),
);
const pattern = fc.constantFrom(
  '^(a+)+$',
  '(',
  '[a-',
  '(?=a)',
  '\\1',
  '(a|a)*$',
  'a{1,100000}',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(?<n>a)',
  '\\p{L}+',
  '.'.repeat(5000),
);

const schema = fc.oneof(
  {
    weight: 4,
    arbitrary: rule.map(
      (text): Members => ({ type: 'object', properties: leaves, 'x-kubernetes-validations': [{ rule: text }] }),
    ),
  },
  {
    weight: 2,
    arbitrary: rule.map(
      (text): Members => ({
        type: 'object',
        properties: leaves,
        'x-kubernetes-validations': [{ rule: 'true', messageExpression: text, fieldPath: text }],
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: pattern.map(
      (text): Members => ({ type: 'object', properties: { text: { type: 'string', pattern: text } } }),
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(10, 60, 200).map((depth) => deep(depth)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(10, 2000).map(
      (count): Members => ({
        type: 'object',
        properties: { text: { type: 'string', enum: Array.from({ length: count }, (_, at) => `v${at}`) } },
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(10, 500).map(
      (count): Members => ({
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string' }])),
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Members>(
      {
        type: 'object',
        properties: JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"object"}}'),
      },
      { type: 'object', properties: { text: { type: 'string', default: 5 } } },
      { type: 'object', properties: { text: { $ref: '#/definitions/x' } } },
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
      { type: 'object', additionalProperties: { type: 'object' }, properties: { a: {} } },
      {
        type: 'object',
        properties: {
          l: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['__proto__'],
            items: { type: 'object' },
          },
        },
      },
      { type: 'object', properties: { l: { type: 'array', items: [{ type: 'string' }] } } },
      {
        type: 'object',
        oneOf: [{ properties: { a: { type: 'string' } } }],
        allOf: [{ not: { required: ['a'] } }],
      },
      { type: 'object', properties: { n: { type: 'integer', minimum: 2 ** 60, multipleOf: 0 } } },
      { type: 'string' },
      {},
    ),
  },
);
const leaves = {
  text: { type: 'string' },
  list: { type: 'array', items: { type: 'integer' } },
  n: { type: 'integer' },
};

function deep(depth: number): Members {
  let inner: Members = { type: 'string' };
  for (let level = 0; level < depth; level++) inner = { type: 'object', properties: { a: inner } };
  return inner;
}

const definition = fc
  .tuple(
    fc.nat(5),
    schema,
    fc.constantFrom('v1', 'v1', 'v1', 'V1', '__proto__', ''),
    fc.constantFrom('spec', '__proto__', 'metadata'),
  )
  .map(([at, found, version, member]) => {
    const plural = `hostiles${at}`;
    const versions = [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { [member]: found } } },
      },
    ];
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.hostile.example.com` },
      spec: {
        group: 'hostile.example.com',
        scope: 'Namespaced',
        names: { plural, singular: `hostile${at}`, kind: `Hostile${at}` },
        versions,
      },
    };
  });

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Definitions, mostly refused; those that are served are removed again now and then. */
export const definitionRequests: Requests = fc.oneof(
  {
    weight: 5,
    arbitrary: definition.map((body) => ({
      attack: 'hostile definition',
      method: 'POST',
      path: DEFINITIONS,
      headers: JSON_TYPE,
      body: JSON.stringify(body),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.nat(5).map((at) => ({
      attack: 'removal of a definition',
      method: 'DELETE',
      path: `${DEFINITIONS}/hostiles${at}.hostile.example.com`,
    })),
  },
  {
    weight: 1,
    arbitrary: fc.nat(5).map((at) => ({
      attack: 'object of a hostile definition',
      method: 'POST',
      path: `/apis/hostile.example.com/v1/namespaces/fuzzed/hostiles${at}`,
      headers: JSON_TYPE,
      body: JSON.stringify({
        apiVersion: 'hostile.example.com/v1',
        kind: `Hostile${at}`,
        metadata: { generateName: 'h-' },
        spec: { text: `${'a'.repeat(60)}!`, list: Array.from({ length: 60 }, (_, index) => index) },
      }),
    })),
  },
);

/** Texts that a backtracking pattern never finishes with, and lists that rules go through again and again. */
export const ruleRequests: Requests = fc
  .tuple(
    fc.constantFrom(`${'a'.repeat(60)}!`, 'a'.repeat(3999), `${'ab'.repeat(1900)}\u0000`, 'x\n'.repeat(900), ''),
    fc.constantFrom(1, 150, 250),
    fc.constantFrom(-1, 5, 1e15),
  )
  .map(([text, length, count]) => {
    const items = Array.from({ length }, (_, at) => ({ name: `n${at}`, size: at * 10_000 }));
    const body = { ...objectNamed('Target', 'rules'), spec: { text, count, items } };
    return {
      attack: 'work for rules',
      method: 'POST',
      path: COLLECTIONS.Target,
      headers: JSON_TYPE,
      body: JSON.stringify(body),
    };
  });
