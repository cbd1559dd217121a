import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { expanded } from './expansion.ts';

const VALUES: Readonly<Record<string, string>> = { A: 'a', B: 'b', EMPTY: '', REFERENCE: '$(A)' };
const valueOf = (name: string): string | undefined => (Object.hasOwn(VALUES, name) ? VALUES[name] : undefined);

// The cases of kubernetes third_party/forked/golang/expansion/expand_test.go, as facts.
const ROWS: readonly (readonly [input: string, output: string])[] = [
  ['', ''],
  ['\n', '\n'],
  ['plain', 'plain'],
  ['$(A)', 'a'],
  ['$(A)-$(A)', 'a-a'],
  ['$(A)-1', 'a-1'],
  ['__$(B)__', '__b__'],
  ['$(A)_$(B)', 'a_b'],
  ['x$(EMPTY)y', 'xy'],
  ['$(UNKNOWN)', '$(UNKNOWN)'],
  ['$()', '$()'],
  ['$$', '$'],
  ['$$(B)_$(A)', '$(B)_a'],
  ['$$(A)_$$(B)', '$(A)_$(B)'],
  ['x-$$A', 'x-$A'],
  ['$$$$$$(UNKNOWN)', '$$$(UNKNOWN)'],
  ['$$$$$$(A)', '$$$(A)'],
  ['$$$$$$$(UNKNOWN)', '$$$$(UNKNOWN)'],
  ['$$$$$$$(A)', '$$$a'],
  ['x\\$(A)y', 'x\\ay'],
  ['x\\\\$(A)y', 'x\\\\ay'],
  ['$(A$(B))', '$(A$(B))'],
  ['$(A$(B)', '$(A$(B)'],
  ['$(x$$y)', '$(x$$y)'],
  ['$(REFERENCE)', '$(A)'],
  ['%%$(REFERENCE)--$(REFERENCE)%%', '%%$(A)--$(A)%%'],
  ['x$(Awhoops!', 'x$(Awhoops!'],
  ['x(A)', 'x(A)'],
  ['$?_$!', '$?_$!'],
  ['$A', '$A'],
  ['$A)', '$A)'],
  ['${A}', '${A}'],
  ['$(B)__$(A', 'b__$(A'],
  ['$(B)__$(', 'b__$('],
  ['$(A)x$', 'ax$'],
  ['x-\\$(A', 'x-\\$(A'],
  ['--$($($($--', '--$($($($--'],
  ['$(A)$($$', 'a$($'],
  ['$£A', '$£A'],
  ['x-$€-y', 'x-$€-y'],
  ['$中文', '$中文'],
];

describe('expanded', () => {
  for (const [input, output] of ROWS) {
    it(`lab/N24: makes ${JSON.stringify(output)} of ${JSON.stringify(input)}`, () => {
      assert.equal(expanded(input, valueOf), output);
    });
  }

  it('lab/N24: changes nothing in a text whose dollars are all escaped, except the escapes', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '(', ')', 'A', 'é') }), (text) => {
        assert.equal(expanded(text.replaceAll('$', '$$$$'), valueOf), text);
      }),
    );
  });

  it('takes a megabyte of references that nothing closes', () => {
    const text = '$('.repeat(500_000);
    assert.equal(expanded(text, valueOf), text);
  });
});
