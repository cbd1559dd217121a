import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseToml } from './toml-document.ts';

const parsed = (text: string): unknown => JSON.parse(JSON.stringify(parseToml(text)));

describe('parseToml', () => {
  const cases: readonly { name: string; given: string; want: unknown }[] = [
    { name: 'nothing', given: '', want: {} },
    { name: 'comments and empty lines', given: '# a\n\n \t\n  # b', want: {} },
    {
      name: 'texts in both quotes',
      given: 'a = "x" # c\nb=\'C:\\x\'\r\nc = ""',
      want: { a: 'x', b: 'C:\\x', c: '' },
    },
    {
      name: 'escapes',
      given: 'a = "\\"\\\\\\t\\n\\u00e4\\U0001F600 # no comment"',
      want: { a: '"\\\t\nä😀 # no comment' },
    },
    {
      name: 'booleans and whole numbers',
      given: 'a = true\nb = false\nc = -5\nd = 0',
      want: { a: true, b: false, c: -5, d: 0 },
    },
    {
      name: 'keys bare, quoted and dotted',
      given: 'a-b_1 = 1\n"c d" = 2\n\'e\' = 3\nf.g."h" = 4\nf.i = 5',
      want: { 'a-b_1': 1, 'c d': 2, e: 3, f: { g: { h: 4 }, i: 5 } },
    },
    {
      name: 'lists over several lines',
      given: 'a = [ "x", # c\n\n  \'y\',\n]\nb = []\nc = [[1], [2]]',
      want: { a: ['x', 'y'], b: [], c: [[1], [2]] },
    },
    {
      name: 'tables',
      given: '[a]\nb = 1\n[a.c]\nd = 2\n[ e . "f" ] # x\ng = 3',
      want: { a: { b: 1, c: { d: 2 } }, e: { f: { g: 3 } } },
    },
    {
      name: 'tables in one line',
      given: 'a = { b = 1, c.d = "x" }\ne = [{f = 1}, {}]',
      want: { a: { b: 1, c: { d: 'x' } }, e: [{ f: 1 }, {}] },
    },
    {
      name: 'lists of tables, each with those below it',
      given: '[[r]]\nl = 1\n  [[r.m]]\n  l = 2\n  [[r.m]]\n  l = 3\n[[r]]\n[r.t]\nx = 1\n[[r.m]]\nl = 4',
      want: {
        r: [
          { l: 1, m: [{ l: 2 }, { l: 3 }] },
          { t: { x: 1 }, m: [{ l: 4 }] },
        ],
      },
    },
    {
      name: 'a table that something below made',
      given: '[a.b]\nc = 1\n[a]\nd = 2',
      want: { a: { b: { c: 1 }, d: 2 } },
    },
    { name: 'a mark at the beginning', given: '\uFEFFa = 1', want: { a: 1 } },
  ];
  for (const { name, given, want } of cases) {
    it(`reads ${name}`, () => {
      assert.deepEqual(parsed(given), want);
    });
  }

  it('takes any text for a key without harm', () => {
    const table = parseToml('__proto__.x = 1\nconstructor = 2\n[toString]\ny = 3');
    assert.deepEqual(Object.keys(table), ['__proto__', 'constructor', 'toString']);
    assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
  });

  const wrong: readonly { name: string; given: string; message: RegExp }[] = [
    {
      name: 'an address without quotes',
      given: '\n[[registry]]\nlocation = 192.168.1.1:5000\n',
      message: /line 3 has the value 192\.168\.1\.1:5000, which is not understood: put texts in quotes/,
    },
    { name: 'a word without quotes', given: 'location=quay', message: /line 1 has the value quay/ },
    { name: 'a number with a point', given: 'a = 1.5', message: /line 1 has the value 1\.5/ },
    { name: 'a number with zeros in front', given: 'a = 01', message: /line 1 has the value 01/ },
    { name: 'no value', given: '\na =', message: /line 2 lacks a value/ },
    { name: 'no equals sign', given: 'a', message: /line 1 lacks "=" behind a/ },
    { name: 'no key', given: '= 1', message: /line 1 has "= 1" where a key must be/ },
    { name: 'a text without an end', given: 'a = "x\nb = "y"', message: /line 1 lacks """ at the end of a text/ },
    { name: 'a literal text without an end', given: "a = 'x", message: /line 1 lacks "'" at the end of a text/ },
    { name: 'an escape that is none', given: 'a = "\\q"', message: /line 1 has an unknown escape "\\q"/ },
    { name: 'an escape of no character', given: 'a = "\\UFFFFFFFF"', message: /escape that is no character/ },
    { name: 'a text of several lines', given: 'a = """\nx"""', message: /text of several lines/ },
    { name: 'two things in a line', given: 'a = 1 b = 2', message: /line 1 has more than one thing: "b = 2"/ },
    { name: 'a key twice', given: 'a = 1\n\na = 2', message: /line 3 gives a a second time/ },
    { name: 'a table twice', given: '[a]\n[b]\n[a]', message: /line 3 names a a second time/ },
    { name: 'a table that is a value', given: 'a = 1\n[a]', message: /line 2 names a a second time/ },
    {
      name: 'a list of tables that is a value',
      given: 'a = 1\n[[a]]',
      message: /line 2 adds a table to a, which is something else/,
    },
    { name: 'a way through a value', given: 'a = 1\n[a.b]', message: /line 2 goes into a, where a is no table/ },
    {
      name: 'a dotted way through a value',
      given: 'a = 1\na.b = 2',
      message: /line 2 puts something into a, which is no table/,
    },
    { name: 'a header without an end', given: '[[a]\nb = 1', message: /line 1 lacks "\]\]"/ },
    { name: 'a list without an end', given: 'a = ["x"\n"y"]', message: /line 2 lacks "," between two items/ },
    { name: 'a table without an end', given: 'a = {b = 1', message: /lacks "}"/ },
    { name: 'too many lists in each other', given: `a = ${'['.repeat(100)}`, message: /nested too deeply/ },
    { name: 'a text that is no configuration', given: '#'.repeat(2_000_000), message: /2000000 characters/ },
  ];
  for (const { name, given, message } of wrong) {
    it(`refuses ${name}, with its line`, () => {
      assert.throws(() => parseToml(given), { reason: 'InvalidMirrorConfig', disposition: 'user', message });
    });
  }

  it('never fails in another way, whatever it is given', () => {
    const word = fc.constantFrom(
      '[',
      ']',
      '[[',
      ']]',
      '{',
      '}',
      '=',
      ',',
      '.',
      '"',
      "'",
      '\\',
      '#',
      '\n',
      ' ',
      'a',
      'b',
      '1',
      'true',
      '\\u00e4',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        try {
          parseToml(words.join(''));
        } catch (thrown) {
          assert.ok(thrown instanceof Error && 'reason' in thrown, String(thrown));
        }
      }),
    );
  });

  it('reads back any text that JSON writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const quoted = JSON.stringify(text).replaceAll('\x7f', '\\u007f');
        assert.equal(parseToml(`a = ${quoted}`)['a'], text);
      }),
    );
  });
});
