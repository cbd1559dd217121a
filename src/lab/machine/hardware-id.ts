import { createHash } from 'node:crypto';

/** What a machine calls its hardware, a uuid: the same for the same text, whoever asks. Pure. */
export function hardwareId(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex').slice(0, 32);
  // Version 4, variant 1: others check them.
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  const digits = `${hex.slice(0, 12)}4${hex.slice(13, 16)}${variant}${hex.slice(17)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
