/** Reading of DER (X.690), as far as requests for certificates need it. Everything is checked: they come from strangers. */

/** Bytes of identifier octets as they stand in requests. */
export const DER_TAG = {
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
} as const;

/** One value. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** With tag and length. */
  readonly whole: Buffer;
}

const HIGH_TAG = 0x1f;
const LONG_FORM = 0x80;
/** A length takes so many bytes at most: nothing that is read here is larger than 4 GiB. */
const MOST_LENGTH_BYTES = 4;

/** The values that stand one after the other. Throws an Error when the bytes are something else, or cut off. */
function derValues(bytes: Buffer): readonly DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = valueAt(bytes, at);
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

/** The one value that the bytes are. Throws when they are something else. */
export function derValue(bytes: Buffer): DerValue {
  const [value, ...more] = derValues(bytes);
  if (value === undefined || more.length > 0) throw new Error('it does not hold exactly one value');
  return value;
}

/** What is inside of a value that must have this tag. */
export function derContent(value: DerValue | undefined, tag: number, what: string): Buffer {
  if (value?.tag === tag) return value.content;
  const found = value === undefined ? 'nothing' : `tag 0x${value.tag.toString(16).padStart(2, '0')}`;
  throw new Error(`its ${what} is ${found}`);
}

/** The values inside of one that must have this tag. */
export const derParts = (value: DerValue | undefined, tag: number, what: string): readonly DerValue[] =>
  derValues(derContent(value, tag, what));

function valueAt(bytes: Buffer, start: number): DerValue {
  const tag = byteAt(bytes, start);
  if ((tag & HIGH_TAG) === HIGH_TAG) throw new Error('it has a tag of several bytes');
  const { length, from } = lengthAt(bytes, start + 1);
  if (from + length > bytes.length) throw new Error('it is cut off');
  return { tag, content: bytes.subarray(from, from + length), whole: bytes.subarray(start, from + length) };
}

function lengthAt(bytes: Buffer, at: number): { readonly length: number; readonly from: number } {
  const first = byteAt(bytes, at);
  if (first < LONG_FORM) return { length: first, from: at + 1 };
  const count = first - LONG_FORM;
  if (count === 0 || count > MOST_LENGTH_BYTES) throw new Error('it has a length that DER does not know');
  const from = at + 1 + count;
  if (from > bytes.length) throw new Error('it is cut off');
  return { length: bytes.readUIntBE(at + 1, count), from };
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new Error('it is cut off');
  return byte;
}

/** `1.2.840.10045.4.3.2` */
export function dottedIdentifier(content: Buffer): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f);
    if ((byte & 0x80) !== 0) continue;
    numbers.push(number);
    number = 0;
  }
  const [first = 0, ...rest] = numbers;
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - top * 40, ...rest].join('.');
}
