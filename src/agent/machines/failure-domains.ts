import { type Cluster, DELETE_MACHINE_ANNOTATION, type Machine } from '../../api/cluster-api/core-v1beta2.ts';

/** Names of the domains that take control-plane Machines, in order. */
export const controlPlaneDomains = ({ status }: Cluster): readonly string[] =>
  (status?.failureDomains ?? [])
    .filter(({ controlPlane }) => controlPlane === true)
    .map(({ name }) => name)
    .toSorted();

export interface DomainFacts {
  readonly domains: readonly string[];
  /** Those that stay. */
  readonly machines: readonly Machine[];
  readonly isUpToDate: (machine: Machine) => boolean;
}

/** Where the next Machine goes: where the fewest are that are up to date, then the fewest of all (C18). Pure. */
export function domainForScaleUp({ domains, machines, isUpToDate }: DomainFacts): string | undefined {
  const current = machines.filter(isUpToDate);
  return leastBy(domains, (domain) => [countIn(domain, current), countIn(domain, machines)]);
}

/**
 * Where a Machine is taken from: where the most are of those that somebody marked, or of all when nobody did, then where
 * the most are. Undefined where domains do not matter: then all Machines are candidates.
 */
export function domainForScaleDown({ domains, machines }: Omit<DomainFacts, 'isUpToDate'>): string | undefined {
  const marked = machines.filter(isMarked);
  const wanted = marked.length > 0 ? marked : machines;
  const eligible = domains.filter((domain) => countIn(domain, wanted) > 0);
  return leastBy(eligible, (domain) => [-countIn(domain, wanted), -countIn(domain, machines)]);
}

/** Somebody wants this one to go first. */
export const isMarked = ({ metadata: { annotations = {} } }: Machine): boolean =>
  Object.hasOwn(annotations, DELETE_MACHINE_ANNOTATION);

export const isInDomain = ({ spec: { failureDomain = '' } }: Machine, domain: string): boolean =>
  failureDomain === domain;

const countIn = (domain: string, machines: readonly Machine[]): number =>
  machines.filter((machine) => isInDomain(machine, domain)).length;

/** The first of those for which the numbers are least, compared one after the other. */
function leastBy(
  names: readonly string[],
  numbers: (name: string) => readonly [number, number],
): string | undefined {
  const [first] = names.toSorted((a, b) => {
    const [[a1, a2], [b1, b2]] = [numbers(a), numbers(b)];
    return a1 - b1 || a2 - b2;
  });
  return first;
}
