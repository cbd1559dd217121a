/** The parts of a JSON pointer (RFC 6901); undefined when it has none. */
export function pointerParts(pointer: string): string[] | undefined {
  // Upstream ignores what stands before the first slash.
  const parts = pointer.split('/').slice(1);
  if (parts.length === 0) return undefined;
  return parts.map((part) => (part.includes('~') ? part.replaceAll(/~[01]/g, unescaped) : part));
}

const unescaped = (escape: string): string => (escape === '~1' ? '/' : '~');

const INDEX = /^[+-]?[0-9]+$/;

/**
 * The position a part of a pointer names in a list of that length; undefined when it is no number or outside. Negative
 * numbers count from the end, as upstream's library allows.
 */
export function listIndex(part: string, length: number): number | undefined {
  if (!INDEX.test(part)) return undefined;
  const index = Number(part);
  if (index >= length || index < -length) return undefined;
  return index < 0 ? index + length : index;
}
