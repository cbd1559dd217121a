import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../../object/json.ts';
import type { Schema, ValidationRule } from '../../object/schema.ts';
import { compileSchemaRules } from './rules.ts';

const object = (properties: Readonly<Record<string, Schema>>, ...rules: ValidationRule[]): Schema => ({
  type: 'object',
  properties,
  'x-kubernetes-validations': rules,
});

const ruled = (schema: Schema, ...rules: (string | ValidationRule)[]): Schema => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});

interface Case {
  readonly old?: Json;
  readonly path?: string;
  readonly isRatcheting?: boolean;
}

function errorsOf(
  schema: Schema,
  value: Json,
  { old, path = 'spec', isRatcheting = true }: Case = {},
): readonly string[] {
  const { rules, problems } = compileSchemaRules(schema);
  assert.deepEqual(problems, []);
  return rules.validate(value, old, path, { isRatcheting }).map(({ field, message }) => `${field}: ${message}`);
}

const problemsOf = (schema: Schema): readonly string[] =>
  compileSchemaRules(schema).problems.map(({ path, message }) => `${path}: ${message}`);

describe('a schema without rules', () => {
  it('has nothing to check', () => {
    const { rules, problems } = compileSchemaRules({ type: 'object', properties: { a: { type: 'string' } } });
    assert.equal(rules.isEmpty, true);
    assert.deepEqual(rules.validate({ a: 'x' }, undefined, ''), []);
    assert.deepEqual(problems, []);
  });

  it('is compiled once', () => {
    const schema = object({ a: { type: 'integer' } }, { rule: 'self.a > 0' });
    assert.equal(compileSchemaRules(schema), compileSchemaRules(schema));
    assert.notEqual(
      compileSchemaRules(schema),
      compileSchemaRules(schema, 'spec.versions[0].schema.openAPIV3Schema'),
    );
  });
});

describe('variables', () => {
  const NAMED = ruled(
    { type: 'object' },
    "self.metadata.name.startsWith('a') && self.kind == 'Widget' && self.apiVersion == 'x/v1'",
  );

  it('apiserver/X24: show name, kind and apiVersion of the whole resource without any schema for them', () => {
    const resource = { apiVersion: 'x/v1', kind: 'Widget', metadata: { name: 'abc', labels: { b: 'c' } } };
    assert.deepEqual(errorsOf(NAMED, resource, { path: '' }), []);
    assert.equal(errorsOf(NAMED, { ...resource, metadata: { name: 'xyz' } }, { path: '' }).length, 1);
  });

  it('apiserver/X24: hide the rest of the metadata', () => {
    const [problem = ''] = problemsOf(ruled({ type: 'object' }, "self.metadata.labels.a == 'b'"));
    assert.match(problem, /undefined field 'labels'/);
  });

  it('apiserver/X24: are self and oldSelf only', () => {
    assert.match(
      problemsOf(ruled({ type: 'object' }, 'object.a == 1')).join('\n'),
      /undeclared reference to 'object'/,
    );
  });

  const IMMUTABLE = ruled({ type: 'string' }, { rule: 'self == oldSelf', message: 'is immutable' });

  it('apiserver/X24: skip transition rules on create and run them on update', () => {
    assert.deepEqual(errorsOf(IMMUTABLE, 'b'), []);
    assert.deepEqual(errorsOf(IMMUTABLE, 'b', { old: 'a' }), ['spec: Invalid value: "b": is immutable']);
    assert.deepEqual(errorsOf(IMMUTABLE, 'a', { old: 'a' }), []);
  });

  it('apiserver/X24: skip transition rules where the old object has no value', () => {
    const schema: Schema = { type: 'object', properties: { a: IMMUTABLE } };
    assert.deepEqual(errorsOf(schema, { a: 'x' }, { old: {} }), []);
    assert.deepEqual(errorsOf(schema, { a: 'x' }, { old: { a: null } }), []);
  });

  it('apiserver/X24: run a rule with an optional oldSelf in any case', () => {
    const rule = { rule: 'oldSelf.optMap(o, self >= o).orValue(self == 1)', optionalOldSelf: true, message: 'no' };
    const schema = ruled({ type: 'integer' }, rule);
    assert.deepEqual(errorsOf(schema, 1), []);
    assert.deepEqual(errorsOf(schema, 2), ['spec: Invalid value: 2: no']);
    assert.deepEqual(errorsOf(schema, 2, { old: 3 }), ['spec: Invalid value: 2: no']);
  });

  it('apiserver/X24: pair items of map lists by their keys, defaults included', () => {
    const item = object(
      { k: { type: 'string' }, p: { type: 'integer', default: 1 }, v: { type: 'integer' } },
      { rule: 'self.v >= oldSelf.v', message: 'shrinks' },
    );
    const schema: Schema = {
      type: 'array',
      items: item,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'p'],
    };
    const old = [
      { k: 'a', v: 5 },
      { k: 'b', p: 1, v: 5 },
    ];
    assert.deepEqual(
      errorsOf(
        schema,
        [
          { k: 'b', p: 1, v: 5 },
          { k: 'a', p: 1, v: 4 },
          { k: 'c', v: 0 },
        ],
        { old },
      ),
      ['spec[1]: Invalid value: shrinks'],
    );
  });
});

