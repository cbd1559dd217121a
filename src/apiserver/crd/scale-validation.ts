import { type FieldError, invalid } from '../../object/field-error.ts';
import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { goPlain, goType, isGoInteger } from '../../object/validation/go-text.ts';
import type { Scale } from './definition.ts';

const MAX_REPLICAS = 2 ** 31 - 1;

/** X20: what the scale subresource shows must be usable. */
export function scaleErrors(
  object: JsonObject,
  scale: Scale | undefined,
  part: 'all' | 'status',
): readonly FieldError[] {
  if (scale === undefined) return [];
  return [
    ...(part === 'all' ? replicaErrors(object, scale.specReplicasPath) : []),
    ...replicaErrors(object, scale.statusReplicasPath),
    ...(scale.labelSelectorPath === undefined ? [] : selectorErrors(object, scale.labelSelectorPath)),
  ];
}

interface Found {
  readonly value: Json | undefined;
  readonly problem: string | undefined;
}

/** Follows a path; something other than an object on the way is a problem, something missing is not. */
function nested(object: JsonObject, path: string): Found {
  const names = path.replace(/^\./, '').split('.');
  let value: Json | undefined = object;
  for (const [index, name] of names.entries()) {
    if (value === undefined) return { value, problem: undefined };
    if (!isJsonObject(value)) {
      return { value, problem: accessor(names.slice(0, index + 1), value, 'map[string]interface{}') };
    }
    value = getKey(value, name);
  }
  return { value, problem: undefined };
}

function accessor(names: readonly string[], value: Json, expected: string): string {
  return `.${names.join('.')} accessor error: ${goPlain(value)} is of the type ${goType(value)}, expected ${expected}`;
}

function replicaErrors(object: JsonObject, path: string): readonly FieldError[] {
  const { value, problem } = nested(object, path);
  if (problem !== undefined) return [invalid(path, 0, problem)];
  if (value === undefined) return [];
  if (!isGoInteger(value)) return [invalid(path, 0, accessor([path.slice(1)], value, 'int64'))];
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
  return value > MAX_REPLICAS ? [invalid(path, value, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
}

function selectorErrors(object: JsonObject, path: string): readonly FieldError[] {
  const { value, problem } = nested(object, path);
  if (problem !== undefined) return [invalid(path, '', problem)];
  if (value === undefined || typeof value === 'string') return [];
  return [invalid(path, '', accessor([path.slice(1)], value, 'string'))];
}
