import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Changeset, changesetLine, headerLine, LOG_FORMAT, scanLog } from './log-line.ts';

const key = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => text !== '__proto__');
const value = fc.record({ text: fc.string({ unit: 'binary' }), number: fc.integer() }, { noNullPrototype: true });
const changeset: fc.Arbitrary<Changeset> = fc.record(
  {
    put: fc.dictionary(key, fc.dictionary(key, value, { noNullPrototype: true }), { noNullPrototype: true }),
    del: fc.dictionary(key, fc.array(key), { noNullPrototype: true }),
  },
  { noNullPrototype: true },
);

const logOf = (changesets: readonly Changeset[]): Buffer =>
  Buffer.from([headerLine(), ...changesets.map(changesetLine)].join(''));

describe('the lines of the state log', () => {
  it('say what they were given, each as JSON by itself', () => {
    fc.assert(
      fc.property(fc.array(changeset), (changesets) => {
        const bytes = logOf(changesets);
        const { format, changesets: read, goodBytes, damage } = scanLog(bytes);
        assert.deepEqual(
          { format, goodBytes, damage },
          { format: LOG_FORMAT, goodBytes: bytes.length, damage: undefined },
        );
        assert.deepEqual(read, changesets);
        for (const line of bytes.toString().split('\n').slice(0, -1)) JSON.parse(line);
      }),
    );
  });

  it('reliability/P4: cut anywhere, give the transactions that are whole and no others', () => {
    const changesets = ['one', 'two', 'three'].map((name) => ({
      put: { things: { [name]: { ü: name } } },
      del: {},
    }));
    const bytes = logOf(changesets);
    for (let length = 0; length < bytes.length; length++) {
      const { changesets: read, goodBytes, damage } = scanLog(bytes.subarray(0, length));
      assert.equal(damage, undefined);
      assert.deepEqual(read, changesets.slice(0, read.length));
      assert.ok(goodBytes <= length);
      assert.equal(logOf(read).length, goodBytes === 0 ? headerLine().length : goodBytes);
    }
  });

  it('reliability/P4: with a changed byte before the last line, are damaged there', () => {
    const bytes = logOf([1, 2, 3].map((n) => ({ put: { things: { a: { n } } }, del: {} })));
    const lastLine = bytes.lastIndexOf('\n', bytes.length - 2) + 1;
    // Without the end of the line before the last: with that gone, two lines are one, and nothing follows it.
    for (let at = 0; at < lastLine - 1; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const { damage, goodBytes } = scanLog(changed);
      assert.notEqual(damage, undefined, `byte ${at}`);
      assert.ok(goodBytes <= at);
      assert.equal(damage?.offset, goodBytes);
    }
  });

  it('reliability/P4: with rubbish at the end, are good up to there', () => {
    const bytes = logOf([{ put: { things: { a: { n: 1 } } }, del: {} }]);
    for (const rubbish of ['\0\0\0\0', 'x\n', '{"crc":"00000000","tx":{}}\n', '\n\n']) {
      const { goodBytes, damage, changesets } = scanLog(Buffer.concat([bytes, Buffer.from(rubbish)]));
      assert.deepEqual({ goodBytes, damage }, { goodBytes: bytes.length, damage: undefined });
      assert.equal(changesets.length, 1);
    }
  });
});
