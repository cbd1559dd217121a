import type { Schema } from '../../api/schema/structural.ts';
import { type FieldError, fieldErrorText, invalid } from '../../object/field-error.ts';
import { cloneJson, isJsonObject, type Json, jsonEqual } from '../../object/json.ts';
import { coerceEmbedded, embeddedErrors } from '../../object/validation/embedded.ts';
import { pruneUnknown } from '../../object/validation/prune.ts';
import { validateSchema } from '../../object/validation/validate.ts';

/** Evaluates the CEL rules of a schema on a default. */
export type DefaultRules = (schema: Schema, value: Json, path: string) => readonly FieldError[];

/** The object a default ends up in: needed where metadata has to be judged as a whole. */
type Surround = (value: Json) => Json;

interface Place {
  readonly path: string;
  readonly surround: Surround;
  readonly isInsideMeta: boolean;
  /** The resource, the object itself or an embedded one, whose metadata a default may be in. */
  readonly resource: Schema;
}

const META_FIELDS = new Set(['metadata', 'apiVersion', 'kind']);

const asResource: Surround = (value) =>
  isJsonObject(value) ? { kind: 'Validation', apiVersion: 'validation/v1', ...value } : value;

/** Defaults are pruned, valid values of their schemas (15.2). */
export function defaultErrors(schema: Schema, path: string, rules?: DefaultRules): readonly FieldError[] {
  const errors: FieldError[] = [];
  const root = { path, surround: asResource, isInsideMeta: false, resource: schema };
  visit(schema, root, true, { rules, errors });
  return errors;
}

interface Walk {
  readonly rules: DefaultRules | undefined;
  readonly errors: FieldError[];
}

function visit(schema: Schema, outer: Place, isRoot: boolean, walk: Walk): void {
  const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const place: Place = isResource
    ? { ...outer, surround: asResource, isInsideMeta: false, resource: schema }
    : outer;
  const { path, surround } = place;
  const fallback = schema.default ?? null;
  if (fallback !== null) {
    const found = place.isInsideMeta
      ? metaErrors(schema, fallback, place, walk)
      : valueErrors(schema, fallback, { base: `${path}.default`, isResource: isRoot }, walk);
    walk.errors.push(...found);
  }
  // Defaults in additionalProperties are never applied on their own.
  if (schema.items !== undefined) {
    const items = { ...place, path: `${path}.items`, surround: (value: Json) => surround([value]) };
    visit(schema.items, items, false, walk);
  }
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    const property = {
      ...place,
      path: `${path}.properties[${key}]`,
      surround: (value: Json) => surround({ [key]: value }),
      isInsideMeta: place.isInsideMeta || (isResource && META_FIELDS.has(key)),
    };
    visit(child, property, false, walk);
  }
}

function valueErrors(
  schema: Schema,
  fallback: Json,
  where: { readonly base: string; readonly isResource: boolean },
  { rules }: Walk,
): readonly FieldError[] {
  const { base } = where;
  const errors: FieldError[] = [];
  const pruned = cloneJson(fallback);
  pruneUnknown(pruned, schema);
  if (!jsonEqual(pruned, fallback)) errors.push(invalid(base, fallback, 'must not have unknown fields'));
  const value = cloneJson(fallback);
  const { problem } = coerceEmbedded(value, schema, where);
  if (problem !== undefined) {
    const [field = base, ...message] = problem.split(': ');
    return [...errors, { reason: 'FieldValueInvalid', field, message: message.join(': ') }];
  }
  const metadataErrors = embeddedErrors(value, schema, where);
  if (metadataErrors.length > 0) return [...errors, ...metadataErrors];
  return [...errors, ...schemaErrors(schema, value, base, rules)];
}

function schemaErrors(
  schema: Schema,
  value: Json,
  base: string,
  rules: DefaultRules | undefined,
): readonly FieldError[] {
  const found = validateSchema(value, schema, { base });
  return found.length > 0 ? found : (rules?.(schema, value, base) ?? []);
}

/** A default inside metadata is judged in the object it belongs to. */
function metaErrors(schema: Schema, fallback: Json, place: Place, { rules }: Walk): readonly FieldError[] {
  const base = `${place.path}.default`;
  const object = place.surround(cloneJson(fallback));
  const { problem } = coerceEmbedded(object, place.resource, { isResource: true });
  if (problem !== undefined) return [invalid(base, fallback, `must result in valid metadata: ${problem}`)];
  const errors = embeddedErrors(object, place.resource, { isResource: true });
  if (errors.length === 0) return schemaErrors(schema, fallback, base, rules);
  const texts = errors.map(fieldErrorText);
  const text = texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
  return [invalid(base, fallback, `must result in valid metadata: ${text}`)];
}
