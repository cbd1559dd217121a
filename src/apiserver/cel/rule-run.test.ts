import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorsOf, object, ruled } from '../../../test/support/schema-rules.ts';
import type { Schema } from '../../api/schema/structural.ts';
import type { Json } from '../../object/json.ts';
import { compileSchemaRules } from './rules.ts';

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
