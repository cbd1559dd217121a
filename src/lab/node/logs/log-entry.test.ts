import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { entryBytes, LineSplitter, LONGEST_TEXT, logTime, type Piece, parseEntry } from './log-entry.ts';

const joined = (pieces: readonly Piece[]): Buffer =>
  Buffer.concat(pieces.flatMap(({ text, isPartial }) => [text, Buffer.from(isPartial ? '' : '\n')]));

describe('entries of a log', () => {
  it('lab/N39: are time, stream, tag and text', () => {
    const time = logTime(new Date('2030-01-02T03:04:05.067Z'));
    const entry = { time, stream: 'stderr', isPartial: false, text: Buffer.from('hello  world') } as const;
    const bytes = entryBytes(entry);
    assert.equal(bytes.toString(), '2030-01-02T03:04:05.067000000Z stderr F hello  world\n');
    assert.deepEqual(parseEntry(bytes.subarray(0, -1)), entry);
  });

  for (const { line, want } of [
    { line: '2016-10-06T00:17:09.669794202Z stdout F x', want: ['stdout', false, 'x'] },
    { line: '2016-10-06T00:17:09.669794202+02:00 stdout P:more x y', want: ['stdout', true, 'x y'] },
    { line: '2016-10-06T00:17:09Z stderr F ', want: ['stderr', false, ''] },
    { line: '2016-10-06T00:17:09Z stderr F', want: ['stderr', false, ''] },
  ]) {
    it(`reads "${line}"`, () => {
      const entry = parseEntry(Buffer.from(line));
      assert.deepEqual([entry?.stream, entry?.isPartial, Buffer.from(entry?.text ?? []).toString()], want);
    });
  }

  for (const line of [
    '',
    'x',
    '2016 stdout',
    '2016 stdin F x',
    '2016 stdout X x',
    ' stdout F x',
    '\u0000\u0000',
  ]) {
    it(`does not take "${line}" for an entry`, () => assert.equal(parseEntry(Buffer.from(line)), undefined));
  }
});

describe('LineSplitter', () => {
  it('lab/N39: splits lines of more than 16 KiB, and says that more follows', () => {
    const text = (size: number) => Buffer.alloc(size, 'x');
    const sizes = (size: number) => {
      const pieces = new LineSplitter().push(Buffer.concat([text(size), Buffer.from('\n')]));
      return pieces.map((piece) => [piece.text.length, piece.isPartial]);
    };
    assert.deepEqual(sizes(LONGEST_TEXT), [[LONGEST_TEXT, false]]);
    assert.deepEqual(sizes(LONGEST_TEXT + 1), [
      [LONGEST_TEXT, true],
      [1, false],
    ]);
    assert.deepEqual(sizes(2 * LONGEST_TEXT), [
      [LONGEST_TEXT, true],
      [LONGEST_TEXT, false],
    ]);
  });

  it('keeps what has no line break until the end, and adds none', () => {
    const splitter = new LineSplitter();
    assert.deepEqual(splitter.push(Buffer.from('ab')), []);
    assert.equal(joined(splitter.push(Buffer.from('c\nd'))).toString(), 'abc\n');
    assert.equal(joined(splitter.end()).toString(), 'd');
    assert.deepEqual(splitter.end(), []);
  });

  it('lab/N39: loses and adds no byte, however the output is cut', () => {
    const chunk = fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.constantFrom(Buffer.from('\n'), Buffer.from('a\n\nb\n'), Buffer.alloc(LONGEST_TEXT, 'y')),
    );
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), (chunks) => {
        const splitter = new LineSplitter();
        const pieces = [...chunks.flatMap((bytes) => splitter.push(bytes)), ...splitter.end()];
        assert.deepEqual(joined(pieces), Buffer.concat(chunks));
        assert.ok(pieces.every(({ text }) => text.length <= LONGEST_TEXT && !text.includes(10)));
      }),
    );
  });
});
