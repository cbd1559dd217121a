import type { Schema } from '../../api/schema/structural.ts';
import type { Json } from '../../object/json.ts';
import { tableOf } from './schema-name.ts';
import { readTable } from './table.ts';

/** A node as the tables hold it: references are names of types, also in `allOf`, which is a reference with siblings. */
export interface RawSchema {
  readonly $ref?: string;
  readonly allOf?: string;
  readonly oneOf?: readonly RawSchema[];
  readonly anyOf?: readonly RawSchema[];
  readonly items?: RawSchema;
  readonly additionalProperties?: RawSchema | boolean;
  readonly properties?: Readonly<Record<string, RawSchema>>;
  readonly [key: string]: Json | RawSchema | object | undefined;
}

type Mutable = { -readonly [Key in keyof Schema]: Schema[Key] };

/** The node of a type as it is in the table. */
export function rawSchema(name: string): RawSchema {
  const { entries } = readTable<RawSchema>(`schemas/${tableOf(name)}`);
  const schema = Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (schema === undefined) throw new Error(`no schema is generated for ${name}`);
  return schema;
}

const resolved = new Map<string, Schema>();
const typeNames = new WeakMap<Schema, string>();

/**
 * The schema of a type, such as `core.v1.Pod`, with the schemas of other types in the place of references. Made once; may refer
 * to itself.
 */
export function builtinSchema(name: string): Schema {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const copies: (() => void)[] = [];
  const schema = resolveType(name, copies);
  // Copies of a type that refers to itself are made when it is complete.
  for (const fill of copies) fill();
  return schema;
}

/**
 * The type a node of a built-in schema stands for: `meta.v1.MicroTime`, `resource.Quantity`, `runtime.RawExtension` … OpenAPI alone
 * cannot tell these apart from their look. Undefined for nodes that are no type of their own and for custom resources.
 */
export const builtinTypeOf = (schema: Schema): string | undefined => typeNames.get(schema);

function resolveType(name: string, copies: (() => void)[]): Schema {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const node: Mutable = {};
  resolved.set(name, node);
  typeNames.set(node, name);
  fill(node, rawSchema(name), copies);
  return node;
}

function resolveNode(raw: RawSchema, copies: (() => void)[]): Schema {
  if (raw.$ref !== undefined) return resolveType(raw.$ref, copies);
  const node: Mutable = {};
  if (raw.allOf === undefined) {
    fill(node, raw, copies);
    return node;
  }
  const { allOf, ...siblings } = raw;
  const target = resolveType(allOf, copies);
  if (Object.keys(siblings).length === 0) return target;
  typeNames.set(node, allOf);
  copies.push(() => void Object.assign(node, target, siblings));
  return node;
}

function fill(node: Mutable, raw: RawSchema, copies: (() => void)[]): void {
  const { items, properties, additionalProperties, oneOf, anyOf, ...rest } = raw;
  Object.assign(node, rest);
  if (items !== undefined) node.items = resolveNode(items, copies);
  if (oneOf !== undefined) node.oneOf = oneOf.map((part) => resolveNode(part, copies));
  if (anyOf !== undefined) node.anyOf = anyOf.map((part) => resolveNode(part, copies));
  if (additionalProperties !== undefined) {
    node.additionalProperties =
      typeof additionalProperties === 'boolean' ? additionalProperties : resolveNode(additionalProperties, copies);
  }
  if (properties !== undefined) {
    node.properties = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, resolveNode(property, copies)]),
    );
  }
}
