import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  quantityFloat,
  quantityInteger,
  quantitySign,
  subQuantities,
} from './quantity.ts';

const quantity = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.nat().map(String),
      fc.tuple(fc.nat(9999), fc.nat(999)).map((parts) => parts.join('.')),
    ),
    fc.constantFrom('', 'm', 'u', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-2'),
  )
  .map((parts) => parts.join(''));

describe('parseQuantity', () => {
  // Each pair was read from kube-apiserver's own library.
  const canonical: [string, string][] = [
    ['0', '0'],
    ['000', '0'],
    ['0Ki', '0'],
    ['-', '0'],
    ['m', '0'],
    ['1', '1'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1500000', '1500k'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['5.', '5.'],
    ['1.5', '1500m'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    ['1Ki', '1Ki'],
    ['1.5Gi', '1536Mi'],
    ['512', '512'],
    ['0.5Ki', '512'],
    ['0.0001Ki', '102400u'],
    ['1025', '1025'],
    ['1e3', '1e3'],
    ['10e3', '10e3'],
    ['1000e3', '1e6'],
    ['2E5', '200e3'],
    ['1E', '1E'],
    ['1e-3', '1e-3'],
    ['0.0000000001', '1n'],
    ['-0.0000000001', '-1n'],
    ['+5', '+5'],
    ['-5Mi', '-5Mi'],
    ['9223372036854775808Ki', '9223372036854775807'],
    ['-9223372036854775808Ki', '-9223372036854775807'],
    ['12345678901234567890', '12345678901234567890'],
    ['1000000000000000000000', '1'],
  ];
  for (const [text, want] of canonical) {
    it(`writes ${text} as ${want}`, () => assert.equal(printQuantity(parseQuantity(text)), want));
  }

  const bad: [string, RegExp][] = [
    ['', /^quantities must match the regular expression '\^\(\[\+-\]\?\[0-9\.\]\+\)/],
    ['1x', /^quantities must match/],
    ['1 Gi', /^quantities must match/],
    ['1.2.3', /^quantities must match/],
    ['1mm', /^unable to parse quantity's suffix$/],
    ['1i', /^unable to parse quantity's suffix$/],
    ['1e', /^unable to parse quantity's suffix$/],
    ['1e999999999', /^unable to parse quantity's suffix$/],
    ['Ei', /^unable to parse numeric part of quantity$/],
  ];
  for (const [text, message] of bad) {
    it(`refuses "${text}"`, () => {
      assert.throws(() => parseQuantity(text), { name: 'QuantityProblem', message });
    });
  }

  it('reads what it prints as the same amount', () => {
    fc.assert(
      fc.property(quantity, (text) => {
        const read = parseQuantity(text);
        assert.equal(compareQuantities(parseQuantity(printQuantity(read)), read), 0);
      }),
    );
  });
});

describe('arithmetic', () => {
  it('adds in any order and takes back what it added', () => {
    fc.assert(
      fc.property(quantity, quantity, (left, right) => {
        const [a, b] = [parseQuantity(left), parseQuantity(right)];
        assert.equal(compareQuantities(addQuantities(a, b), addQuantities(b, a)), 0);
        assert.equal(compareQuantities(subQuantities(addQuantities(a, b), b), a), 0);
        assert.equal(quantitySign(subQuantities(a, b)), compareQuantities(a, b));
        assert.equal(compareQuantities(a, b) + compareQuantities(b, a), 0);
      }),
    );
  });

  it('prints a sum in the form of its first summand, unless that is zero', () => {
    const sum = (a: string, b: string) => printQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));
    assert.equal(sum('1Gi', '1024'), '1048577Ki');
    assert.equal(sum('1k', '1Ki'), '2024');
    assert.equal(sum('0', '2Ki'), '2Ki');
    assert.equal(printQuantity(subQuantities(parseQuantity('1Gi'), parseQuantity('1Gi'))), '0');
  });

  it('gives whole numbers rounded away from zero, and floats', () => {
    assert.equal(quantityInteger(parseQuantity('1500m')), 2n);
    assert.equal(quantityInteger(parseQuantity('1500m'), -3), 1500n);
    assert.equal(quantityInteger(parseQuantity('-1500m')), -2n);
    assert.equal(quantityInteger(parseQuantity('2Ki')), 2048n);
    assert.equal(quantityInteger(parseQuantity('2k')), 2000n);
    assert.equal(quantityFloat(parseQuantity('1500m')), 1.5);
    assert.equal(quantityFloat(parseQuantity('2k')), 2000);
  });
});
