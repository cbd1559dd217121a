import { invalidImage } from './registry-failure.ts';

export const BLOCK_BYTES = 512;

export interface TarHeader {
  readonly name: string;
  readonly sizeBytes: number;
  /** One character: `0` file, `1` hard link, `2` symbolic link, `5` folder, `L`, `K`, `x`, `g` about the next entry … */
  readonly type: string;
  readonly linkName: string;
  /** Of a GNU sparse file: a further block of its map follows. */
  readonly hasMoreMap: boolean;
}

const decoder = new TextDecoder();

/** One header (POSIX ustar, GNU, old tar); undefined for a block of zeros, which ends an archive. */
export function parseTarHeader(block: Uint8Array): TarHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  if (octal(block, 148, 8) !== checksumOf(block)) throw damaged('a header has a wrong checksum');
  const type = text(block, 156, 1);
  const magic = text(block, 257, 6);
  const isGnu = magic.startsWith('ustar ');
  const prefix = magic === 'ustar' && !isGnu ? text(block, 345, 155) : '';
  const name = text(block, 0, 100);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    sizeBytes: number(block, 124, 12),
    // Old archives have nothing here, and a slash at the end of the names of folders.
    type: type === '' ? (name.endsWith('/') ? '5' : '0') : type,
    linkName: text(block, 157, 100),
    hasMoreMap: type === 'S' && block[482] === 1,
  };
}

/** The records of a pax header: `25 path=…\n` each, its own length first. */
export function parsePaxRecords(bytes: Uint8Array): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(decoder.decode(bytes.subarray(at, space)));
    if (!Number.isInteger(length) || length <= space - at + 1 || at + length > bytes.length)
      throw damaged('a pax header has a wrong length');
    const record = decoder.decode(bytes.subarray(space + 1, at + length - 1));
    const equals = record.indexOf('=');
    if (equals < 1) throw damaged('a pax header has a record without a name');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

export const damaged = (found: string) =>
  invalidImage(`a layer of the image is damaged: ${found}; use an image of an OpenShift release`);

/** Up to the first zero byte. */
function text(block: Uint8Array, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}

function octal(block: Uint8Array, at: number, length: number): number {
  const digits = text(block, at, length).trim();
  if (digits === '') return 0;
  if (!/^[0-7]+$/.test(digits)) throw damaged('a header has a number that is none');
  return Number.parseInt(digits, 8);
}

/** Octal, or big-endian binary when the first bit is set (GNU, for files of 8 GiB and more). */
function number(block: Uint8Array, at: number, length: number): number {
  const first = block[at] ?? 0;
  if (first < 0x80) return octal(block, at, length);
  let value = first & 0x3f;
  for (const byte of block.subarray(at + 1, at + length)) value = value * 256 + byte;
  if (first >= 0xc0 || !Number.isSafeInteger(value)) throw damaged('a header has a size that no file has');
  return value;
}

/** The field of the sum itself counts as spaces. */
const checksumOf = (block: Uint8Array): number =>
  block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
