import fc from 'fast-check';
import type { Schema, SchemaType } from '../../src/api/schema/structural.ts';
import type { Json } from '../../src/object/json.ts';

/** Values that a structural schema admits. CEL rules are not looked at: give kinds without, or filter. */
export function schemaArbitrary(schema: Schema): fc.Arbitrary<Json> {
  const value = bodyArbitrary(schema);
  return schema.nullable === true ? fc.option(value, { freq: 4 }) : value;
}

type ArbitraryOf = (schema: Schema) => fc.Arbitrary<Json>;

function bodyArbitrary(schema: Schema): fc.Arbitrary<Json> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema['x-kubernetes-int-or-string'] === true) return fc.oneof(fc.nat(9999), stringArbitrary(schema));
  if (schema['x-kubernetes-embedded-resource'] === true) return fc.constant(EMBEDDED);
  return schema.type === undefined ? plainJson : BY_TYPE[schema.type](schema);
}

const BY_TYPE: Readonly<Record<SchemaType, ArbitraryOf>> = {
  object: (schema) => objectArbitrary(schema),
  array: (schema) => listArbitrary(schema),
  string: (schema) => stringArbitrary(schema),
  integer: (schema) => integerArbitrary(schema),
  number: (schema) => numberArbitrary(schema),
  boolean: () => fc.boolean(),
};

const EMBEDDED: Json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inner' }, data: { a: 'b' } };

/** Any JSON but what JSON itself cannot keep, such as minus zero. */
const plainJson: fc.Arbitrary<Json> = fc.letrec<{ readonly any: Json }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.string({ maxLength: 5 }),
    fc.integer(),
    fc.boolean(),
    fc.array(tie('any'), { maxLength: 2 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie('any'), { maxKeys: 2, noNullPrototype: true }),
  ),
})).any;

const keyText = fc.stringMatching(/^[a-z]([a-z0-9.-]{0,8}[a-z0-9])?$/);

function objectArbitrary(schema: Schema): fc.Arbitrary<Json> {
  const { properties = {}, additionalProperties, minProperties = 0, maxProperties = 4 } = schema;
  if (typeof additionalProperties === 'object') {
    return fc.dictionary(keyText, schemaArbitrary(additionalProperties), {
      minKeys: minProperties,
      maxKeys: maxProperties,
      noNullPrototype: true,
    });
  }
  const named = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, schemaArbitrary(property)])),
    { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true },
  );
  if (schema['x-kubernetes-preserve-unknown-fields'] !== true) return named;
  const unknown = fc.dictionary(fc.stringMatching(/^x[a-z]{1,4}$/), plainJson, {
    maxKeys: 2,
    noNullPrototype: true,
  });
  return fc.tuple(unknown, named).map(([more, known]) => ({ ...more, ...known }));
}

function listArbitrary(schema: Schema): fc.Arbitrary<Json> {
  const { items = {}, minItems = 0, maxItems = 4 } = schema;
  const bounds = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 4) };
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] === undefined || schema['x-kubernetes-list-type'] === 'atomic') {
    return fc.array(schemaArbitrary(items), bounds);
  }
  // Two items are the same when their keys are, with defaults in place of keys that are missing.
  const selector = (item: Json): string =>
    JSON.stringify(
      keys === undefined ? item : keys.map((key) => memberOf(item, key) ?? items.properties?.[key]?.default),
    );
  return fc.uniqueArray(schemaArbitrary(items), { ...bounds, selector });
}

const memberOf = (item: Json, key: string): Json | undefined =>
  typeof item === 'object' && item !== null && !Array.isArray(item) && Object.hasOwn(item, key)
    ? item[key]
    : undefined;

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': fc
    .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  uuid: fc.uuid(),
  uri: fc.webUrl(),
  email: fc.emailAddress(),
  byte: fc.base64String(),
};

function stringArbitrary(schema: Schema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = Number.MAX_SAFE_INTEGER, pattern, format = '' } = schema;
  const known = FORMATS[format];
  const fits = (text: string): boolean => text.length >= minLength && text.length <= maxLength;
  if (known !== undefined) return known.filter(fits);
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { size: 'small' }).filter(fits);
  // Characters outside of the basic plane count once for the server and twice for JavaScript.
  return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 12), unit: character });
}

const character = fc.oneof(
  { weight: 9, arbitrary: fc.stringMatching(/^[ -~]$/) },
  { weight: 1, arbitrary: fc.constantFrom('ä', 'ß', '中', '"', '\\', '\n', '\u2028') },
);

const INT32 = { min: -2_147_483_648, max: 2_147_483_647 };

function integerArbitrary({ minimum, maximum, format }: Schema): fc.Arbitrary<number> {
  const { min, max } = format === 'int32' ? INT32 : { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };
  return fc.integer({ min: Math.max(minimum ?? min, min), max: Math.min(maximum ?? max, max) });
}

const numberArbitrary = ({ minimum = -1e6, maximum = 1e6 }: Schema): fc.Arbitrary<number> =>
  fc.double({ min: minimum, max: maximum, noNaN: true }).map((value) => value + 0 || 0);
