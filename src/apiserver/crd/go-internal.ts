import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { goJson } from '../../object/validation/go-text.ts';
import { objectsAt } from './definition.ts';

/**
 * Some errors about a CRD print a part of it as the Go structs inside upstream look: with Go's field names and every
 * empty field. These functions write that.
 */
type Field = readonly [goName: string, jsonName: string, write: (value: Json | undefined) => string];

const nullable = (value: Json | undefined): string => goJson(value);
const text = (value: Json | undefined): string => goJson(value ?? '');
const flag = (value: Json | undefined): string => goJson(value ?? false);

const struct = (raw: JsonObject, fields: readonly Field[]): string =>
  `{${fields.map(([goName, jsonName, write]) => `"${goName}":${write(getKey(raw, jsonName))}`).join(',')}}`;

const pointer =
  (fields: () => readonly Field[]) =>
  (value: Json | undefined): string =>
    isJsonObject(value) ? struct(value, fields()) : 'null';

const list =
  (fields: () => readonly Field[]) =>
  (value: Json | undefined): string =>
    Array.isArray(value)
      ? `[${value.map((item) => (isJsonObject(item) ? struct(item, fields()) : 'null')).join(',')}]`
      : 'null';

const map =
  (fields: () => readonly Field[]) =>
  (value: Json | undefined): string =>
    isJsonObject(value) && Object.keys(value).length > 0
      ? `{${Object.keys(value)
          .toSorted()
          .map((key) => `${goJson(key)}:${pointer(fields)(getKey(value, key))}`)
          .join(',')}}`
      : 'null';

const schemaFields = (): readonly Field[] => SCHEMA;

const schemaOrBool = (value: Json | undefined): string => {
  if (value === undefined || value === null) return 'null';
  return isJsonObject(value)
    ? `{"Allows":true,"Schema":${struct(value, SCHEMA)}}`
    : `{"Allows":${value === true},"Schema":null}`;
};

const schemaOrArray = (value: Json | undefined): string => {
  if (isJsonObject(value)) return `{"Schema":${struct(value, SCHEMA)},"JSONSchemas":null}`;
  return Array.isArray(value) ? `{"Schema":null,"JSONSchemas":${list(schemaFields)(value)}}` : 'null';
};

const RULE: readonly Field[] = [
  ['Rule', 'rule', text],
  ['Message', 'message', text],
  ['MessageExpression', 'messageExpression', text],
  ['Reason', 'reason', nullable],
  ['FieldPath', 'fieldPath', text],
  ['OptionalOldSelf', 'optionalOldSelf', nullable],
];

const DOCS: readonly Field[] = [
  ['Description', 'description', text],
  ['URL', 'url', text],
];

const SCHEMA: readonly Field[] = [
  ['ID', 'id', text],
  ['Schema', '$schema', text],
  ['Ref', '$ref', nullable],
  ['Description', 'description', text],
  ['Type', 'type', text],
  ['Nullable', 'nullable', flag],
  ['Format', 'format', text],
  ['Title', 'title', text],
  ['Default', 'default', nullable],
  ['Maximum', 'maximum', nullable],
  ['ExclusiveMaximum', 'exclusiveMaximum', flag],
  ['Minimum', 'minimum', nullable],
  ['ExclusiveMinimum', 'exclusiveMinimum', flag],
  ['MaxLength', 'maxLength', nullable],
  ['MinLength', 'minLength', nullable],
  ['Pattern', 'pattern', text],
  ['MaxItems', 'maxItems', nullable],
  ['MinItems', 'minItems', nullable],
  ['UniqueItems', 'uniqueItems', flag],
  ['MultipleOf', 'multipleOf', nullable],
  ['Enum', 'enum', nullable],
  ['MaxProperties', 'maxProperties', nullable],
  ['MinProperties', 'minProperties', nullable],
  ['Required', 'required', nullable],
  ['Items', 'items', schemaOrArray],
  ['AllOf', 'allOf', list(schemaFields)],
  ['OneOf', 'oneOf', list(schemaFields)],
  ['AnyOf', 'anyOf', list(schemaFields)],
  ['Not', 'not', pointer(schemaFields)],
  ['Properties', 'properties', map(schemaFields)],
  ['AdditionalProperties', 'additionalProperties', schemaOrBool],
  ['PatternProperties', 'patternProperties', map(schemaFields)],
  ['Dependencies', 'dependencies', nullable],
  ['AdditionalItems', 'additionalItems', schemaOrBool],
  ['Definitions', 'definitions', map(schemaFields)],
  ['ExternalDocs', 'externalDocs', pointer(() => DOCS)],
  ['Example', 'example', nullable],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', nullable],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', flag],
  ['XIntOrString', 'x-kubernetes-int-or-string', flag],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', nullable],
  ['XListType', 'x-kubernetes-list-type', nullable],
  ['XMapType', 'x-kubernetes-map-type', nullable],
  ['XValidations', 'x-kubernetes-validations', list(() => RULE)],
];

const SCALE: readonly Field[] = [
  ['SpecReplicasPath', 'specReplicasPath', text],
  ['StatusReplicasPath', 'statusReplicasPath', text],
  ['LabelSelectorPath', 'labelSelectorPath', nullable],
];

const COLUMN: readonly Field[] = [
  ['Name', 'name', text],
  ['Type', 'type', text],
  ['Format', 'format', text],
  ['Description', 'description', text],
  ['Priority', 'priority', (value) => goJson(value ?? 0)],
  ['JSONPath', 'jsonPath', text],
];

const VERSION: readonly Field[] = [
  ['Name', 'name', text],
  ['Served', 'served', flag],
  ['Storage', 'storage', flag],
  ['Deprecated', 'deprecated', flag],
  ['DeprecationWarning', 'deprecationWarning', nullable],
  ['Schema', 'schema', pointer(() => [['OpenAPIV3Schema', 'openAPIV3Schema', pointer(schemaFields)]])],
  [
    'Subresources',
    'subresources',
    pointer(() => [
      ['Status', 'status', (value) => (isJsonObject(value) ? '{}' : 'null')],
      ['Scale', 'scale', pointer(() => SCALE)],
    ]),
  ],
  ['AdditionalPrinterColumns', 'additionalPrinterColumns', list(() => COLUMN)],
  ['SelectableFields', 'selectableFields', list(() => [['JSONPath', 'jsonPath', text]])],
];

/** A schema as upstream prints it. */
export const internalSchema = (schema: JsonObject): string => struct(schema, SCHEMA);

/** spec.versions as upstream prints it; `hoisted` are the fields that all versions share and that it therefore moved. */
export function internalVersions(spec: JsonObject, hoisted: ReadonlySet<string>): string {
  const versions = objectsAt(spec, 'versions');
  if (versions.length === 0) return getKey(spec, 'versions') === undefined ? 'null' : '[]';
  const shown = versions.map((version) =>
    struct(Object.fromEntries(Object.entries(version).filter(([key]) => !hoisted.has(key))), VERSION),
  );
  return `[${shown.join(',')}]`;
}
