import type { Finding } from './find.ts';
import type { Oracle } from './registry.ts';
import { isWithin } from './version.ts';

export interface Need {
  /** The lowest version that will do. */
  readonly min?: string;
}

/** Why the found program will not do, as a sentence for a skipped suite (oracles/F3, F4); undefined when it will. */
export function unmetNeed(oracle: Oracle, finding: Finding, { min }: Need): string | undefined {
  switch (finding.state) {
    case 'missing':
      return `oracle ${oracle.name} not found (looked in ${finding.lookedIn.join(', ')})`;
    case 'unsupported':
      return `oracle ${oracle.name} cannot be used: ${finding.reason}`;
    case 'supported':
      return min === undefined ? undefined : unmetMinimum(oracle, finding.version, min);
  }
}

function unmetMinimum(oracle: Oracle, version: string | undefined, min: string): string | undefined {
  if (version === undefined) return `oracle ${oracle.name}: version unknown, ${min} or newer is needed`;
  if (isWithin(version, { min })) return undefined;
  const flaws = (oracle.flaws ?? []).filter(({ versions }) => versions.some((range) => isWithin(version, range)));
  return [`oracle ${oracle.name} ${version} is older than ${min}`, ...flaws.map(({ reason }) => reason)].join(
    ': ',
  );
}
