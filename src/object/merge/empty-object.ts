import { isJsonObject, type Json, type JsonObject, setKey } from '../json.ts';
import type { Schema } from '../schema.ts';

const empties = new WeakMap<Schema, JsonObject>();

/**
 * A new object of a built-in kind as Go has it: structures that cannot be absent are there and empty, required lists and
 * maps are null, required scalars are zero. Nobody comes to own those by creating an object (`spec` itself has no owner
 * in a Deployment, but has one in a custom resource). Only for built-in kinds: a new custom resource is empty.
 */
export function emptyObject(schema: Schema): JsonObject {
  const known = empties.get(schema);
  if (known !== undefined) return known;
  const empty = emptyStructure(schema);
  empties.set(schema, empty);
  return empty;
}

function emptyStructure(schema: Schema): JsonObject {
  const empty: JsonObject = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const value = zeroOf(property, schema.required?.includes(name) === true);
    if (value !== undefined) setKey(empty, name, value);
  }
  return empty;
}

/** The zero value of a field; `undefined` if Go leaves it out. */
function zeroOf(property: Schema, isRequired: boolean): Json | undefined {
  // The generator of the schemas writes this default exactly for structures that are held by value.
  if (isJsonObject(property.default) && property.properties !== undefined) return emptyStructure(property);
  if (!isRequired) return undefined;
  if (property.type === 'string') return property.format === 'date-time' ? null : '';
  if (property.type === 'integer' || property.type === 'number') return 0;
  return property.type === 'boolean' ? false : null;
}