describe('visibility', () => {
  const cases = [
    { name: 'a field beside the schema', schema: object({ a: { type: 'string' } }), rule: 'self.b == 1' },
    {
      name: 'what only preserve-unknown-fields keeps',
      schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const,
      rule: 'self.b == 1',
    },
    {
      name: 'a property without a type',
      schema: object({ b: { 'x-kubernetes-preserve-unknown-fields': true } }),
      rule: 'self.b == 1',
    },
    {
      name: 'a list of items without a type',
      schema: object({ b: { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true } } }),
      rule: 'size(self.b) == 1',
    },
    {
      name: 'a property whose name cannot be escaped',
      schema: object({ b$: { type: 'string' } }),
      rule: 'has(self.b)',
    },
  ] satisfies { name: string; schema: Schema; rule: string }[];
  for (const { name, schema, rule } of cases) {
    it(`apiserver/X25: hides ${name}`, () => {
      assert.match(problemsOf(ruled(schema, rule)).join('\n'), /undefined field 'b'/);
    });
  }

  it('apiserver/X25: still compares data that it hides', () => {
    const hidden: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = ruled(hidden, 'self == oldSelf');
    assert.deepEqual(errorsOf(schema, { a: { b: [1] } }, { old: { a: { b: [1] } } }), []);
    assert.equal(errorsOf(schema, { a: { b: [1] } }, { old: { a: { b: [2] } } }).length, 1);
  });

  it('cannot hold rules where there is no type', () => {
    const schema: Schema = {
      type: 'object',
      properties: { a: ruled({ 'x-kubernetes-preserve-unknown-fields': true }, 'true') },
    };
    assert.deepEqual(problemsOf(schema), [
      '.properties[a].x-kubernetes-validations: Internal error: internal error: failed to retrieve type information for x-kubernetes-validations',
    ]);
  });

  it('treats keys such as __proto__ and constructor like any other', () => {
    const map = ruled(
      { type: 'object', additionalProperties: { type: 'integer' } },
      "!('constructor' in self) && self['__proto__'] == 1",
    );
    assert.deepEqual(
      errorsOf({ type: 'object', properties: { map } }, { map: JSON.parse('{"__proto__": 1}') }),
      [],
    );
  });
});

