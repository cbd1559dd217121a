import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { compareQuantities, parseQuantity } from './quantity.ts';

/** Whether a text at this place is a quantity. */
export type IsQuantity = (path: readonly string[]) => boolean;

/**
 * Whether two values mean the same to an API server: null and an empty list are as good as absent, so are empty labels
 * and annotations, and quantities are equal by value (`1` and `1000m`). Other empty objects are not absent: a volume
 * with `emptyDir: {}` is not one without. Without a schema, quantities are known by where built-in kinds have them; a
 * text elsewhere is a text, since `1.0` and `1` are two versions and two labels.
 */
export const semanticEqual = (
  a: Json | undefined,
  b: Json | undefined,
  isQuantity: IsQuantity = isBuiltInQuantity,
): boolean => equalAt([], a, b, isQuantity);

function equalAt(path: string[], a: Json | undefined, b: Json | undefined, isQuantity: IsQuantity): boolean {
  if (a === b) return true;
  if (isAbsent(path, a) || isAbsent(path, b)) return isAbsent(path, a) && isAbsent(path, b);
  if (isJsonObject(a)) return isJsonObject(b) && equalMembers(path, a, b, isQuantity);
  if (!Array.isArray(a)) return isScalarEqual(path, a, b, isQuantity);
  return (
    Array.isArray(b) &&
    a.length === b.length &&
    // Items have a place: one that is null is not absent.
    a.every((item, at) => (item === null) === (b[at] === null) && equalAt([...path, '*'], item, b[at], isQuantity))
  );
}

function equalMembers(path: string[], a: JsonObject, b: JsonObject, isQuantity: IsQuantity): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) {
    const [left, right] = [ownValue(a, key), ownValue(b, key)];
    if (!equalAt([...path, key], left, right, isQuantity)) return false;
  }
  return true;
}

const ownValue = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

function isAbsent(path: readonly string[], value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0 && isMetadataMap(path);
}

const isMetadataMap = (path: readonly string[]): boolean =>
  path.at(-2) === 'metadata' && (path.at(-1) === 'labels' || path.at(-1) === 'annotations');

function isScalarEqual(path: string[], a: Json | undefined, b: Json | undefined, isQuantity: IsQuantity): boolean {
  const [left, right] = [amountText(a), amountText(b)];
  if (left === undefined || right === undefined || !isQuantity(path)) return false;
  try {
    return compareQuantities(parseQuantity(left), parseQuantity(right)) === 0;
  } catch {
    return false;
  }
}

/** Quantities may be written as numbers. */
const amountText = (value: Json | undefined): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const RESOURCE_LISTS = new Set([
  'limits',
  'requests',
  'capacity',
  'allocatable',
  'allocatedResources',
  'hard',
  'used',
  'podFixed',
  'default',
  'defaultRequest',
  'max',
  'min',
]);
const QUANTITIES = new Set(['sizeLimit', 'divisor']);

/** `spec.containers[].resources.limits.cpu` and their like; never in metadata, or in the data of a ConfigMap. */
function isBuiltInQuantity(path: readonly string[]): boolean {
  const [root = ''] = path;
  if (root !== 'spec' && root !== 'status' && root !== 'template' && root !== 'overhead') return false;
  if (path.includes('metadata')) return false;
  return RESOURCE_LISTS.has(path.at(-2) ?? '') || QUANTITIES.has(path.at(-1) ?? '');
}
