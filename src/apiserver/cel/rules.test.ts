import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorsOf, object, problemsOf, ruled } from '../../../test/support/schema-rules.ts';
import type { Schema } from '../../api/schema/structural.ts';
import { compileSchemaRules } from './rules.ts';

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
