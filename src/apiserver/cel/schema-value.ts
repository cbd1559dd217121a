import type { Schema } from '../../api/schema/structural.ts';
import { isJsonObject, type Json, jsonEqual } from '../../object/json.ts';
import { goType } from '../../object/validation/go-text.ts';
import { OpaqueValue } from './equality.ts';
import { escapeName, unescapeName } from './escape.ts';
import { parseSchemaDuration, parseSchemaTime } from './schema-time.ts';
import { asResource, isEmbedded } from './schema-type.ts';
import {
  CelError,
  CelList,
  type Convert,
  Duration,
  int64,
  JsonMap,
  type ListIdentity,
  type Shape,
  Timestamp,
  type Value,
} from './value.ts';

/** Data that the schema does not describe: it can only be compared. */
class Unknown extends OpaqueValue {
  readonly typeName = 'unknown';
  readonly json: Json;
  constructor(json: Json) {
    super();
    this.json = json;
  }

  equals(other: this): boolean {
    return jsonEqual(this.json, other.json);
  }
}

const converters = new WeakMap<Schema, Convert>();

/** How values at a node of a schema look to a rule (X26). */
export function converterOf(schema: Schema): Convert {
  const known = converters.get(schema);
  if (known !== undefined) return known;
  let convert: Convert | undefined;
  // Looked up late: a schema of a built-in kind may hold itself.
  const lazy: Convert = (json) => {
    convert ??= nullChecked(schema, makeConverter(schema));
    return convert(json);
  };
  converters.set(schema, lazy);
  return lazy;
}

const nullChecked =
  (schema: Schema, convert: Convert): Convert =>
  (json) => {
    if (json !== null) return convert(json);
    if (schema.nullable === true) return null;
    throw new CelError('invalid data, got null for schema with nullable=false');
  };

function makeConverter(schema: Schema): Convert {
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString;
  switch (schema.type) {
    case 'object':
      return objectConverter(isEmbedded(schema) ? asResource(schema) : schema);
    case 'array':
      return listConverter(schema);
    case 'string':
      return textConverter(schema.format);
    case 'integer':
      return toInt;
    case 'number':
      return toDouble;
    case 'boolean':
      return (json) => (typeof json === 'boolean' ? json : wrongType('bool', json));
    case undefined:
    default:
      return (json) => new Unknown(json);
  }
}

function wrongType(expected: string, json: Json): never {
  throw new CelError(`invalid data, expected ${expected}, got ${goType(json)}`);
}

const isInteger = (json: Json): json is bigint | number => typeof json === 'bigint' || Number.isInteger(json);

const toInt: Convert = (json) => (isInteger(json) ? int64(BigInt(json)) : wrongType('int', json));
const toDouble: Convert = (json) =>
  typeof json === 'number' || typeof json === 'bigint' ? Number(json) : wrongType('float', json);

const intOrString: Convert = (json) => {
  if (typeof json === 'string') return json;
  if (isInteger(json)) return int64(BigInt(json));
  throw new CelError('invalid data, expected XIntOrString value to be either a string or integer');
};

function textConverter(format: string | undefined): Convert {
  const parse = format === undefined ? undefined : TEXTS.get(format);
  if (parse === undefined) return (json) => (typeof json === 'string' ? json : wrongType('string', json));
  return (json) => (typeof json === 'string' ? parse(json) : wrongType('string', json));
}

const timestamp =
  (name: string) =>
  (text: string): Value => {
    const parsed = parseSchemaTime(text);
    if (parsed === undefined) throw new CelError(`Invalid ${name} formatted string ${text}`);
    return new Timestamp(parsed.nanos, parsed.offset);
  };

const TEXTS: ReadonlyMap<string, (text: string) => Value> = new Map([
  ['byte', (text) => Buffer.from(text, 'base64')],
  ['date', timestamp('date')],
  ['date-time', timestamp('date-time')],
  [
    'duration',
    (text) => {
      const nanos = parseSchemaDuration(text);
      if (nanos === undefined) throw new CelError(`Invalid duration ${text}`);
      return new Duration(nanos);
    },
  ],
]);

function listConverter(schema: Schema): Convert {
  const { items } = schema;
  if (items === undefined) {
    return () => {
      throw new CelError('invalid array type, expected Items with a non-empty Schema');
    };
  }
  const convert = converterOf(items);
  const identity = listIdentity(schema);
  return (json) => (Array.isArray(json) ? new CelList({ json, convert }, identity) : wrongType('array', json));
}

/** Keys are looked up as rules name them. */
function listIdentity(schema: Schema): ListIdentity {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') return 'set';
  if (type !== 'map') return undefined;
  return { keys: (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeName(key) ?? key) };
}

function objectConverter(schema: Schema): Convert {
  const shape = shapeOf(schema);
  return (json) => (isJsonObject(json) ? new JsonMap(json, shape) : wrongType('map', json));
}

function shapeOf({ properties, additionalProperties }: Schema): Shape {
  if (properties !== undefined) {
    return {
      jsonKey: unescapeName,
      celKey: (key) => (Object.hasOwn(properties, key) ? (escapeName(key) ?? key) : undefined),
      convert: (key) => {
        const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
        return property && converterOf(property);
      },
      isNullAbsent: true,
    };
  }
  const convert = typeof additionalProperties === 'object' ? converterOf(additionalProperties) : undefined;
  return {
    jsonKey: (key) => key,
    celKey: (key) => (convert === undefined ? undefined : key),
    convert: () => convert,
    isNullAbsent: false,
  };
}

const DYNAMIC: Shape = {
  jsonKey: (key) => key,
  celKey: (key) => key,
  convert: () => dynamicValue,
  isNullAbsent: false,
};

/** JSON without a schema: whole numbers are integers. */
export function dynamicValue(json: Json): Value {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json;
  if (Array.isArray(json)) return new CelList({ json, convert: dynamicValue });
  return isJsonObject(json) ? new JsonMap(json, DYNAMIC) : json;
}
