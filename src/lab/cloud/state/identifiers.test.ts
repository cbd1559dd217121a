import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { identifierDigits } from './identifiers.ts';

const seed = fc.integer({ min: 0, max: 2 ** 31 });
const number = fc.integer({ min: 0, max: 2 ** 40 });

describe('identifiers', () => {
  it('lab/C2: have twelve hexadecimal digits', () => {
    fc.assert(fc.property(seed, number, (s, n) => assert.match(identifierDigits(s, n), /^[0-9a-f]{12}$/)));
  });

  it('lab/C2: never come twice', () => {
    fc.assert(
      fc.property(seed, number, number, (s, a, b) => {
        assert.equal(identifierDigits(s, a) === identifierDigits(s, b), a === b);
      }),
    );
    const first = Array.from({ length: 20_000 }, (_, n) => identifierDigits(7, n));
    assert.equal(new Set(first).size, first.length);
  });

  it('are the same for the same seed, and others for another', () => {
    assert.equal(identifierDigits(7, 1), identifierDigits(7, 1));
    assert.notEqual(identifierDigits(7, 1), identifierDigits(8, 1));
  });
});
