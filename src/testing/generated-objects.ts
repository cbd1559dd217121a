import type { Schema, SchemaType } from '../api/schema/structural.ts';
import type { Json, JsonObject } from '../object/json.ts';

export interface GeneratedOptions {
  /** Uniform in [0, 1); the same numbers give the same values. */
  readonly random: () => number;
  /** Texts for fields whose pattern or format is beyond the generator, by path such as `spec.tls.issuer`. */
  readonly samples?: Readonly<Record<string, readonly Json[]>>;
}

interface Place extends GeneratedOptions {
  readonly path: string;
}

/**
 * A value that a structural schema admits, at the edges of what it admits more often than in the middle (T6). CEL rules
 * are not looked at: the server has the last word. Throws for a field whose texts it cannot make: give samples.
 */
export const generatedValue = (schema: Schema, options: GeneratedOptions): Json =>
  valueAt(schema, { ...options, path: '' });

function valueAt(schema: Schema, place: Place): Json {
  const samples = place.samples?.[place.path];
  if (samples !== undefined) return oneOf(place, samples);
  if (schema.nullable === true && place.random() < 0.2) return null;
  if (schema.enum !== undefined) return oneOf(place, schema.enum);
  if (schema['x-kubernetes-int-or-string'] === true)
    return place.random() < 0.5 ? integer(schema, place) : text(schema, place);
  if (schema['x-kubernetes-embedded-resource'] === true)
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inner' } };
  return schema.type === undefined ? freely(place) : BY_TYPE[schema.type](schema, place);
}

const BY_TYPE: Readonly<Record<SchemaType, (schema: Schema, place: Place) => Json>> = {
  object: (schema, place) => object(schema, place),
  array: (schema, place) => list(schema, place),
  string: (schema, place) => text(schema, place),
  integer: (schema, place) => integer(schema, place),
  number: ({ minimum = -1000, maximum = 1000 }, { random }) => minimum + random() * (maximum - minimum),
  boolean: (_schema, { random }) => random() < 0.5,
};

const freely = (place: Place): Json => oneOf(place, [0, 1.5, 'text', true, {}, { a: ['b'] }]);

function oneOf<T extends Json>({ random, path }: Place, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error(`${path}: there is no value to choose from`);
  return value;
}

const below = (place: Place, name: string): Place => ({
  ...place,
  path: place.path === '' ? name : `${place.path}.${name}`,
});

function object(schema: Schema, place: Place): JsonObject {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const names = Object.keys(properties).filter((name) => required.includes(name) || place.random() < 0.6);
  const known = names.map((name): [string, Json] => [name, valueAt(properties[name] ?? {}, below(place, name))]);
  if (typeof additionalProperties !== 'object') return Object.fromEntries(known);
  const { minProperties = 0, maxProperties = minProperties + 3 } = schema;
  const count = length(minProperties, maxProperties, place);
  const more = Array.from({ length: count }, (_, at): [string, Json] => [
    `key-${at}`,
    valueAt(additionalProperties, below(place, '*')),
  ]);
  return Object.fromEntries([...known, ...more]);
}

/** Often the least or the most that is allowed: that is where the mistakes are. */
function length(least: number, most: number, { random }: Place): number {
  const edge = random();
  if (edge < 0.25) return least;
  const top = Math.min(most, least + 12);
  return edge < 0.5 ? top : least + Math.floor(random() * (top - least + 1));
}

function list(schema: Schema, place: Place): Json[] {
  const { items = {}, minItems = 0, maxItems = minItems + 3 } = schema;
  const count = length(minItems, maxItems, place);
  const isUnique = schema['x-kubernetes-list-type'] === 'set' || schema['x-kubernetes-list-type'] === 'map';
  const keys = schema['x-kubernetes-list-map-keys'];
  const found = new Map<string, Json>();
  for (let tries = 0; found.size < count && tries < 20 * (count + 1); tries++) {
    const item = valueAt(items, below(place, 'items'));
    found.set(isUnique ? identity(item, items, keys) : String(tries), item);
  }
  return [...found.values()];
}

/** Two items are the same when their keys are, with defaults in place of keys that are missing. */
function identity(item: Json, items: Schema, keys: readonly string[] | undefined): string {
  if (keys === undefined || typeof item !== 'object' || item === null || Array.isArray(item))
    return JSON.stringify(item);
  return JSON.stringify(keys.map((key) => item[key] ?? items.properties?.[key]?.default ?? null));
}

const INT32 = 2 ** 31 - 1;

function integer({ minimum, maximum, multipleOf = 1, ...schema }: Schema, place: Place): number {
  const least = (minimum ?? Math.max(-INT32, (maximum ?? 0) - 1000)) + Number(schema.exclusiveMinimum === true);
  const most = (maximum ?? Math.min(INT32, least + 1000)) - Number(schema.exclusiveMaximum === true);
  const edge = place.random();
  const inside = least + Math.floor(place.random() * (most - least + 1));
  const value = edge < 0.2 ? least : edge < 0.4 ? most : inside;
  const rounded = Math.floor(value / multipleOf) * multipleOf;
  return rounded < least ? rounded + multipleOf : rounded;
}

/** Texts of many forms: for a pattern, the first that fits is taken. */
const WORDS = [
  'a',
  'abc',
  'a-b',
  'A',
  'Abc',
  'v1',
  '0',
  '1',
  '42',
  '10Gi',
  '500m',
  '1h30m',
  '30s',
  'example.com',
  'https://example.com/a',
  '10.0.0.1',
  '10.0.0.0/24',
  'fd00::1',
  'fd00::/64',
  '02:00:00:00:00:01',
  '2026-01-01T00:00:00Z',
  '/a/b',
  'a/b',
  'registry.example.com/a/b:v1',
  'aGVsbG8=',
  '123e4567-e89b-42d3-a456-426614174000',
  '',
];

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'],
  date: ['2026-01-01'],
  duration: ['1h30m', '0s'],
  byte: ['', 'aGVsbG8='],
  ipv4: ['10.0.0.1', '255.255.255.255'],
  ipv6: ['fd00::1', '::'],
  cidr: ['10.0.0.0/24', 'fd00::/64'],
  mac: ['02:00:00:00:00:01'],
  uuid: ['123e4567-e89b-42d3-a456-426614174000'],
  uri: ['https://example.com/a?b=c#d'],
  hostname: ['example.com', 'a'],
  email: ['a@example.com'],
};

const LETTERS: readonly string[] = [...Array.from('abcxyzABC019 -_./:"\\\n{}<>$äß中😀'), '\u2028'];

function text(schema: Schema, place: Place): string {
  const { format, pattern, minLength = 0, maxLength = minLength + 12 } = schema;
  const fits = (value: string): boolean => {
    // Characters as the server counts them, not units of UTF-16.
    const { length: size } = Array.from(value);
    return size >= minLength && size <= (schema.maxLength ?? size);
  };
  const known = FORMATS[format ?? ''];
  if (known === undefined && pattern === undefined) {
    return Array.from({ length: length(minLength, maxLength, place) }, () => oneOf(place, LETTERS)).join('');
  }
  const form = new RegExp(pattern ?? '', 'u');
  const found = (known ?? WORDS).filter((word) => fits(word) && form.test(word));
  if (found.length === 0) {
    const what = `${pattern ?? ''} ${format ?? ''}`.trim();
    throw new Error(`${place.path}: no text is known that fits ${what}; give samples for this path`);
  }
  return oneOf(place, found);
}
