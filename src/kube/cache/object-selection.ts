import type { KubeObject } from '../../api/object.ts';
import { type FieldRequirement, parseFieldSelector } from '../../object/field-selector.ts';
import { EVERYTHING, type LabelSelector, matchesLabels, parseLabelSelector } from '../../object/label-selector.ts';
import { isRecord } from '../../object/record.ts';
import type { CacheListOptions } from './cache.ts';
import { NAMESPACE_INDEX, type ObjectStore } from './object-store.ts';

/** A selector, read once and applied to many objects. */
export interface Selection {
  readonly labels: LabelSelector;
  readonly fields: readonly FieldRequirement[];
}

/** The name of the index over the values of one label. */
export const labelIndex = (label: string): string => `label:${label}`;

/** Throws a SelectorProblem when the text is no selector. */
export function selectionOf({ labels = '', fields = '' }: CacheListOptions): Selection {
  return { labels: labelSelector(labels), fields: parseFieldSelector(fields) };
}

function labelSelector(labels: string | Readonly<Record<string, string>>): LabelSelector {
  if (typeof labels === 'string') return labels === '' ? EVERYTHING : parseLabelSelector(labels);
  const requirements = Object.entries(labels).map(([key, value]) => ({
    key,
    operator: '=' as const,
    values: [value],
  }));
  return { requirements, isNothing: false };
}

/** Whether an object is selected; a field that it does not have counts as empty, as it does on the server. */
export function isSelected({ labels, fields }: Selection, object: KubeObject): boolean {
  const isLabelled = labels === EVERYTHING || matchesLabels(labels, object.metadata.labels);
  return (
    isLabelled &&
    fields.every(({ field, operator, value }) => (fieldOf(object, field) === value) === (operator === '='))
  );
}

function fieldOf(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const name of path.split('.')) {
    value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** The objects that options select, as a list of its own: through an index where one helps (I13). */
export function selectedFrom(store: ObjectStore, options: CacheListOptions): KubeObject[] {
  const { namespace } = options;
  const selection = selectionOf(options);
  const isEverything = selection.labels === EVERYTHING && selection.fields.length === 0;
  const keySets = indexedSets(store, selection, namespace);
  const { fields, labels } = selection;
  // An index decides what it means to have a value: the field itself need not.
  const rest = {
    labels,
    fields: fields.filter(({ field, operator }) => operator !== '=' || !store.hasIndex(field)),
  };
  if (keySets.length === 0)
    return isEverything ? store.all() : store.all().filter((object) => isSelected(rest, object));
  const [smallest = new Set<string>(), ...others] = keySets.toSorted((a, b) => a.size - b.size);
  const found: KubeObject[] = [];
  for (const key of smallest) {
    const object = store.get(key);
    if (object === undefined || !others.every((keys) => keys.has(key))) continue;
    if (isEverything || isSelected(rest, object)) found.push(object);
  }
  return found;
}

function indexedSets(
  store: ObjectStore,
  { labels, fields }: Selection,
  namespace: string | undefined,
): ReadonlySet<string>[] {
  const wanted: [string, string][] = [
    ...(namespace === undefined ? [] : [[NAMESPACE_INDEX, namespace] as [string, string]]),
    ...fields
      .filter(({ operator }) => operator === '=')
      .map(({ field, value }): [string, string] => [field, value]),
    ...labels.requirements.flatMap(({ key, operator, values: [value] }): [string, string][] =>
      (operator === '=' || operator === '==') && value !== undefined ? [[labelIndex(key), value]] : [],
    ),
  ];
  return wanted.map(([index, value]) => store.keysIn(index, value)).filter((keys) => keys !== undefined);
}
