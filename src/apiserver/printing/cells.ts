import { humanDuration } from '../../object/human-duration.ts';
import type { Json, JsonObject } from '../../object/json.ts';
import { labelSelectorOf, printLabelSelector, SelectorProblem } from '../../object/label-selector.ts';
import { metadataOf, numberAt, objectsAt, textAt } from '../builtin/fields.ts';
import type { Column, Columns } from '../registry/resource.ts';

export type Cell = string | number | boolean | null;

/** A column in short: `Name*` is shown with `-o wide` only. Descriptions are left out: no client shows them. */
export interface ColumnSpec {
  readonly name: string;
  readonly type?: 'string' | 'integer' | 'boolean' | 'date';
  readonly format?: 'name';
  readonly isWide?: true;
}

export const NAME: ColumnSpec = { name: 'Name', format: 'name' };
export const AGE: ColumnSpec = { name: 'Age' };

export const text = (name: string): ColumnSpec => ({ name });
export const integer = (name: string): ColumnSpec => ({ name, type: 'integer' });
export const boolean = (name: string): ColumnSpec => ({ name, type: 'boolean' });
export const wide = (name: string): ColumnSpec => ({ name, isWide: true });

/** Columns from specs and a function that gives the cells in their order. */
export const tableOf = (
  specs: readonly ColumnSpec[],
  cells: (object: JsonObject, now: Date) => readonly Cell[],
  rowConditions?: (object: JsonObject) => readonly JsonObject[],
): Columns => ({
  definitions: specs.map(columnOf),
  cells,
  ...(rowConditions && { rowConditions }),
});

const columnOf = ({ name, type = 'string', format, isWide }: ColumnSpec): Column => ({
  name,
  type,
  format: format ?? '',
  description: '',
  priority: isWide === true ? 1 : 0,
});

/** The time since a timestamp, as ages are shown. */
export function since(timestamp: Json | undefined, now: Date): string {
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) ? '<unknown>' : humanDuration(now.getTime() - at);
}

export const ageOf = (object: JsonObject, now: Date): string =>
  since(metadataOf(object)['creationTimestamp'], now);

export const count = (object: JsonObject, key: string): number => numberAt(object, key) ?? 0;

/** Labels as `a=b,c=d`, sorted; `<none>` when there are none. */
export function labelsText(labels: JsonObject): string {
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${textAt(labels, key)}`);
  return pairs.length === 0 ? '<none>' : pairs.join(',');
}

/** A LabelSelector object; `<none>` when it selects everything. */
export function selectorText(selector: Json | undefined): string {
  try {
    return printLabelSelector(labelSelectorOf(selector)) || '<none>';
  } catch (error) {
    if (error instanceof SelectorProblem) return '<error>';
    throw error;
  }
}

/** Names and images of the containers of a pod spec, each as one cell. */
export function containerCells(podSpec: JsonObject): readonly [names: string, images: string] {
  const containers = objectsAt(podSpec, 'containers');
  return [
    containers.map((container) => textAt(container, 'name')).join(','),
    containers.map((container) => textAt(container, 'image')).join(','),
  ];
}

/** The first few of a list and how many more there are. */
export function firstFew(list: readonly string[], most: number, total = list.length): string {
  const shown = list.slice(0, most).join(',');
  return total > most ? `${shown} + ${total - most} more...` : shown;
}

/** The status of a condition; undefined when it is not there. */
export const conditionStatus = (status: JsonObject, type: string): string | undefined => {
  const found = objectsAt(status, 'conditions').find((condition) => textAt(condition, 'type') === type);
  return found && textAt(found, 'status');
};
