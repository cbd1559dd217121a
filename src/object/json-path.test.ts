import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from './json.ts';
import { compileJsonPath, type JsonPath } from './json-path.ts';
import { parseJsonPath } from './json-path-syntax.ts';

function compiled(path: string): JsonPath {
  const found = compileJsonPath(path);
  assert.ok(found !== undefined);
  return found;
}

const object: Json = {
  metadata: { labels: { 'foo.bar': 'dotted', plain: 'x' } },
  spec: { a: 1, list: [10, 20, 30], nothing: null, big: 2n ** 60n, nested: { a: 2, b: [{ z: 1 }] } },
  lists: [{ in: [] }, { in: [7] }, {}],
  status: {
    conditions: [
      { type: 'Ready', status: 'True', count: 1, share: 0.5, ok: true },
      { type: 'Other', status: 'False', count: 2, share: 1.5, ok: false },
      { type: 'a)b', count: 3 },
    ],
  },
};

describe('compileJsonPath', () => {
  const cases: [string, Json[]][] = [
    ['.spec.a', [1]],
    ['.spec.missing', []],
    ['.spec.a.deeper', []],
    ['.spec.nothing', [null]],
    ['.metadata.labels.foo\\.bar', ['dotted']],
    [".metadata.labels['plain']", ['x']],
    [".metadata['labels'].plain", ['x']],
    [".metadata.labels['foo\\.bar','plain']", ['dotted', 'x']],
    ['.spec.list[0]', [10]],
    ['.spec.list[-1]', [30]],
    ['.spec.list[1,2]', [20, 30]],
    ['.spec.list[0:2]', [10, 20]],
    ['.spec.list[::2]', [10, 30]],
    ['.spec.list[1:1]', []],
    ['.spec.list[*]', [10, 20, 30]],
    ['.spec.nothing[*]', []],
    ['.spec.nested.*', [2, [{ z: 1 }]]],
    ['.metadata.labels.plain.*', [120]],
    ['.spec.list.*', [10, 20, 30]],
    ['.lists[-2:].in', [[7]]],
    ['.lists[1:].in[*]', [7]],
    ['.lists[*].in[*]', []],
    ['$.spec.a', [1]],
    ["['spec'].a", [1]],
    ["['spec']['nested']['a']", [2]],
    ['@.spec .a', [1]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Ready')].status", ['True']],
    ['.status.conditions[?(@.type!="Ready")].type', ['Other', 'a)b']],
    ['.status.conditions[?(@.type=="a)b")].count', [3]],
    ['.status.conditions[?(@.count>1)].count', [2, 3]],
    ['.status.conditions[?(@.count>=2)].count', [2, 3]],
    ['.status.conditions[?(@.count<2)].count', [1]],
    ['.status.conditions[?(@.count<=1)].count', [1]],
    ['.status.conditions[?(@.share==0.5)].type', ['Ready']],
    ['.status.conditions[?(@.ok==true)].type', ['Ready']],
    ['.status.conditions[?(@.status)].type', ['Ready', 'Other']],
    ['.status.conditions[?(@.missing)].type', []],
    ['.status.conditions[?(@.type>="R")].count', [1, 3]],
    ["['status'].conditions[?(@.type == 'Other')].count", [2]],
    ['.status.conditions[?("Other"==@.type)].count', [2]],
    ['.status.conditions[?(@.type[0])].type', ['Ready', 'Other', 'a)b']],
    ['.status.conditions[?(@.type=="it\\"s")].type', []],
    ['..z', [1]],
    ['.spec.a}', [1]],
    ['.spec.a} and {.spec.nested.a', [1]],
    ['..type', ['Ready', 'Other', 'a)b']],
    ['.status..count', [1, 2, 3]],
    ['.', []],
    ['', [object]],
    ["'text'", ['text']],
    ['-5', [-5]],
  ];
  for (const [path, want] of cases) {
    it(`finds ${path}`, () => assert.deepEqual(compiled(path).values(object), want));
  }

  const bad: [string, RegExp][] = [
    ['.a[', /^unterminated array$/],
    ['.a[x]', /^invalid array index x$/],
    ['.a[-]', /^array index - is not a number$/],
    ['.a[?(@.b', /^unterminated filter$/],
    ['.a[?(@.b\n)]', /^unterminated filter$/],
    ['.a[?(@.b)', /^unclosed array expect \]$/],
    ['....a', /^invalid multiple recursive descent$/],
    ['#', /^unrecognized character in action: U\+0023 '#'$/],
    ['"a', /^unterminated quoted string$/],
    ['.a\n', /^unclosed action$/],
    ['.a\\', /^unclosed action$/],
    ['.a} {.b[x]', /^invalid array index x$/],
    ['.a["b"]', /^invalid array index "b"$/],
    ['.a[?(@.b[)]', /^unterminated array$/],
    ['.a[?(@.b=="\\q")]', /^unquote string "\\q" error invalid syntax$/],
    ['1.2.3', /^cannot parse number 1\.2\.3$/],
  ];
  for (const [path, message] of bad) {
    it(`refuses ${JSON.stringify(path)}`, () => {
      assert.throws(() => parseJsonPath(path), { name: 'JsonPathProblem', message });
      assert.equal(compileJsonPath(path), undefined);
    });
  }

  const unfit: [string, RegExp][] = [
    ['.spec.list[7]', /^array index out of bounds: index 7, length 3$/],
    ['.spec.list[0:9]', /^array index out of bounds: index 8, length 3$/],
    ['.spec.list[2:1]', /^starting index 2 is greater than ending index 1$/],
    ['.spec.list[0:3:0]', /^step must be > 0$/],
    ['.spec[0]', /is not array or slice$/],
    ['.spec[?(@.a==1)]', /cannot be filtered$/],
    ['.status.conditions[?(@.type==1)]', /^incompatible types for comparison$/],
    ['.status.conditions[?(@.ok<true)]', /^invalid type for comparison$/],
    ['.status[?(@)]', /cannot be filtered$/],
    ['.status.conditions[?(@=="x")]', /^invalid type for comparison$/],
    ['.status.conditions[?(@.*=="x")]', /^can only compare one element at a time$/],
    ['.status.conditions[?(@.count==1.0)]', /^incompatible types for comparison$/],
    ['.status.conditions[?(count==1)]', /^unrecognized identifier count$/],
    ['.spec name', /^unrecognized identifier name$/],
    ['.status.conditions[?(@.type=!"x")]', /^unrecognized filter operator =!$/],
  ];
  for (const [path, message] of unfit) {
    it(`says that ${path} does not fit, and finds nothing first`, () => {
      const unfitting = compiled(path);
      assert.throws(() => unfitting.values(object), { name: 'JsonPathProblem', message });
      assert.equal(unfitting.first(object), undefined);
    });
  }

  it('gives the first value', () => {
    assert.equal(compiled('.spec.nested.a').first(object), 2);
    assert.equal(compiled('.spec.list[*]').first(object), 10);
    assert.equal(compiled('.spec.x.y').first(object), undefined);
    assert.equal(compiled('.spec.list.y').first(object), undefined);
  });

  it('reliability/T7.2: does not find what only the prototype has', () => {
    assert.equal(compiled('.spec.constructor.name').first(object), undefined);
    assert.deepEqual(compiled('.spec.constructor[*]').values(object), []);
    assert.deepEqual(compiled('.__proto__').values(object), []);
  });
});