describe('values', () => {
  it('apiserver/X26: are of the type of the schema, also beyond 2^53', () => {
    const schema = object(
      { i: { type: 'integer' }, n: { type: 'number' }, t: { type: 'string', format: 'date-time' } },
      { rule: "self.i == 9007199254740993 && self.n == 2.0 && self.t < timestamp('2021-01-01T00:00:00Z')" },
    );
    assert.deepEqual(errorsOf(schema, { i: 9007199254740993n, n: 2, t: '2020-01-01T00:00:00Z' }), []);
  });

  it('apiserver/X26: treat a nullable field that is null as absent', () => {
    const schema = object({ a: { type: 'string', nullable: true } }, { rule: '!has(self.a)' });
    assert.deepEqual(errorsOf(schema, { a: null }), []);
  });

  it('of a wrong type fail the rule, not the server', () => {
    const schema = object(
      { a: { type: 'integer' }, b: { type: 'boolean' }, c: { type: 'array', items: { type: 'string' } } },
      { rule: 'self.a == 1' },
      { rule: 'self.b' },
      { rule: 'self.c.size() == 1' },
    );
    assert.deepEqual(errorsOf(schema, { a: 'x', b: {}, c: 1.5 }), [
      'spec: Invalid value: "object": invalid data, expected int, got string evaluating rule: self.a == 1',
      'spec: Invalid value: "object": invalid data, expected bool, got map[string]interface {} evaluating rule: self.b',
      'spec: Invalid value: "object": invalid data, expected array, got float64 evaluating rule: self.c.size() == 1',
    ]);
  });

  const list = (type: 'set' | 'atomic'): Schema =>
    ruled({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': type }, 'self == oldSelf');
  it('apiserver/X27: compare sets without regard to order and atomic lists with it', () => {
    assert.deepEqual(errorsOf(list('set'), ['a', 'b'], { old: ['b', 'a'] }), []);
    assert.equal(errorsOf(list('atomic'), ['a', 'b'], { old: ['b', 'a'] }).length, 1);
  });

  it('apiserver/X27: merge map lists by key when they are added', () => {
    const entry: Schema = { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } };
    const schema = ruled(
      { type: 'array', items: entry, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
      '(oldSelf + self).size() == 3 && (oldSelf + self)[0].v == 9',
    );
    const old = [
      { k: 'a', v: 1 },
      { k: 'b', v: 2 },
    ];
    assert.deepEqual(
      errorsOf(
        schema,
        [
          { k: 'c', v: 3 },
          { k: 'a', v: 9 },
        ],
        { old },
      ),
      [],
    );
  });
});

describe('messages', () => {
  it('apiserver/X28: show scalars only', () => {
    assert.deepEqual(errorsOf(ruled({ type: 'string' }, 'self.size() > 3'), 'a"b'), [
      'spec: Invalid value: "a\\"b": failed rule: self.size() > 3',
    ]);
    assert.deepEqual(errorsOf(ruled({ type: 'array', items: { type: 'string' } }, 'self.size() > 3'), ['a']), [
      'spec: Invalid value: failed rule: self.size() > 3',
    ]);
  });

  it('apiserver/X28: come from messageExpression, else message, else the rule', () => {
    const rule = { rule: 'self > 5', message: 'too small', messageExpression: "'%d is too small'.format([self])" };
    assert.deepEqual(errorsOf(ruled({ type: 'integer' }, rule), 1), ['spec: Invalid value: 1: 1 is too small']);
    const failing = { ...rule, messageExpression: 'string(1 / (self - 1))' };
    assert.deepEqual(errorsOf(ruled({ type: 'integer' }, failing), 1), ['spec: Invalid value: 1: too small']);
    const long = { ...rule, messageExpression: "'x'.replace('x', 'y') + lists.range(2000).map(i, 'abc').join()" };
    assert.deepEqual(errorsOf(ruled({ type: 'integer' }, long), 1), ['spec: Invalid value: 1: too small']);
  });

  it('apiserver/X28: name the field of fieldPath and the reason', () => {
    const { rules } = compileSchemaRules(
      object(
        { a: { type: 'integer' } },
        { rule: 'self.a > 5', fieldPath: '.a', reason: 'FieldValueForbidden', message: 'm' },
      ),
    );
    assert.deepEqual(rules.validate({ a: 1 }, undefined, 'spec'), [
      { reason: 'FieldValueForbidden', field: 'spec.a', message: 'Forbidden: m' },
    ]);
  });

  it('apiserver/X28: say which evaluation failed', () => {
    assert.deepEqual(errorsOf(object({ a: { type: 'integer' } }, { rule: 'self.a == 1', message: 'm' }), {}), [
      'spec: Invalid value: "object": no such key: a evaluating rule: m',
    ]);
  });
});

describe('problems of rules', () => {
  it('show the whole rule as upstream prints it', () => {
    assert.deepEqual(
      problemsOf(
        object({ a: { type: 'integer' } }, { rule: 'self.b < 1 && true', message: 'm', optionalOldSelf: false }),
      ),
      [
        '.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b \\u003c 1 \\u0026\\u0026 true","Message":"m","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":false}: compilation failed: ERROR: <input>:1:5: undefined field \'b\'\n | self.b < 1 && true\n | ....^',
        '.x-kubernetes-validations[0].optionalOldSelf: Invalid value: false: may not be set if oldSelf is not used in rule',
      ],
    );
  });

  it('apiserver/X29: include oldSelf where old items cannot be found', () => {
    const schema: Schema = {
      type: 'object',
      properties: { l: { type: 'array', items: ruled({ type: 'string' }, 'self == oldSelf') } },
    };
    const base = 'spec.versions[1].schema.openAPIV3Schema';
    assert.deepEqual(compileSchemaRules(schema, base).problems, [
      {
        path: '.properties[l].items.x-kubernetes-validations[0].rule',
        reason: 'FieldValueInvalid',
        message: `Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${base}.properties[l]`,
      },
    ]);
  });

  it('include a messageExpression that is no string', () => {
    const [problem = ''] = problemsOf(ruled({ type: 'integer' }, { rule: 'self > 1', messageExpression: 'self' }));
    assert.match(
      problem,
      /^\.x-kubernetes-validations\[0\]\.messageExpression: .*: messageExpression must evaluate to a string$/,
    );
    const [other = ''] = problemsOf(ruled({ type: 'integer' }, { rule: 'self > 1', messageExpression: 'foo' }));
    assert.match(other, /messageExpression compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo'/);
  });

  const shapes = [
    { rule: { rule: '  ' }, want: '[0].rule: Required value: rule is not specified' },
    {
      rule: { rule: 'true', message: ' ' },
      want: '[0].message: Invalid value: " ": must be non-empty if specified',
    },
    {
      rule: { rule: 'true', message: 'a\nb' },
      want: '[0].message: Invalid value: "a\\nb": must not contain line breaks',
    },
    {
      rule: { rule: 'true\n|| false' },
      want: '[0].message: Required value: message must be specified if rule contains line breaks',
    },
    {
      rule: { rule: 'true', messageExpression: ' ' },
      want: '[0].messageExpression: Required value: messageExpression must be non-empty if specified',
    },
    {
      rule: { rule: 'true', reason: 'Foo' },
      want: '[0].reason: Unsupported value: "Foo": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
    },
    {
      rule: { rule: 'true', fieldPath: '.zz' },
      want: '[0].fieldPath: Invalid value: ".zz": must be a valid path',
    },
    { rule: { rule: 'true', fieldPath: 'a' }, want: '[0].fieldPath: Invalid value: "a": must be a valid path' },
    {
      rule: { rule: 'true', fieldPath: '.a[0]' },
      want: '[0].fieldPath: Invalid value: ".a[0]": must be a valid path',
    },
    {
      rule: { rule: 'true', fieldPath: "['\\q']" },
      want: '[0].fieldPath: Invalid value: "[\'\\\\q\']": must be a valid path',
    },
  ];
  for (const { rule, want } of shapes) {
    it(`include ${JSON.stringify(rule)}`, () => {
      assert.deepEqual(problemsOf(object({ a: { type: 'integer' } }, rule)), [`.x-kubernetes-validations${want}`]);
    });
  }

  it('in the shape of one rule keep all at this place and above from being compiled', () => {
    const inner = ruled({ type: 'string' }, { rule: '' });
    assert.deepEqual(problemsOf(object({ a: inner }, { rule: 'self.zz' })), [
      '.properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified',
    ]);
  });
});

describe('ratcheting', () => {
  const SCHEMA: Schema = {
    type: 'object',
    properties: {
      a: ruled({ type: 'integer' }, { rule: 'self > 5', message: 'small' }),
      b: { type: 'integer' },
      l: { type: 'array', items: ruled({ type: 'integer' }, { rule: 'self > 5', message: 'small' }) },
    },
  };

  it('apiserver/X22: lets a rule fail where nothing changed, and warns', () => {
    const warnings: string[] = [];
    const { rules } = compileSchemaRules(SCHEMA);
    const warn = (text: string): void => void warnings.push(text);
    assert.deepEqual(rules.validate({ a: 1, b: 2 }, { a: 1, b: 1 }, 'spec', { warn }), []);
    assert.deepEqual(warnings, ['spec.a: Invalid value: 1: small']);
    assert.deepEqual(errorsOf(SCHEMA, { a: 2 }, { old: { a: 1 } }), ['spec.a: Invalid value: 2: small']);
  });

  it('apiserver/X22: looks at the closest list or object that can be compared', () => {
    assert.deepEqual(errorsOf(SCHEMA, { l: [1], b: 2 }, { old: { l: [1], b: 1 } }), []);
    assert.equal(errorsOf(SCHEMA, { l: [1, 7] }, { old: { l: [1] } }).length, 1);
  });

  it('apiserver/X22: never spares a rule that uses oldSelf, nor anything when it is off', () => {
    const schema = ruled({ type: 'integer' }, 'self > oldSelf');
    assert.equal(errorsOf(schema, 1, { old: 1 }).length, 1);
    assert.equal(errorsOf(SCHEMA, { a: 1 }, { old: { a: 1 }, isRatcheting: false }).length, 1);
  });
});

describe('cost', () => {
  const NUMBERS: Schema = { type: 'array', items: { type: 'integer' } };
  const numbers = (count: number): Json => Array.from({ length: count }, (_, index) => index);

  it('apiserver/X31: stops a rule that runs away', () => {
    const schema = ruled(NUMBERS, 'self.all(x, self.all(y, self.all(z, x + y + z >= 0)))', 'self.size() > 1000');
    assert.deepEqual(errorsOf(schema, numbers(1000)), [
      'spec: Invalid value: "array": \'operation cancelled: actual cost limit exceeded\': no further validation rules will be run due to call cost exceeds limit for rule: self.all(x, self.all(y, self.all(z, x + y + z >= 0)))',
    ]);
  });

  it('apiserver/X31: no error inside the rule hides that', () => {
    const schema = ruled(
      NUMBERS,
      'self.all(x, self.all(y, lists.range(100).all(z, z >= 0) && 1 / 0 == 1)) || true',
    );
    assert.match(errorsOf(schema, numbers(2000)).join(), /actual cost limit exceeded/);
    assert.match(
      errorsOf(ruled(NUMBERS, 'lists.range(2000000).size() == 0'), []).join(),
      /actual cost limit exceeded/,
    );
  });

  it('apiserver/X31: stops an object whose rules cost too much together', () => {
    const item = ruled({ type: 'string' }, "!self.contains(self + 'b' + self)");
    const errors = errorsOf(
      { type: 'array', items: item },
      Array.from({ length: 20 }, () => 'a'.repeat(6000)),
    );
    assert.equal(errors.length, 1);
    assert.match(
      errors.join(),
      /^spec\[\d+\]: Invalid value: "string": validation failed due to running out of cost budget, no further validation rules will be run$/,
    );
  });

  it('apiserver/X32: regular expressions are RE2 and take linear time', () => {
    const schema = ruled({ type: 'string' }, "self.matches('^(a+)+$')");
    assert.equal(errorsOf(schema, `${'a'.repeat(5000)}b`).length, 1);
  });
});
