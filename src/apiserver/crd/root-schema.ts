import type { Schema } from '../../api/schema/structural.ts';
import { type FieldError, forbidden, invalid } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { type DefaultRules, defaultErrors } from './default-validation.ts';
import { internalSchema } from './go-internal.ts';
import { schemaErrors, unsupportedPart } from './schema-validation.ts';
import { structuralErrors } from './structural.ts';

/** The checks of CEL rules. Those of a schema that is not structural are not looked at. */
export interface SchemaChecks {
  /** Problems of the rules of a whole schema at `path`. */
  readonly rules?: (schema: Schema, path: string) => readonly FieldError[];
  readonly defaultRules?: DefaultRules;
}

export interface RootSchema {
  readonly schema: Schema;
  /** The path of what holds openAPIV3Schema. */
  readonly path: string;
  readonly hasStatus: boolean;
}

export function rootSchemaErrors(
  { schema, path: parent, hasStatus }: RootSchema,
  checks: SchemaChecks,
): readonly FieldError[] {
  const path = `${parent}.openAPIV3Schema`;
  const errors: FieldError[] = hasStatus ? [...rootFieldErrors(schema, path)] : [];
  if (schema.nullable === true) errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const unsupported = unsupportedPart(schema);
  const structural = unsupported === undefined ? structuralErrors(schema, path) : [];
  const defaults =
    unsupported === undefined && structural.length === 0 ? defaultErrors(schema, path, checks.defaultRules) : [];
  errors.push(...structural, ...defaults, ...schemaErrors(schema, path));
  // What cannot even be looked at has been reported in better words, if it has been reported.
  if (unsupported !== undefined) return errors.length > 0 ? errors : [invalid(path, '', unsupported)];
  const isComplete = structural.length === 0 && defaults.length === 0;
  return isComplete ? [...errors, ...(checks.rules?.(schema, path) ?? [])] : errors;
}

/** In the order of upstream's struct; the first that is not allowed is reported. */
const ROOT_FIELDS: readonly (readonly [key: string, isAllowed: boolean])[] = [
  ['id', false],
  ['$schema', false],
  ['$ref', false],
  ['type', true],
  ['nullable', false],
  ['default', false],
  ['enum', false],
  ['maxProperties', false],
  ['minProperties', false],
  ['allOf', false],
  ['oneOf', false],
  ['anyOf', false],
  ['not', false],
  ['additionalProperties', false],
  ['patternProperties', false],
  ['dependencies', false],
  ['additionalItems', false],
  ['definitions', false],
  ['x-kubernetes-embedded-resource', false],
  ['x-kubernetes-int-or-string', false],
  ['x-kubernetes-list-map-keys', false],
  ['x-kubernetes-list-type', false],
  ['x-kubernetes-map-type', false],
];

const ALLOWED =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';

/** With a status subresource the schema of the status is used alone, so nothing may be said about both at the root. */
function rootFieldErrors(schema: Schema, path: string): readonly FieldError[] {
  const raw = schema as unknown as JsonObject;
  const isSet = (key: string): boolean => ![undefined, null, '', false].some((empty) => raw[key] === empty);
  for (const [key, isAllowed] of ROOT_FIELDS) {
    if (!isSet(key)) continue;
    if (!isAllowed) {
      const why = `only [${ALLOWED}] fields are allowed at the root of the schema if the status subresource is enabled`;
      return [
        { reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${internalSchema(raw)}: ${why}` },
      ];
    }
    if (schema.type !== 'object') {
      const why =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      return [invalid(`${path}.type`, schema.type ?? '', why)];
    }
  }
  return [];
}
