import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { parseExact } from './exact-json.ts';

const MANAGED = '{"k:{\\"type\\":\\"Ready\\"}":{".":{}}';

describe('parseExact', () => {
  const rows: readonly { readonly name: string; readonly text: string; readonly want: unknown }[] = [
    { name: 'keys of managed fields', text: `${MANAGED}}`, want: { 'k:{"type":"Ready"}': { '.': {} } } },
    { name: 'escaped keys with space', text: '{ "a\\n" : 1 }', want: { 'a\n': 1 } },
    { name: 'escapes that nobody needs', text: '{"\\u0061":1}', want: { a: 1 } },
    { name: 'keys that look like positions', text: '{"\\"":1,"2":2,"1":3}', want: { '"': 1, '2': 2, '1': 3 } },
    {
      name: 'a long number beside escaped keys',
      text: `${MANAGED},"n":9007199254740993}`,
      want: { 'k:{"type":"Ready"}': { '.': {} }, n: 9007199254740993n },
    },
    {
      name: 'a long number beside escaped keys that gives its text again',
      text: `${MANAGED},"n":10000000000000000}`,
      want: { 'k:{"type":"Ready"}': { '.': {} }, n: 10000000000000000n },
    },
    { name: 'a long number alone', text: '9007199254740993', want: 9007199254740993n },
  ];
  for (const { name, text, want } of rows) it(name, () => assert.deepEqual(parseExact(text), want));

  it('does not mistake an escaped key for one of an earlier text', () => {
    for (const key of ['\\', '\n', '"', '\t']) {
      const value = { b: 1, [key]: 1 };
      assert.deepEqual(parseExact(JSON.stringify(value)), value);
    }
  });

  it('gives back what was written, however it was written', () =>
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        // By its text, since minus zero has none and a long number is not the number it was written from.
        assert.equal(shown(parseExact(text)), JSON.stringify(value));
      }),
    ));

  it('refuses what is no JSON', () => assert.throws(() => parseExact('{"a\\n":}'), SyntaxError));
});

const shown = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? Number(part) : part));
