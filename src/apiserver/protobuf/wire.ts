/** A protobuf body that cannot be understood; the only error its decoding throws. */
export class ProtobufProblem extends Error {
  /** `unknown-kind`: well-formed so far, but of a kind that is not built in. */
  readonly reason: 'malformed' | 'unknown-kind';

  constructor(message: string, reason: ProtobufProblem['reason'] = 'malformed') {
    super(message);
    this.name = 'ProtobufProblem';
    this.reason = reason;
  }
}

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
const GROUP_START = 3;
const GROUP_END = 4;
const FIXED32 = 5;

/** Numbers up to here are exact in seven bytes of a varint. */
const EXACT_BYTES = 7;
const MAX_VARINT_BYTES = 10;

/** Reads a buffer from `position` on, never past the end of the message it is in. */
export class WireReader {
  readonly bytes: Buffer;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Below 2^53; for tags, lengths and booleans. */
  unsigned(end: number): number {
    let value = 0;
    let factor = 1;
    for (let read = 0; read < EXACT_BYTES; read++) {
      const byte = this.#byte(end);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    throw new ProtobufProblem('proto: integer overflow');
  }

  /** A signed integer of 64 bits; a bigint only when a number would lose digits. */
  int64(end: number): number | bigint {
    const start = this.position;
    while (this.#byte(end) >= 0x80) {
      if (this.position - start >= MAX_VARINT_BYTES) throw new ProtobufProblem('proto: integer overflow');
    }
    const length = this.position - start;
    if (length <= EXACT_BYTES) {
      this.position = start;
      return this.unsigned(end);
    }
    let value = 0n;
    for (let at = this.position - 1; at >= start; at--) {
      value = (value << 7n) | BigInt((this.bytes[at] ?? 0) & 0x7f);
    }
    const signed = BigInt.asIntN(64, value);
    const small = Number(signed);
    return Number.isSafeInteger(small) ? small : signed;
  }

  int32(end: number): number {
    const value = this.int64(end);
    return typeof value === 'number' && value <= 0x7fffffff && value >= -0x80000000
      ? value
      : Number(BigInt.asIntN(32, BigInt(value)));
  }

  double(end: number): number {
    const at = this.#take(8, end);
    return this.bytes.readDoubleLE(at);
  }

  /** The end of a value with a length in front; `position` is then its start. */
  lengthEnd(end: number): number {
    const length = this.unsigned(end);
    if (length > end - this.position) throw new ProtobufProblem('unexpected EOF');
    return this.position + length;
  }

  string(end: number): string {
    const stop = this.lengthEnd(end);
    if (stop === this.position) return '';
    const text = this.bytes.toString('utf8', this.position, stop);
    this.position = stop;
    return text;
  }

  base64(end: number): string {
    const stop = this.lengthEnd(end);
    const text = this.bytes.toString('base64', this.position, stop);
    this.position = stop;
    return text;
  }

  /** Passes a field nobody knows; groups, which nobody writes any more, may be nested. */
  skip(wireType: number, end: number): void {
    let groups = 0;
    for (let type = wireType; ; type = this.unsigned(end) & 7) {
      if (type === GROUP_START) groups++;
      else if (type === GROUP_END) groups--;
      else this.#skipValue(type, end);
      if (groups < 0) throw new ProtobufProblem('proto: unexpected end of group');
      if (groups === 0) return;
    }
  }

  #skipValue(wireType: number, end: number): void {
    switch (wireType) {
      case VARINT:
        this.int64(end);
        return;
      case FIXED64:
        this.#take(8, end);
        return;
      case LENGTH:
        this.position = this.lengthEnd(end);
        return;
      case FIXED32:
        this.#take(4, end);
        return;
      default:
        throw new ProtobufProblem(`proto: illegal wireType ${wireType}`);
    }
  }

  #take(count: number, end: number): number {
    const at = this.position;
    if (count > end - at) throw new ProtobufProblem('unexpected EOF');
    this.position = at + count;
    return at;
  }

  #byte(end: number): number {
    if (this.position >= end) throw new ProtobufProblem('unexpected EOF');
    return this.bytes[this.position++] ?? 0;
  }
}
