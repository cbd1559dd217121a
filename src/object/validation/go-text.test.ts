import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cloneJson, type Json } from '../json.ts';
import { goFloat, goJson, goQuote, goValue, isGoInteger } from './go-text.ts';

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
