import { invalidArgument } from '../cloud-error.ts';

const LONGEST_KEY_BYTES = 1024;
const PERCENT = 0x25;

/** The bytes of a key as a path has them: they may be any bytes, and slashes in them mean nothing (C22). */
export function keyInPath(encoded: string): Buffer {
  if (/%(?![0-9a-fA-F]{2})/.test(encoded))
    throw invalidArgument('key', 'key: a % must be followed by two hexadecimal digits');
  return keyOf(percentDecoded(encoded));
}

export function keyOf(bytes: Buffer): Buffer {
  if (bytes.length >= 1 && bytes.length <= LONGEST_KEY_BYTES) return bytes;
  throw invalidArgument('key', `key: must have 1 to ${LONGEST_KEY_BYTES} bytes, not ${bytes.length}`);
}

/** How a key is written in a path, so that nothing on the way takes it for something else. */
export const pathOfKey = (key: Buffer): string =>
  [...key].map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : `%${hex(byte)}`)).join('');

/** Undefined when the bytes are no text. */
export function textOfKey(key: Buffer): string | undefined {
  const text = key.toString('utf8');
  return Buffer.from(text).equals(key) ? text : undefined;
}

function percentDecoded(encoded: string): Buffer {
  // A path has only ASCII; Node gives each byte as one character.
  const bytes = Buffer.from(encoded, 'latin1');
  const decoded: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte !== PERCENT) decoded.push(byte);
    else {
      decoded.push(Number.parseInt(encoded.slice(at + 1, at + 3), 16));
      at += 2;
    }
  }
  return Buffer.from(decoded);
}

const isPlain = (byte: number): boolean => /[A-Za-z0-9_~-]/.test(String.fromCharCode(byte)) && byte < 0x80;

const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0');
