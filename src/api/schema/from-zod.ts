import * as z from 'zod';
import type { Json } from '../json.ts';
import type { Schema } from './structural.ts';

/** A node on its way: as zod wrote it, not yet narrowed to what a CustomResourceDefinition knows. */
type Node = Record<string, unknown>;

/** Formats that the server checks; other names of zod are for zod alone, so the pattern is what counts. */
const SERVER_FORMATS = new Set(
  (
    'byte cidr date date-time duration email hostname ipv4 ipv6 k8s-long-name k8s-short-name mac password uri uuid ' +
    'uuid3 uuid4 uuid5'
  ).split(' '),
);
const RENAMED_FORMATS: Readonly<Record<string, string>> = {
  base64: 'byte',
  datetime: 'date-time',
  guid: 'uuid',
  url: 'uri',
};

/** How zod names the kinds of numbers, how the server does, and the bounds that zod adds and nobody asked for. */
const NUMBERS: Readonly<Record<string, { readonly format: string; readonly bound?: readonly number[] }>> = {
  int32: { format: 'int32', bound: [-2_147_483_648, 2_147_483_647] },
  safeint: { format: 'int64', bound: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] },
  uint32: { format: 'int64' },
  float32: { format: 'float', bound: [-3.402_823_466_385_288_6e38, 3.402_823_466_385_288_6e38] },
  float64: { format: 'double', bound: [-Number.MAX_VALUE, Number.MAX_VALUE] },
};

/** Every key that a structural schema may have, which are those of {@link Schema}. */
const KEYS: ReadonlySet<string> = new Set(
  (
    'type format description title nullable default enum properties additionalProperties items required minimum maximum ' +
    'exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems ' +
    'minProperties maxProperties allOf anyOf oneOf not externalDocs example x-kubernetes-preserve-unknown-fields ' +
    'x-kubernetes-int-or-string x-kubernetes-embedded-resource x-kubernetes-list-type x-kubernetes-list-map-keys ' +
    'x-kubernetes-map-type x-kubernetes-validations'
  ).split(' '),
);
const PRESERVE = 'x-kubernetes-preserve-unknown-fields';

/** The structural schema of a zod schema that {@link inexpressible} has nothing against (K3): sorted, plain, complete. */
export function structuralOf(schema: z.core.$ZodType): Schema {
  const raw = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => adapt(zodSchema, jsonSchema),
  });
  return finished(raw);
}

/** Runs for each type of the schema, inner ones first, and again for what wraps them: twice must be as good as once. */
function adapt(schema: z.core.$ZodTypes, node: Node): void {
  const { def } = schema._zod;
  if (def.type === 'number') adaptNumber(def, node);
  else if (def.type === 'string' || def.type === 'template_literal') adaptString(def, node);
  else if (def.type === 'literal' || def.type === 'enum') adaptEnum(node);
  else if (def.type === 'union') adaptUnion(node);
  else if (def.type === 'object') adaptObject(def, node);
  else if (def.type === 'record') adaptRecord(def, node);
}

function adaptNumber(def: z.core.$ZodNumberDef, node: Node): void {
  const formats = [def, ...(def.checks ?? []).map((check) => check._zod.def)];
  const named = formats.findLast((part): part is typeof part & { format: string } => 'format' in part);
  const number = named === undefined ? undefined : NUMBERS[named.format];
  if (number === undefined) return;
  node['format'] = number.format;
  if (node['minimum'] === number.bound?.[0]) delete node['minimum'];
  if (node['maximum'] === number.bound?.[1]) delete node['maximum'];
}

function adaptString(def: z.core.$ZodStringDef | z.core.$ZodTemplateLiteralDef, node: Node): void {
  // A pattern on top of a format takes its place in what zod writes.
  const formats = [node['format'], 'format' in def ? def.format : undefined];
  const known = formats
    .map((name) => RENAMED_FORMATS[String(name)] ?? String(name))
    .find((name) => SERVER_FORMATS.has(name));
  const isKnown = known !== undefined;
  delete node['format'];
  if (isKnown) node['format'] = known;
  const all: readonly unknown[] = Array.isArray(node['allOf']) ? node['allOf'] : [node];
  const patterns = all
    .map((part) => (part as Node)['pattern'])
    // Zod's pattern says the format once more, at length; what the author wrote says something else.
    .filter((pattern) => typeof pattern === 'string' && (!isKnown || ownPatterns(def).includes(pattern)))
    .map((pattern) => unescaped(String(pattern)));
  delete node['allOf'];
  delete node['pattern'];
  if (patterns.length === 1) node['pattern'] = patterns[0];
  if (patterns.length > 1) node['allOf'] = patterns.map((pattern) => ({ pattern }));
}

