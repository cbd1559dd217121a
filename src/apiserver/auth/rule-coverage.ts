import type { PolicyRule } from './rbac-rules.ts';

// Whether somebody who has some rules may give others away (Z4): each smallest part of them must be covered by one rule.

const NONE: readonly string[] = [];
const part = (fields: Partial<PolicyRule>): PolicyRule => ({
  verbs: NONE,
  apiGroups: NONE,
  resources: NONE,
  resourceNames: NONE,
  nonResourceURLs: NONE,
  ...fields,
});

/** The parts of `wanted` that no owned rule covers, each with one verb, resource and name at most. */
export function uncovered(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(parts).filter((small) => !owned.some((rule) => covers(rule, small)));
}

function parts(rule: PolicyRule): readonly PolicyRule[] {
  const names = rule.resourceNames.length === 0 ? [NONE] : rule.resourceNames.map((name) => [name]);
  const resources = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        names.map((resourceNames) =>
          part({ apiGroups: [group], resources: [resource], verbs: [verb], resourceNames }),
        ),
      ),
    ),
  );
  const paths = rule.nonResourceURLs.flatMap((path) =>
    rule.verbs.map((verb) => part({ nonResourceURLs: [path], verbs: [verb] })),
  );
  return [...resources, ...paths];
}

function covers(owned: PolicyRule, small: PolicyRule): boolean {
  const hasNames = owned.resourceNames.length === 0 || small.resourceNames.length > 0;
  return (
    hasAllOrStar(owned.verbs, small.verbs) &&
    hasAllOrStar(owned.apiGroups, small.apiGroups) &&
    small.resources.every((resource) => coversResource(owned.resources, resource)) &&
    small.nonResourceURLs.every((path) => owned.nonResourceURLs.some((pattern) => coversPath(pattern, path))) &&
    hasNames &&
    (owned.resourceNames.length === 0 || small.resourceNames.every((name) => owned.resourceNames.includes(name)))
  );
}

const hasAllOrStar = (owned: readonly string[], wanted: readonly string[]): boolean =>
  owned.includes('*') || wanted.every((item) => owned.includes(item));

function coversResource(owned: readonly string[], resource: string): boolean {
  if (owned.includes('*') || owned.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash !== -1 && owned.includes(`*${resource.slice(slash)}`);
}

const coversPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')));

/** The sentences that name missing rights: those that differ by verb only are told together, in order. */
export function describeRules(rules: readonly PolicyRule[]): readonly string[] {
  const merged = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
    const isPath = rule.nonResourceURLs.length > 0;
    const known = merged.get(key);
    if (known === undefined || isPath) merged.set(isPath ? `${key}${rule.verbs.join()}` : key, rule);
    else merged.set(key, { ...known, verbs: [...known.verbs, ...rule.verbs] });
  }
  return [...new Set([...merged.values()].map(describeRule))].toSorted();
}

function describeRule(rule: PolicyRule): string {
  const fields = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const;
  const texts = fields.flatMap(([name, values]) => (values.length === 0 ? [] : [`${name}:${quotedList(values)}`]));
  return `{${texts.join(', ')}}`;
}

/** A list as Go prints it with %q. */
export const quotedList = (values: readonly string[]): string =>
  `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
