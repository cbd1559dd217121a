import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { packBatch, rowOf, unpackBatch } from './packed-batch.ts';

describe('a packed batch', () => {
  it('is the same rows when it is unpacked', () => {
    const event = fc
      .record({
        key: fc.string({ unit: 'grapheme' }),
        revision: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        createRevision: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        bytes: fc.uint8Array(),
        isRemoval: fc.boolean(),
      })
      .map(({ isRemoval, ...entry }) => ({
        key: entry.key,
        revision: entry.revision,
        entry,
        previous: undefined,
        isRemoval,
      }));
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const unpacked = unpackBatch(packBatch(events)).map((row) => ({
          ...row,
          bytes: new Uint8Array(row.bytes),
        }));
        assert.deepEqual(unpacked, events.map(rowOf));
      }),
    );
  });
});