/** The patterns that the author gave, as they are written in JavaScript or were already adapted. */
function ownPatterns({ checks = [] }: z.core.$ZodTypeDef): readonly string[] {
  return checks.flatMap((check) => {
    const { format, pattern } = check._zod.def as { readonly format?: unknown; readonly pattern?: unknown };
    return format === 'regex' && pattern instanceof RegExp ? [pattern.source, unescaped(pattern.source)] : [];
  });
}

/** JavaScript escapes slashes in the text of an expression; nobody else does. */
const unescaped = (pattern: string): string =>
  pattern.replaceAll(/\\(.)/gs, (pair: string, character: string) => (character === '/' ? character : pair));

function adaptEnum(node: Node): void {
  const values: unknown = node['enum'];
  if (node['type'] === 'number' && Array.isArray(values) && values.every(Number.isInteger))
    node['type'] = 'integer';
}

function adaptUnion(node: Node): void {
  const branches: unknown = node['anyOf'];
  if (!Array.isArray(branches)) return;
  delete node['anyOf'];
  if (node['x-kubernetes-int-or-string'] === true) {
    const text: Node | undefined = branches.find(({ type }: Node) => type === 'string');
    if (text?.['pattern'] !== undefined) node['pattern'] = text['pattern'];
    return;
  }
  if (node['type'] !== undefined) return;
  // What is left is one type and null.
  const [first] = branches.filter(({ nullable }: Node) => nullable !== true);
  Object.assign(node, { ...first, ...node, nullable: true });
}

function adaptObject(def: z.core.$ZodObjectDef, node: Node): void {
  if (def.catchall !== undefined && def.catchall._zod.def.type !== 'never') node[PRESERVE] = true;
  delete node['additionalProperties'];
  if (node['x-kubernetes-embedded-resource'] === true) {
    node[PRESERVE] = true;
    delete node['properties'];
    delete node['required'];
  }
}

/** A map whose keys are known is an object with these fields. */
function adaptRecord({ keyType, valueType }: z.core.$ZodRecordDef, node: Node): void {
  delete node['propertyNames'];
  const keys = [...(keyType._zod.values ?? [])].filter((key) => typeof key === 'string');
  if (keys.length === 0 || node['additionalProperties'] === undefined) return;
  const value = node['additionalProperties'];
  delete node['additionalProperties'];
  node['properties'] = Object.fromEntries(keys.map((key) => [key, value]));
  if (valueType._zod.optin !== undefined) delete node['required'];
}

/** A copy with known keys only, in order, and nothing shared (K7). */
function finished(node: Node): Schema {
  const result: Node = {};
  for (const key of Object.keys(node).toSorted()) {
    if (KEYS.has(key) && !isEmpty(key, node[key])) result[key] = finishedMember(key, node[key]);
  }
  return result;
}

const isEmpty = (key: string, value: unknown): boolean =>
  key === 'properties' && typeof value === 'object' && value !== null && Object.keys(value).length === 0;

function finishedMember(key: string, value: unknown): unknown {
  switch (key) {
    case 'properties':
      return Object.fromEntries(
        Object.entries(value as Record<string, Node>)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, property]) => [name, finished(property)]),
      );
    case 'items':
    case 'additionalProperties':
    case 'not':
      return typeof value === 'object' ? finished(value as Node) : value;
    case 'allOf':
      return (value as Node[]).map(finished);
    case 'required':
      return (value as string[]).toSorted();
    default:
      return sortedJson(value as Json);
  }
}

/** A copy of a value with the keys of its objects in order. */
export function sortedJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sortedJson(member)]),
  );
}
