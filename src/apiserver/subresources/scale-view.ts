import type { Schema } from '../../api/schema/structural.ts';
import { cloneJson, isJsonObject, type Json, type JsonObject, setKey } from '../../object/json.ts';
import { labelSelectorOf, printLabelSelector } from '../../object/label-selector.ts';
import type { ScalePaths } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';

/** What the view is called. */
export const SCALE = { group: 'autoscaling', kind: 'Scale' };
const INTEGER: Schema = { type: 'integer', format: 'int32' };
const TEXT: Schema = { type: 'string' };
export const SCALE_SCHEMA: Schema = {
  type: 'object',
  properties: {
    apiVersion: TEXT,
    kind: TEXT,
    metadata: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    spec: { type: 'object', properties: { replicas: INTEGER } },
    status: { type: 'object', properties: { replicas: INTEGER, selector: TEXT } },
  },
};

/** The object with the replicas of a Scale that a webhook changed. */
export function rescaled(object: JsonObject, scale: JsonObject, { specReplicasPath }: ScalePaths): JsonObject {
  const copy = cloneJson(object);
  const { spec } = scale;
  setAt(copy, pathOf(specReplicasPath), (isJsonObject(spec) ? spec['replicas'] : undefined) ?? 0);
  return copy;
}

/** An object as autoscaling/v1 Scale. */
export function scaleOf(object: JsonObject, paths: ScalePaths): JsonObject {
  const metadata = metadataOf(object);
  const kept: JsonObject = {};
  for (const name of ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp']) {
    const value = metadata[name];
    if (value !== undefined) kept[name] = value;
  }
  const replicas = at(object, pathOf(paths.specReplicasPath));
  const selector = paths.labelSelectorPath === undefined ? undefined : at(object, pathOf(paths.labelSelectorPath));
  const text = selectorText(selector);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: kept,
    spec: { ...(typeof replicas === 'number' && replicas !== 0 && { replicas }) },
    status: {
      replicas: Number(at(object, pathOf(paths.statusReplicasPath)) ?? 0),
      ...(text !== '' && { selector: text }),
    },
  };
}

/** Built-ins keep their selector as an object, custom resources as text. */
const selectorText = (selector: Json | undefined): string =>
  isJsonObject(selector) ? printLabelSelector(labelSelectorOf(selector)) : textOf(selector);

/** `.spec.replicas` → its field names; scale paths have no other form (X20). */
export const pathOf = (path: string): readonly string[] => path.split('.').filter((name) => name !== '');

export function at(object: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

export function setAt(object: JsonObject, path: readonly string[], value: Json): void {
  let parent = object;
  for (const name of path.slice(0, -1)) {
    const child = parent[name];
    const next: JsonObject = isJsonObject(child) ? child : {};
    setKey(parent, name, next);
    parent = next;
  }
  const last = path.at(-1);
  if (last !== undefined) setKey(parent, last, value);
}
