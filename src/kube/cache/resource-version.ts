/**
 * Orders two resource versions: numbers without leading zeros, so the longer one is the larger (I7). Negative when `a`
 * is older. An absent version, given as empty text, is older than any other.
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
