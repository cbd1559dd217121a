import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { parseJson } from '../json-text.ts';
import { compare } from './compare.ts';
import { difference, type FieldSet } from './field-set.ts';
import { keyJson } from './path-element.ts';
import { fieldSetOf } from './to-field-set.ts';
import type { Ownership } from './typing.ts';
import { validateTyped } from './validate.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** The one manager whose client-side past is taken into account (S15). */
export const CLIENT_SIDE_MANAGER = 'kubectl';

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const { metadata } = object;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

function lastAppliedOf(object: JsonObject): string | undefined {
  const annotations = annotationsOf(object);
  const value = annotations !== undefined && Object.hasOwn(annotations, ANNOTATION) ? annotations[ANNOTATION] : '';
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The fields that client-side apply set and that still have the value it gave them: kubectl owns them, whoever is on
 * record. `undefined` if there is no such record or it cannot be read.
 */
export function clientSideFields(
  live: JsonObject,
  apiVersion: string,
  ownership: Ownership,
): FieldSet | undefined {
  const text = lastAppliedOf(live);
  if (text === undefined) return undefined;
  try {
    const { value: applied } = parseJson(text);
    if (!isJsonObject(applied) || applied['apiVersion'] !== apiVersion) return undefined;
    validateTyped(live, ownership);
    validateTyped(applied, ownership);
    const { modified, added, removed } = compare(applied, live, ownership);
    return difference(difference(difference(fieldSetOf(applied, ownership), modified), added), removed);
  } catch {
    return undefined;
  }
}

/** The object with the record of client-side apply, if it has one, brought up to date with a configuration. */
export function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  if (lastAppliedOf(object) === undefined) return object;
  const annotations: JsonObject = { ...annotationsOf(object), [ANNOTATION]: recordOf(config) };
  if (sizeOf(annotations) > MAX_ANNOTATIONS_BYTES) delete annotations[ANNOTATION];
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  return { ...object, metadata: { ...metadata, annotations } };
}

function recordOf(config: JsonObject): string {
  const annotations = annotationsOf(config);
  let recorded = config;
  if (annotations !== undefined) {
    const { [ANNOTATION]: _, ...rest } = annotations;
    const metadata = isJsonObject(config['metadata']) ? config['metadata'] : {};
    // Upstream leaves out annotations that are none.
    const { annotations: __, ...bare } = metadata;
    recorded = { ...config, metadata: Object.keys(rest).length === 0 ? bare : { ...bare, annotations: rest } };
  }
  return `${keyJson(recorded)}\n`;
}

const sizeOf = (annotations: JsonObject): number =>
  Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + byteLength(value), 0);
const byteLength = (value: Json): number => (typeof value === 'string' ? Buffer.byteLength(value) : 0);
