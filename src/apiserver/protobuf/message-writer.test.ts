import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MessageWriter } from './message-writer.ts';
import { WireReader } from './wire.ts';

const hexOf = (write: (writer: MessageWriter) => void): string => {
  const writer = new MessageWriter();
  write(writer);
  return writer.finish().toString('hex');
};

describe('a message that is written', () => {
  const rows: readonly [string, (writer: MessageWriter) => void, string][] = [
    ['nothing', () => undefined, ''],
    ['true', (writer) => writer.boolean(1, true), '0801'],
    ['an integer of two bytes', (writer) => writer.int64(1, 150), '089601'],
    ['a negative integer', (writer) => writer.int64(1, -1), '08ffffffffffffffffff01'],
    ['a number', (writer) => writer.double(2, 1), '11000000000000f03f'],
    ['a field with a large number', (writer) => writer.boolean(31, true), 'f80101'],
    ['text', (writer) => writer.string(2, 'é!'), '1203c3a921'],
  ];
  for (const [name, write, hex] of rows) {
    it(`holds ${name}`, () => {
      assert.equal(hexOf(write), hex);
    });
  }

  it('holds messages, the last field first', () => {
    const hex = hexOf((writer) => {
      const before = writer.size;
      writer.string(2, 'b');
      writer.string(1, 'a');
      writer.nest(3, before);
    });
    assert.equal(hex, '1a060a0161120162');
  });

  it('holds every integer of 64 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const plain = Number.isSafeInteger(Number(value)) ? Number(value) : value;
        const writer = new MessageWriter();
        writer.int64(1, plain);
        const bytes = writer.finish();
        const reader = new WireReader(bytes);
        reader.unsigned(bytes.length);
        assert.equal(reader.int64(bytes.length), plain);
      }),
    );
  });

  it('grows, whatever is written when it is full', () => {
    const writer = new MessageWriter();
    for (let at = 0; at < 5; at++) {
      writer.string(1, 'x'.repeat(65_530 * (at + 1)));
      writer.double(2, at);
      writer.int64(3, 2 ** 40);
    }
    const bytes = writer.finish();
    const reader = new WireReader(bytes);
    for (let at = 4; at >= 0; at--) {
      assert.equal(reader.unsigned(bytes.length), 24);
      assert.equal(reader.int64(bytes.length), 2 ** 40);
      assert.equal(reader.unsigned(bytes.length), 17);
      assert.equal(reader.double(bytes.length), at);
      assert.equal(reader.unsigned(bytes.length), 10);
      assert.equal(reader.string(bytes.length), 'x'.repeat(65_530 * (at + 1)));
    }
    assert.equal(reader.position, bytes.length);
  });
});
