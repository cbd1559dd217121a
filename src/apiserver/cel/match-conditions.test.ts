import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../../object/json.ts';
import { compileMatchConditions } from './match-conditions.ts';

const REQUEST: Json = {
  operation: 'CREATE',
  name: 'a',
  namespace: 'default',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  userInfo: { username: 'jane', groups: ['dev'], extra: { scopes: ['x'] } },
  dryRun: false,
  options: { fieldManager: 'me' },
};
const POD: Json = { metadata: { name: 'a', labels: { app: 'web' } }, spec: { replicas: 3, ratio: 1.5 } };

const evaluate = (...expressions: readonly string[]) =>
  compileMatchConditions(expressions.map((expression, index) => ({ name: `c${index}`, expression }))).evaluate({
    object: POD,
    oldObject: null,
    request: REQUEST,
  });

const cases = [
  { expression: "object.metadata.name == 'a' && oldObject == null", want: 'match' },
  { expression: "request.operation == 'CREATE' && request.userInfo.groups.exists(g, g == 'dev')", want: 'match' },
  {
    expression: "request.kind.kind == 'Pod' && !request.dryRun && request.options.fieldManager == 'me'",
    want: 'match',
  },
  { expression: 'object.spec.replicas > 2 && object.spec.ratio > 1.0', want: 'match' },
  { expression: "has(object.metadata.labels) && object.metadata.labels['app'] == 'db'", want: 'no match' },
  { expression: "'scopes' in request.userInfo.extra && !has(request.subResource)", want: 'match' },
] as const;

describe('match conditions', () => {
  for (const { expression, want } of cases) {
    it(`apiserver/V2: ${expression} is ${want}`, () => assert.equal(evaluate(expression), want));
  }

  it('apiserver/V2: match when there are none', () => assert.equal(evaluate(), 'match'));

  it('apiserver/V2: give the error, unless another condition is false', () => {
    const error = "expression 'object.zz == 1' resulted in error: no such key: zz";
    assert.deepEqual(evaluate('object.zz == 1', 'true'), { error });
    assert.deepEqual(evaluate('object.zz == 1', 'object.yy == 1'), {
      error: `[${error}, expression 'object.yy == 1' resulted in error: no such key: yy]`,
    });
    assert.equal(evaluate('object.zz == 1', 'false'), 'no match');
  });

  it('stop when they cost too much', () => {
    const costly = 'lists.range(900).all(x, lists.range(900).all(y, x + y >= 0))';
    assert.deepEqual(evaluate(costly), {
      error: `expression '${costly}' resulted in error: operation cancelled: actual cost limit exceeded`,
    });
  });

  it('tell what is wrong with them', () => {
    const { problems } = compileMatchConditions([
      { name: 'ok', expression: 'request.zz == 1' },
      { name: 'ok', expression: '1 + 1' },
      { name: '', expression: ' ' },
      { name: 'not a name', expression: "int('x') == 1" },
    ]);
    assert.deepEqual(
      problems.map(({ path, message }) => `${path}: ${message.split('\n')[0]}`),
      [
        `[0].expression: Invalid value: "request.zz == 1": compilation failed: ERROR: <input>:1:8: undefined field 'zz'`,
        '[1].expression: Invalid value: "1 + 1": must evaluate to bool but got int',
        '[1].name: Duplicate value: "ok"',
        '[2].expression: Required value',
        '[2].name: Required value',
        `[3].expression: Invalid value: "int('x') == 1": program instantiation failed: type conversion error from 'string' to 'int'`,
        `[3].name: Invalid value: "not a name": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      ],
    );
  });

  it('are 64 at most', () => {
    const many = Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' }));
    assert.deepEqual(compileMatchConditions(many).problems, [
      { path: '', reason: 'FieldValueTooMany', message: 'Too many: 65: must have at most 64 items' },
    ]);
  });
});
