import type { JsonObject } from '../../object/json.ts';
import { jsonEqual } from '../../object/json.ts';
import { type Condition, setConditions } from '../crd/names.ts';

/** What is left of a namespace after everything in it was deleted once. */
export interface Remains {
  /** `plural.group` → number of objects. */
  readonly resources: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
  /** Why collections could not be deleted. */
  readonly problems: readonly string[];
}

const OK: readonly (readonly [type: string, reason: string, message: string])[] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  [
    'NamespaceDeletionGroupVersionParsingFailure',
    'ParsedGroupVersions',
    'All legacy kube types successfully parsed',
  ],
  [
    'NamespaceDeletionContentFailure',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'],
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
];

/** G3: the five conditions of a namespace that is going; undefined when they say all that already. */
export function deletionStatus(status: JsonObject, remains: Remains, now: Date): JsonObject | undefined {
  const failing = failures(remains);
  const wanted = OK.map(
    ([type, reason, message]): Condition =>
      failing.find((condition) => condition.type === type) ?? { type, status: 'False', reason, message },
  );
  const old = Array.isArray(status['conditions']) ? status['conditions'] : [];
  const conditions = setConditions(old.filter(isObject), wanted, now);
  const changed = { ...status, phase: 'Terminating', conditions };
  return jsonEqual(changed, status) ? undefined : changed;
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

function failures({ resources, finalizers, problems }: Remains): readonly Condition[] {
  const found: Condition[] = [];
  const add = (type: string, reason: string, message: string) =>
    found.push({ type, status: 'True', reason, message });
  if (problems.length > 0) {
    const list = problems.toSorted().join(', ');
    const message = `Failed to delete all resource types, ${problems.length} remaining: ${list}`;
    add('NamespaceDeletionContentFailure', 'ContentDeletionFailed', message);
  }
  if (resources.size > 0) {
    const list = listed(resources, (name, count) => `${name} has ${count} resource instances`);
    add('NamespaceContentRemaining', 'SomeResourcesRemain', `Some resources are remaining: ${list}`);
  }
  if (finalizers.size > 0) {
    const list = listed(finalizers, (name, count) => `${name} in ${count} resource instances`);
    const message = `Some content in the namespace has finalizers remaining: ${list}`;
    add('NamespaceFinalizersRemaining', 'SomeFinalizersRemain', message);
  }
  return found;
}

const listed = (counts: ReadonlyMap<string, number>, text: (name: string, count: number) => string): string =>
  [...counts]
    .map(([name, count]) => text(name, count))
    .toSorted()
    .join(', ');
