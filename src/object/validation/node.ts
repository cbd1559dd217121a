import type { Schema } from '../../api/schema/structural.ts';
import type { Json } from '../json.ts';
import { type FormatCheck, formatCheck, isKnownFormat } from './formats.ts';
import { type Pattern, patternOf } from './re2.ts';

/** A schema node with everything looked up once. Shared by pruning, defaulting and validation. */
export interface Node {
  readonly schema: Schema;
  /** The JSON types allowed; none: any. */
  readonly types: readonly string[];
  readonly isNullable: boolean;
  /** Empty when upstream does not know it. */
  readonly format: string;
  readonly formatCheck: FormatCheck | undefined;
  readonly pattern: Pattern | undefined;
  readonly enum: readonly Json[];
  readonly properties: ReadonlyMap<string, Node>;
  /** The schema of the values of a map. */
  readonly additional: Node | undefined;
  /** `additionalProperties` is there in any form. */
  readonly isMap: boolean;
  readonly items: Node | undefined;
  readonly allOf: readonly Node[];
  readonly anyOf: readonly Node[];
  readonly oneOf: readonly Node[];
  readonly not: Node | undefined;
  readonly hasQuantifiers: boolean;
  readonly preservesUnknown: boolean;
  readonly isEmbedded: boolean;
  /** Properties with a default, and it. */
  readonly defaults: readonly (readonly [key: string, value: Json])[];
  /** Whether the node or anything below has defaults, list types to check, embedded resources. */
  readonly hasDefaultsBelow: boolean;
  readonly hasListTypesBelow: boolean;
  readonly hasEmbeddedBelow: boolean;
}

type Mutable<T> = { -readonly [key in keyof T]: T[key] };

const nodes = new WeakMap<Schema, Node>();

/** The node of a schema; made once. Schemas must not change afterwards. */
export function nodeOf(schema: Schema): Node {
  return nodes.get(schema) ?? compile(schema);
}

const INT_OR_STRING = ['integer', 'string'];

function typesOf(schema: Schema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return INT_OR_STRING;
  return schema.type === undefined ? [] : [schema.type];
}

function compile(schema: Schema): Node {
  const types = typesOf(schema);
  const format = schema.format ?? '';
  const isKnown = format !== '' && isKnownFormat(types.length === 1 ? (types[0] ?? '') : '', format);
  const node: Mutable<Node> = {
    schema,
    types,
    isNullable: schema.nullable === true,
    format: isKnown ? format : '',
    formatCheck: isKnown ? formatCheck(format) : undefined,
    pattern: schema.pattern ? patternOf(schema.pattern) : undefined,
    enum: schema.enum ?? [],
    properties: new Map(),
    additional: undefined,
    isMap: schema.additionalProperties !== undefined,
    items: undefined,
    allOf: [],
    anyOf: [],
    oneOf: [],
    not: undefined,
    hasQuantifiers: false,
    preservesUnknown: schema['x-kubernetes-preserve-unknown-fields'] === true,
    isEmbedded: schema['x-kubernetes-embedded-resource'] === true,
    defaults: [],
    // A schema that refers to itself sees these while they are not known yet, so they start out careful.
    hasDefaultsBelow: true,
    hasListTypesBelow: true,
    hasEmbeddedBelow: true,
  };
  nodes.set(schema, node);
  addChildren(node, schema);
  addFlags(node, schema);
  return node;
}

function addChildren(node: Mutable<Node>, schema: Schema): void {
  const properties = new Map<string, Node>();
  const defaults: (readonly [string, Json])[] = [];
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    properties.set(key, nodeOf(child));
    if (child.default !== undefined && child.default !== null) defaults.push([key, child.default]);
  }
  node.properties = properties;
  node.defaults = defaults;
  if (typeof schema.additionalProperties === 'object') node.additional = nodeOf(schema.additionalProperties);
  if (schema.items !== undefined) node.items = nodeOf(schema.items);
  node.allOf = (schema.allOf ?? []).map(nodeOf);
  node.anyOf = (schema.anyOf ?? []).map(nodeOf);
  node.oneOf = (schema.oneOf ?? []).map(nodeOf);
  if (schema.not !== undefined) node.not = nodeOf(schema.not);
  node.hasQuantifiers = node.allOf.length + node.anyOf.length + node.oneOf.length > 0 || node.not !== undefined;
}

function addFlags(node: Mutable<Node>, schema: Schema): void {
  const children = [...node.properties.values()];
  if (node.additional !== undefined) children.push(node.additional);
  if (node.items !== undefined) children.push(node.items);
  const listType = schema['x-kubernetes-list-type'];
  node.hasDefaultsBelow =
    node.defaults.length > 0 ||
    children.some((child) => child.hasDefaultsBelow || (child.schema.default ?? null) !== null);
  node.hasListTypesBelow =
    listType === 'set' || listType === 'map' || children.some((child) => child.hasListTypesBelow);
  node.hasEmbeddedBelow = node.isEmbedded || children.some((child) => child.hasEmbeddedBelow);
}
