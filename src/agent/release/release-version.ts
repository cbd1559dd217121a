/** A version of OpenShift (Semantic Versioning 2.0). */
export interface ReleaseVersion {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** Numbers compare as numbers, and before words. */
  readonly preRelease: readonly (bigint | string)[];
  readonly build: readonly string[];
}

const LARGEST_NUMBER = 2n ** 64n - 1n;
/**
 * Only a whole version has a pre-release or a build: what `4.14-rc` means, nobody knows. A third part that begins with its
 * sign gets a zero in front: `4.14.-rc.1`.
 */
const SHAPE = /^(\d+)(?:\.(\d+)(?:\.(?:(\d+)|(?=[-+]))(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?)?)?$/;

/**
 * Reads a version as blang/semver's `ParseTolerant` does, which decides upstream: spaces around it and a leading `v` are
 * dropped, missing minor and patch are 0, and leading zeros do not count. Undefined for anything else.
 */
export function parseReleaseVersion(text: string): ReleaseVersion | undefined {
  const [whole, x, y = '0', z = '0', dash, plus] = SHAPE.exec(text.trim().replace(/^v/, '')) ?? [];
  if (whole === undefined) return undefined;
  const [major, minor, patch] = [x, y, z].map(numberIn);
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  const preRelease = partsOf(dash).map(preReleaseIdentifier);
  const build = partsOf(plus);
  const isWhole = preRelease.every((identifier) => identifier !== undefined) && !build.includes('');
  return isWhole ? { major, minor, patch, preRelease, build } : undefined;
}

/** Below, at or above zero, as lists are sorted. Build metadata does not count. */
export function compareVersions(a: ReleaseVersion, b: ReleaseVersion): number {
  const [ofA, ofB] = [a, b].map(({ major, minor, patch }) => [major, minor, patch]);
  for (const [at, number] of (ofA ?? []).entries()) {
    const difference = order(number, ofB?.[at] ?? 0n);
    if (difference !== 0) return difference;
  }
  return comparePreReleases(a.preRelease, b.preRelease);
}

/** A release comes after everything that led to it. */
function comparePreReleases(a: ReleaseVersion['preRelease'], b: ReleaseVersion['preRelease']): number {
  if (a.length === 0 || b.length === 0) return order(BigInt(b.length), BigInt(a.length));
  for (const [at, mine] of a.entries()) {
    const other = b[at];
    if (other === undefined) return 1;
    const isMixed = typeof mine !== typeof other;
    const difference = isMixed ? (typeof mine === 'bigint' ? -1 : 1) : order(mine, other);
    if (difference !== 0) return difference;
  }
  return a.length < b.length ? -1 : 0;
}

const order = <T extends bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

const partsOf = (text: string | undefined): readonly string[] => text?.split('.') ?? [];

function numberIn(text = ''): bigint | undefined {
  const number = BigInt(text);
  return number > LARGEST_NUMBER ? undefined : number;
}

function preReleaseIdentifier(text: string): bigint | string | undefined {
  if (text === '' || /^0\d+$/.test(text)) return undefined;
  return /^\d+$/.test(text) ? numberIn(text) : text;
}
