import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cloneJson, type Json } from '../json.ts';
import { goFloat, goJson, goKind, goPlain, goQuote, goSyntax, goType, goValue, isGoInteger } from './go-text.ts';

describe('texts as Go writes them', () => {
  const quotes: readonly (readonly [string, string])[] = [
    ['plain', '"plain"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['tab\tline\n', '"tab\\tline\\n"'],
    ['\u0000\u007f', '"\\x00\\x7f"'],
    ['é😀', '"é😀"'],
    ['\u00a0\u{e0001}', '"\\u00a0\\U000e0001"'],
  ];
  for (const [text, quoted] of quotes) {
    it(`quotes ${JSON.stringify(text)}`, () => assert.equal(goQuote(text), quoted));
  }

  const floats: readonly (readonly [number, string])[] = [
    [0, '0'],
    [-0, '-0'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [1.5, '1.5'],
    [100_000.5, '100000.5'],
    [1e6, '1e+06'],
    [1_234_567.5, '1.2345675e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e100, '1e+100'],
  ];
  for (const [value, text] of floats) it(`prints the float ${value}`, () => assert.equal(goFloat(value), text));

  it('writes objects with sorted keys and escaped HTML', () => {
    assert.equal(
      goJson({ b: '<a&>', a: [1, null, true, 2n ** 60n] }),
      '{"a":[1,null,true,1152921504606846976],"b":"\\u003ca\\u0026\\u003e"}',
    );
  });

  it('writes JSON that means the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = value as Json;
        assert.deepEqual(JSON.parse(goJson(cloneJson(json))), JSON.parse(JSON.stringify(json)));
      }),
    );
  });

  it('shows integers beyond int64 as floats', () => {
    assert.equal(goValue(2n ** 70n), '1.1805916207174113e+21');
    assert.equal(isGoInteger(2n ** 62n), true);
    assert.equal(goValue(null), 'null');
  });
});

describe('what Go makes of JSON', () => {
  const rows: readonly (readonly [value: Json, plain: string, syntax: string, type: string, kind: string])[] = [
    [null, '<nil>', 'interface {}(nil)', '<nil>', 'null'],
    ['a"b', 'a"b', '"a\\"b"', 'string', 'string'],
    [true, 'true', 'true', 'bool', 'bool'],
    [5, '5', '5', 'int64', 'number'],
    [2n ** 60n, '1152921504606846976', '1152921504606846976', 'int64', 'number'],
    [1_234_567.5, '1.2345675e+06', '1.2345675e+06', 'float64', 'number'],
    [1e30, '1e+30', '1e+30', 'float64', 'number'],
    [['x', null], '[x <nil>]', '[]interface {}{"x", interface {}(nil)}', '[]interface {}', 'array'],
    [
      { b: [1.5], a: 'x' },
      'map[a:x b:[1.5]]',
      'map[string]interface {}{"a":"x", "b":[]interface {}{1.5}}',
      'map[string]interface {}',
      'object',
    ],
  ];
  for (const [value, ...want] of rows) {
    it(`is printed, written, typed and called as Go does: ${want[0]}`, () => {
      assert.deepEqual([goPlain(value), goSyntax(value), goType(value), goKind(value)], want);
    });
  }
});
