import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseBootstrap } from './bootstrap.ts';
import { printable, shellWord, shownPath } from './plain-text.ts';

describe('printable text', () => {
  const cases = [
    {
      name: 'keeps ordinary text',
      given: 'LB web → 10.0.4.7:80 · Größe 日本',
      want: 'LB web → 10.0.4.7:80 · Größe 日本',
    },
    { name: 'disarms escape sequences', given: '\u001b[2Jgone\u0007', want: '\uFFFD[2Jgone\uFFFD' },
    { name: 'disarms C1 controls', given: 'a\u009b31mb', want: 'a\uFFFD31mb' },
    { name: 'disarms direction marks and joiners', given: 'a\u202eb\u200dc', want: 'a\uFFFDb\uFFFDc' },
    { name: 'puts lines on one line', given: 'one\r\n  two\tthree', want: 'one two three' },
    { name: 'disarms half characters', given: 'a\ud800b', want: 'a\uFFFDb' },
  ];
  for (const { name, given, want } of cases) it(name, () => assert.equal(printable(given), want));

  it('never holds a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => assert.doesNotMatch(printable(text), /\p{Cc}|\p{Cf}/u)),
    );
  });
});

describe('paths and words for the user', () => {
  it('experience/X29: shows paths below the folder relative to it', () => {
    assert.equal(shownPath('/home/ada', '/home/ada/.slipway'), '.slipway');
    assert.equal(shownPath('/home/ada', '/home/ada'), '.');
    assert.equal(shownPath('/home/ada', '/home/ada2/x'), '/home/ada2/x');
    assert.equal(shownPath('/home/ada', '/home/ada/..data'), '..data');
  });

  it('quotes what a shell would take apart', () => {
    assert.equal(shellWord('.slipway'), '.slipway');
    assert.equal(shellWord("it's here"), `'it'\\''s here'`);
  });
});

describe('the report of the bootstrap', () => {
  it('tells which Node was found and what was installed', () => {
    const text = JSON.stringify({ hostNode: '20.20.2', installed: { packages: 152, ms: 14_800 } });
    assert.deepEqual(parseBootstrap(text, '24.21.0'), {
      isClone: true,
      node: { found: '20.20.2', using: '24.21.0' },
      installed: { packages: 152, ms: 14_800 },
    });
  });

  it('keeps what it understands of a report', () => {
    const { isClone, node } = parseBootstrap('{"hostNode":1,"installed":{"packages":"many"}}', '24.21.0');
    assert.deepEqual({ isClone, node }, { isClone: true, node: { found: '24.21.0', using: '24.21.0' } });
  });

  for (const given of [undefined, '', 'null', '[]', '{']) {
    it(`is missing in an installed package, and not needed: ${given}`, () => {
      const want = { isClone: false, node: { found: '24.21.0', using: '24.21.0' } };
      assert.deepEqual(parseBootstrap(given, '24.21.0'), want);
    });
  }
});
