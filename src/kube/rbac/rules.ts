import { userError } from '../../base/errors.ts';
import type { Need, Verb } from './need.ts';

/** One rule of a Role or ClusterRole as Kubernetes spells it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Absent: every object. */
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The order in which people read them; also that of generated rules. */
const VERB_ORDER: readonly string[] = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
];

/** The server does not know the name of what is being created, so a rule with names would allow nothing. */
const NAMELESS: ReadonlySet<string> = new Set(['create', 'deletecollection']);
const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Verbs on one resource: those on all of its objects, and those on single ones. */
interface Granted {
  readonly all: Set<string>;
  readonly byName: Map<string, Set<string>>;
}

/**
 * Rules that allow what the needs say and nothing else, merged, in one order whatever the order of the needs (B1).
 * Each rule speaks of one API group. Throws a userError for a need that asks for everything, or for more than a
 * controller should have without saying why (B4).
 */
export function rulesFrom(needs: readonly Need[]): readonly PolicyRule[] {
  const granted = new Map<string, Granted>();
  // One reason is enough, whichever of the needs says it.
  const isReasoned = needs.some((need) => isOfSecrets(need) && hasReason(need));
  for (const need of needs) {
    checkNeed(need, isReasoned);
    grant(need, granted);
  }
  const rules = [...granted].flatMap(([key, verbs]) => rulesOfResource(key, verbs));
  return joined(rules).toSorted(compareRules);
}

/** Throws when a need is not one that a shipped role may hold (B4, reliability P62). */
function checkNeed(need: Need, isReasoned: boolean): void {
  const { group, resource, verbs, names } = need;
  const shown = `the need for ${JSON.stringify(verbs)} on "${resource}" of group "${group}"`;
  if (hasWildcard(need)) throw userError('WildcardNeed', `${shown} holds "*"; name each of them`);
  if (resource === '' || verbs.length === 0) {
    throw userError('EmptyNeed', `${shown} allows nothing; name a resource and at least one verb`);
  }
  const unknown = verbs.find((verb) => !VERB_ORDER.includes(verb));
  if (unknown !== undefined) {
    throw userError('ForbiddenVerb', `${shown} has "${unknown}"; allowed are ${VERB_ORDER.join(', ')}`);
  }
  if (names?.length === 0)
    throw userError('EmptyNeed', `${shown} has an empty list of names; leave it out for all`);
  if (names !== undefined && verbs.includes('deletecollection')) {
    throw userError('NamedCollection', `${shown} has names, but deletecollection takes none; use delete`);
  }
  if (!isReasoned) checkSecrets(need, shown);
}

const hasWildcard = (need: Need): boolean => {
  const { group, resource, verbs, names = [] } = need;
  return [group, ...(isWholeGroup(need) ? [] : [resource]), ...verbs, ...names].some((part) => part.includes('*'));
};

/** Whoever reads all Secrets is everybody: a name, a namespace, or a reason for people who install this. */
function checkSecrets(need: Need, shown: string): void {
  const { verbs, names, namespace } = need;
  if (!isOfSecrets(need) || names !== undefined || namespace !== undefined) return;
  if (hasReason(need) || !verbs.some((verb) => READING.has(verb))) return;
  throw userError(
    'SecretsWithoutReason',
    `${shown} reads every Secret; give names, a namespace or a reason: owns(Secret, { reason }), watches(Secret, …, [], { reason }) or needs(Secret, […], { reason })`,
  );
}

/** Kinds that others bring, which nobody can name yet: all of one group, for those who say why. */
const isWholeGroup = (need: Need): boolean => need.resource === '*' && need.group !== '' && hasReason(need);
const isOfSecrets = ({ group, resource }: Need): boolean => group === '' && resource === 'secrets';
const hasReason = ({ reason = '' }: Need): boolean => reason.trim() !== '';

function grant({ group, resource, verbs, names }: Need, granted: Map<string, Granted>): void {
  const key = `${group}\n${resource}`;
  const found = granted.get(key) ?? { all: new Set<string>(), byName: new Map<string, Set<string>>() };
  granted.set(key, found);
  for (const verb of verbs) {
    if (names === undefined || NAMELESS.has(verb)) found.all.add(verb);
    else for (const name of names) setOf(found.byName, name).add(verb);
  }
}

function setOf(map: Map<string, Set<string>>, key: string): Set<string> {
  const set = map.get(key) ?? new Set<string>();
  map.set(key, set);
  return set;
}

function rulesOfResource(key: string, { all, byName }: Granted): readonly PolicyRule[] {
  const [group = '', resource = ''] = key.split('\n');
  const rule = (verbs: Iterable<string>, names?: readonly string[]): PolicyRule => ({
    apiGroups: [group],
    resources: [resource],
    ...(names !== undefined && { resourceNames: names.toSorted() }),
    verbs: sortedVerbs(verbs),
  });
  const namesByVerbs = new Map<string, Set<string>>();
  for (const [name, verbs] of byName) {
    const more = sortedVerbs([...verbs].filter((verb) => !all.has(verb)));
    if (more.length > 0) setOf(namesByVerbs, more.join()).add(name);
  }
  const named = [...namesByVerbs].map(([verbs, names]) => rule(verbs.split(','), [...names]));
  return all.size > 0 ? [rule(all), ...named] : named;
}

const sortedVerbs = (verbs: Iterable<string>): string[] =>
  [...verbs].toSorted((a, b) => VERB_ORDER.indexOf(a) - VERB_ORDER.indexOf(b));

/** Rules that differ by resource only become one: names and verbs are the same, so nothing is added. */
function joined(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const groups = Map.groupBy(rules, ({ apiGroups, resourceNames, verbs }) =>
    JSON.stringify([apiGroups, resourceNames ?? null, verbs]),
  );
  return [...groups.values()].flatMap(([first, ...more]) =>
    first === undefined
      ? []
      : [{ ...first, resources: [first, ...more].flatMap(({ resources }) => resources).toSorted() }],
  );
}

const sortText = ({ apiGroups, resources, resourceNames = [], verbs }: PolicyRule): string =>
  [apiGroups.join(), resources.join(), resourceNames.join(), verbs.join()].join('\n');

function compareRules(a: PolicyRule, b: PolicyRule): number {
  const [left, right] = [sortText(a), sortText(b)];
  return left < right ? -1 : Number(left > right);
}

/** What `for`, `owns` and `watches` of a controller need (B1). */
export const WATCHING: readonly Verb[] = ['get', 'list', 'watch'];
