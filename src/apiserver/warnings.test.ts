import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Warnings } from './warnings.ts';

const headersOf = (...texts: readonly string[]): readonly string[] => {
  const warnings = new Warnings();
  warnings.addAll(texts);
  return warnings.headers();
};

describe('Warnings', () => {
  it('apiserver/H10: escapes quotes and backslashes', () => {
    assert.deepEqual(headersOf('unknown field "a\\b"'), ['299 - "unknown field \\"a\\\\b\\""']);
  });

  it('apiserver/H10: says everything once, in order', () => {
    assert.deepEqual(headersOf('b', 'a', 'b', ''), ['299 - "b"', '299 - "a"']);
  });

  it('apiserver/H10: stops at four kilobytes, yet takes what still fits', () => {
    const texts = ['x'.repeat(4000), 'y'.repeat(97), 'z'.repeat(96)];
    assert.deepEqual(
      headersOf(...texts).map((header) => header.slice(7, 8)),
      ['x', 'z'],
    );
    assert.equal(headersOf('é'.repeat(2049)).length, 0);
  });

  it('puts nothing on the wire that a header may not hold', () => {
    assert.deepEqual(headersOf('a\r\nb\u007f'), ['299 - "a  b "']);
    const [header = ''] = headersOf('é');
    assert.equal(Buffer.from(header, 'latin1').toString('utf8'), '299 - "é"');
  });
});
