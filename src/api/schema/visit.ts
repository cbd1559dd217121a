import type { Schema } from './structural.ts';

/** A node and where its values are: `spec.ports[].port`, `spec.labels.*`; the empty text for the object itself. */
export type SchemaVisit = (node: Schema, path: string, isRequired: boolean) => void;

/** The path of a field below a path. */
export const fieldPath = (path: string, field: string): string => (path === '' ? field : `${path}.${field}`);

/** Calls for a node and everything below it, parents first, fields in the order of the schema. */
export function visitSchema(schema: Schema, path: string, visit: SchemaVisit, isRequired = true): void {
  visit(schema, path, isRequired);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    visitSchema(property, fieldPath(path, name), visit, schema.required?.includes(name) === true);
  }
  if (schema.items !== undefined) visitSchema(schema.items, `${path}[]`, visit);
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') visitSchema(additionalProperties, `${path}.*`, visit);
}
