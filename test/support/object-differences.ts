import type { KubeObject } from '../../src/api/object.ts';
import type { Json, JsonObject } from '../../src/object/json.ts';
import { diffJsonPatch } from '../../src/object/json-patch-diff.ts';

/** Kind, namespace if it is in one, and name. */
export const objectTitle = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  [kind, namespace, name].filter((part) => part !== undefined).join('/');

/**
 * What makes the second list of the first, for readers: objects that are gone or new, and under the title of each that is
 * in both what differs.
 */
export function objectDifferences(before: readonly KubeObject[], after: readonly KubeObject[]): readonly string[] {
  const [old, now] = [before, after].map((objects) => new Map(objects.map((one) => [objectTitle(one), one])));
  const added = [...(now?.keys() ?? [])].filter((title) => old?.has(title) !== true);
  const changed = before.flatMap((object) => {
    const other = now?.get(objectTitle(object));
    return other === undefined ? [`- ${objectTitle(object)}`] : changes(object, other);
  });
  return [...changed, ...added.map((title) => `+ ${title}`)];
}

function changes(before: KubeObject, after: KubeObject): readonly string[] {
  const json = asJson(before);
  const lines = diffJsonPatch(json, asJson(after)).flatMap((operation) => operationLines(json, operation));
  return lines.length === 0 ? [] : [objectTitle(before), ...lines.map((line) => `  ${line}`)];
}

const asJson = (object: KubeObject): JsonObject => JSON.parse(JSON.stringify(object));

/** Of texts with many lines, such as scripts, only those that differ. */
function operationLines(object: JsonObject, { op, path, value }: JsonObject): readonly string[] {
  const place = textOf(path);
  const old = typeof value === 'string' && value.includes('\n') ? valueAt(object, place) : undefined;
  if (typeof old !== 'string')
    return [`${textOf(op)} ${place} ${value === undefined ? '' : JSON.stringify(value)}`];
  const [before, after] = [old.split('\n'), textOf(value).split('\n')];
  return [
    `in the lines of ${place}`,
    ...before.filter((line) => !after.includes(line)).map((line) => `  - ${line}`),
    ...after.flatMap((line, at) => (before.includes(line) ? [] : [`  + ${at + 1}: ${line}`])),
  ];
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const valueAt = (object: JsonObject, path: string): unknown =>
  path
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => Object.entries(value ?? {}).find(([name]) => name === key)?.[1], object);
