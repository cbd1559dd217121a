import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { printable } from '../../app/journey/plain-text.ts';
import { cutEnd, cutMiddle, textWidth, wrap, wrapCommand } from './text-width.ts';

describe('the width of text', () => {
  const cases = [
    { given: 'abc', want: 3 },
    { given: '', want: 0 },
    { given: '日本語', want: 6 },
    { given: 'ｆｕｌｌ', want: 8 },
    { given: 'e\u0301', want: 1 },
    { given: '한글', want: 4 },
    { given: '🚀', want: 2 },
    { given: '✔ ◐ ○ ▲ ✖ – ➜ · …', want: 17 },
    { given: '█░├─└│', want: 6 },
    { given: '\uFFFD', want: 1 },
  ];
  for (const { given, want } of cases)
    it(`experience/X7: is ${want} for "${given}"`, () => assert.equal(textWidth(given), want));
});

describe('cutting text', () => {
  const cases = [
    { name: 'leaves what fits', got: cutEnd('abc', 3, '…'), want: 'abc' },
    { name: 'cuts messages at the end', got: cutEnd('Writing image to disk', 16, '…'), want: 'Writing image t…' },
    {
      name: 'leaves no space before the mark',
      got: cutEnd('Writing image to disk', 15, '…'),
      want: 'Writing image…',
    },
    { name: 'cuts names in the middle', got: cutMiddle('acme-lab-workers-x7k2p', 13, '…'), want: 'acme-l…-x7k2p' },
    { name: 'does not cut a wide character in half', got: cutEnd('日本語', 4, '…'), want: '日…' },
    { name: 'keeps marks with their letters', got: cutMiddle('aaaaae\u0301e\u0301', 4, '…'), want: 'aa…e\u0301' },
    { name: 'knows the longer mark of ASCII', got: cutEnd('Writing image', 10, '...'), want: 'Writing...' },
    { name: 'gives up the mark where there is no room for it', got: cutEnd('abc', 1, '…'), want: 'a' },
  ];
  for (const { name, got, want } of cases) it(`experience/X7: ${name}`, () => assert.equal(got, want));

  it('experience/X7: never gives more than the width', () => {
    const anyText = fc.string({ unit: 'binary' }).map(printable);
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 40 }), (text, width) => {
        for (const part of [
          cutEnd(text, width, '…'),
          cutMiddle(text, width, '…'),
          ...wrap(text, width),
          ...wrapCommand(text, width),
        ]) {
          assert.ok(textWidth(part) <= width, JSON.stringify({ part, width }));
        }
      }),
    );
  });

  it('experience/X7: loses nothing when it wraps', () => {
    const words = fc.array(fc.stringMatching(/^[a-z/.-]{1,30}$/), { minLength: 1 }).map((all) => all.join(' '));
    fc.assert(
      fc.property(words, fc.integer({ min: 5, max: 60 }), (text, width) => {
        assert.equal(wrap(text, width).join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
      }),
    );
  });

  it('wraps a command so that a shell still reads it as one', () => {
    const command = `printf '%s|' --kubeconfig .slipway/acme-lab.kubeconfig 'two words' -o wide`;
    const wrapped = wrapCommand(command, 34);
    assert.ok(wrapped.length > 1);
    const shell = (text: string) => execFileSync('/bin/sh', ['-c', text], { encoding: 'utf8' });
    assert.equal(shell(wrapped.map((line) => `    ${line}`).join('\n')), shell(command));
  });
});
