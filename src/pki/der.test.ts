import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from './der.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (length: number): Buffer => Buffer.alloc(length, 1);

describe('DER', () => {
  const rows: readonly [string, Buffer, string][] = [
    ['an empty sequence', sequence(), '3000'],
    ['a set', set(boolean(true), boolean(false)), '3106' + '0101ff' + '010100'],
    ['an integer', integer(Buffer.from([5])), '020105'],
    ['an integer whose top bit is set', integer(Buffer.from([0x80])), '02020080'],
    ['a text', utf8String('é'), '0c02c3a9'],
    ['bits', bitString(Buffer.from([0b1000_0000]), 7), '03020780'],
    ['bytes', octetString(Buffer.from([1, 2])), '04020102'],
    ['an explicit tag', explicit(3, boolean(true)), 'a303' + '0101ff'],
    ['an implicit tag', implicit(2, Buffer.from('a')), '820161'],
    ['an identifier', objectIdentifier('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    ['an identifier of small numbers', objectIdentifier('2.5.29.17'), '0603551d11'],
    ['a time of this century', time(new Date('2026-05-04T03:02:01Z')), `170d${hex(Buffer.from('260504030201Z'))}`],
    ['the last short time', time(new Date('2049-12-31T23:59:59Z')), `170d${hex(Buffer.from('491231235959Z'))}`],
    ['the first long time', time(new Date('2050-01-01T00:00:00Z')), `180f${hex(Buffer.from('20500101000000Z'))}`],
  ];
  for (const [what, encoded, expected] of rows) {
    it(`writes ${what}`, () => assert.equal(hex(encoded), expected));
  }

  const lengths: readonly [number, string][] = [
    [127, '7f'],
    [128, '8180'],
    [255, '81ff'],
    [256, '820100'],
    [65_536, '83010000'],
  ];
  for (const [length, header] of lengths) {
    it(`writes a length of ${length} as ${header}`, () => {
      assert.equal(hex(octetString(bytes(length)).subarray(1, 1 + header.length / 2)), header);
    });
  }
});
