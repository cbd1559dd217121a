/** Which versions will do: `min` is included, `below` is not. A missing end is open. */
export interface VersionRange {
  readonly min?: string;
  readonly below?: string;
}

/** A version as programs print it, with or without `v`; the letter of tmux' `3.3a` belongs to no number. */
const VERSION = /\bv?(\d+\.\d+(?:\.\d+)?(?:[-+][^\s,]*)?)/;

/** What an unstamped Kubernetes binary calls itself (component-base `version/base.go`): it says nothing. */
const UNSTAMPED = /^0\.0\.0(?:-|$)/;

/** The first version in a program's output, without `v`; undefined when there is none or it says nothing (oracles/A3). */
export function versionIn(output: string): string | undefined {
  const version = VERSION.exec(output)?.[1];
  return version === undefined || UNSTAMPED.test(version) ? undefined : version;
}

export function isWithin(version: string, { min, below }: VersionRange): boolean {
  if (min !== undefined && order(version, min) < 0) return false;
  return below === undefined || order(version, below) < 0;
}

export function rangeText({ min, below }: VersionRange): string {
  const ends = [min === undefined ? '' : `${min} or newer`, below === undefined ? '' : `below ${below}`];
  return ends.filter((end) => end !== '').join(' and ') || 'any version';
}

/** Pre-release and build parts do not count: a release candidate has the features of its release. */
function order(left: string, right: string): number {
  const [a, b] = [numbers(left), numbers(right)];
  const differences = a.map((part, index) => part - (b[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

function numbers(version: string): number[] {
  const parts = version.split(/[-+]/, 1).join('').split('.').map(Number);
  return [0, 1, 2].map((index) => parts[index] ?? 0);
}
