/** The few ASN.1 forms a certificate is made of, DER-encoded (X.690). Writing only: reading is left to OpenSSL. */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;

function tagged(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

/** Below 128 one byte; above, the number of length bytes and then the length. */
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  const significant = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.from([0x80 | significant.length]), significant]);
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => tagged(TAG.sequence, ...items);
export const set = (...items: readonly Uint8Array[]): Buffer => tagged(TAG.set, ...items);
export const octetString = (bytes: Uint8Array): Buffer => tagged(TAG.octetString, bytes);
export const utf8String = (text: string): Buffer => tagged(TAG.utf8String, Buffer.from(text, 'utf8'));
export const boolean = (value: boolean): Buffer => tagged(TAG.boolean, Buffer.from([value ? 0xff : 0]));

/** `unused`: how many bits of the last byte do not count. */
export const bitString = (bytes: Uint8Array, unused = 0): Buffer =>
  tagged(TAG.bitString, Buffer.from([unused]), bytes);

/** A positive integer from its bytes; a leading zero keeps a set top bit from reading as a sign. */
export function integer(bytes: Uint8Array): Buffer {
  const [first = 0] = bytes;
  return tagged(TAG.integer, ...(first >= 0x80 ? [Buffer.from([0])] : []), bytes);
}

/** `explicit` context tags wrap a value, implicit ones replace its own tag. */
export const explicit = (tag: number, value: Uint8Array): Buffer => tagged(CONTEXT | CONSTRUCTED | tag, value);
export const implicit = (tag: number, bytes: Uint8Array): Buffer => tagged(CONTEXT | tag, bytes);

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(TAG.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Seven bits a byte, the top bit set on all but the last. */
function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

// RFC 5280 4.1.2.5: two-digit years up to 2049, four digits from then on.
const LAST_SHORT_YEAR = 2049;

export function time(date: Date): Buffer {
  const digits = `${date.toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  return date.getUTCFullYear() <= LAST_SHORT_YEAR
    ? tagged(TAG.utcTime, Buffer.from(digits.slice(2)))
    : tagged(TAG.generalizedTime, Buffer.from(digits));
}
