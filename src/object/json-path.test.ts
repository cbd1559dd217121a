import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from './json.ts';
import { compileJsonPath, printJsonPathValue, simplePathProblem } from './json-path.ts';

const object: Json = {
  metadata: { labels: { 'foo.bar': 'dotted', plain: 'x' } },
  spec: { a: 1, list: [10, 20, 30], nothing: null, big: 2n ** 60n, nested: { a: 2 } },
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
    ['.spec.nested.*', [2]],
    ['.spec.list.*', [10, 20, 30]],
    ['$.spec.a', [1]],
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
    ['.status.conditions[?(@.type[0])].type', ['Ready', 'Other', 'a)b']],
    ['.status.conditions[?(@.type=="it\\"s")].type', []],
    ['..type', ['Ready', 'Other', 'a)b']],
    ['.status..count', [1, 2, 3]],
    ['.', []],
    ['', [object]],
    ["'text'", ['text']],
    ['-5', [-5]],
  ];
  for (const [path, want] of cases) {
    it(`finds ${path}`, () => assert.deepEqual(compileJsonPath(path).values(object), want));
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
    ['}', /^unclosed action$/],
    ['name', /^unrecognized identifier name$/],
    ['1.2.3', /^cannot parse number 1\.2\.3$/],
  ];
  for (const [path, message] of bad) {
    it(`refuses ${JSON.stringify(path)}`, () => {
      assert.throws(() => compileJsonPath(path), { name: 'JsonPathProblem', message });
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
    ['.status.conditions[?(@.type=!"x")]', /^unrecognized filter operator =!$/],
  ];
  for (const [path, message] of unfit) {
    it(`says that ${path} does not fit, and finds nothing first`, () => {
      const compiled = compileJsonPath(path);
      assert.throws(() => compiled.values(object), { name: 'JsonPathProblem', message });
      assert.equal(compiled.first(object), undefined);
    });
  }

  it('gives the first value', () => {
    assert.equal(compileJsonPath('.spec.nested.a').first(object), 2);
    assert.equal(compileJsonPath('.spec.list[*]').first(object), 10);
    assert.equal(compileJsonPath('.spec.x.y').first(object), undefined);
    assert.equal(compileJsonPath('.spec.list.y').first(object), undefined);
  });

  it('reliability/T7.2: does not find what only the prototype has', () => {
    assert.equal(compileJsonPath('.spec.constructor.name').first(object), undefined);
    assert.deepEqual(compileJsonPath('.spec.constructor[*]').values(object), []);
    assert.deepEqual(compileJsonPath('.__proto__').values(object), []);
  });
});

describe('printJsonPathValue', () => {
  const cases: [Json, string][] = [
    ['x', 'x'],
    [5, '5'],
    [2n ** 60n, String(2n ** 60n)],
    [true, 'true'],
    [null, '<no value>'],
    [[1, 'a', { d: 1, c: 2 }], '[1,"a",{"c":2,"d":1}]'],
    [{ b: 1, a: null }, '{"a":null,"b":1}'],
  ];
  for (const [value, want] of cases) {
    it(`prints ${want}`, () => assert.equal(printJsonPathValue(value), want));
  }
});

describe('simplePathProblem', () => {
  it('wants a path that starts with a dot', () => {
    assert.equal(simplePathProblem(''), 'must not be empty');
    assert.equal(simplePathProblem('spec.x'), 'must be a simple json path starting with .');
    assert.equal(simplePathProblem('.spec.x'), undefined);
  });
});
