import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hardwareId } from './hardware-id.ts';

describe('hardwareId', () => {
  it('is a uuid of version 4, the same for the same text and another one for another', () => {
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        assert.match(hardwareId(one), uuid);
        assert.equal(hardwareId(one) === hardwareId(other), one === other);
      }),
    );
  });

  it('stays what it was, since it is kept between runs', () => {
    assert.equal(hardwareId('i-0001'), 'd924710c-3f49-4881-aa29-d8ef86056ca3');
  });
});
