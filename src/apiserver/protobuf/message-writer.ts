import { FIXED64, LENGTH, VARINT } from './wire.ts';

const FIRST_BYTES = 64 * 1024;

/**
 * Writes a message from its end to its start: the length in front of a nested message is then known when its turn
 * comes. Whoever writes a message gives its fields, and the items of lists, last one first.
 */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #start = FIRST_BYTES;

  /** Bytes written so far. */
  get size(): number {
    return this.#bytes.length - this.#start;
  }

  boolean(field: number, value: boolean): void {
    this.#varint(value ? 1 : 0);
    this.#tag(field, VARINT);
  }

  int64(field: number, value: number | bigint): void {
    this.#varint(typeof value === 'number' && value >= 0 ? value : BigInt.asUintN(64, BigInt(value)));
    this.#tag(field, VARINT);
  }

  double(field: number, value: number): void {
    const at = this.#room(8);
    this.#bytes.writeDoubleLE(value, at);
    this.#tag(field, FIXED64);
  }

  string(field: number, text: string): void {
    const length = Buffer.byteLength(text);
    const at = this.#room(length);
    this.#bytes.write(text, at);
    this.#varint(length);
    this.#tag(field, LENGTH);
  }

  /** What was written since the size was `sizeBefore` becomes a nested message. */
  nest(field: number, sizeBefore: number): void {
    this.#varint(this.size - sizeBefore);
    this.#tag(field, LENGTH);
  }

  /** A copy without room to spare: messages are kept. */
  finish(): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#start));
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #varint(value: number | bigint): void {
    if (value < 0x80) {
      const at = this.#room(1);
      this.#bytes[at] = Number(value);
      return;
    }
    const bytes: number[] = [];
    let rest = value;
    // Numbers that need all 64 bits are bigints; the others are lengths and limits, and many.
    for (; typeof rest === 'bigint' && rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    for (; typeof rest === 'number' && rest >= 0x80; rest = Math.floor(rest / 0x80))
      bytes.push((rest % 0x80) | 0x80);
    bytes.push(Number(rest));
    const at = this.#room(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Makes room in front of what is written and gives its position; the bytes may be others afterwards. */
  #room(count: number): number {
    if (count > this.#start) {
      const { size } = this;
      const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, size + count));
      this.#bytes.copy(grown, grown.length - size, this.#start);
      this.#start = grown.length - size;
      this.#bytes = grown;
    }
    this.#start -= count;
    return this.#start;
  }
}
