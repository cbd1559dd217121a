import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { object, problemsOf, ruled } from '../../../test/support/schema-rules.ts';
import type { Schema } from '../../api/schema/structural.ts';
import { compileSchemaRules } from './rules.ts';

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
