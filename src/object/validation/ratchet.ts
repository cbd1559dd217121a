import { getKey, isJsonObject, type Json, jsonEqual } from '../json.ts';
import { goJson } from './go-text.ts';
import type { Node } from './node.ts';

/**
 * A value next to the old value it corresponds to (X21): fields by name, items of `map` lists by their keys. Items of
 * other lists have none; such a list is compared as a whole.
 */
export class Correlation {
  readonly value: Json;
  readonly old: Json;
  readonly node: Node;
  #isUnchanged: boolean | undefined;
  #oldByKeys: ReadonlyMap<string, Json> | undefined;

  constructor(value: Json, old: Json, node: Node) {
    this.value = value;
    this.old = old;
    this.node = node;
  }

  get isUnchanged(): boolean {
    this.#isUnchanged ??= this.#compare();
    return this.#isUnchanged;
  }

  /** The pair at a field; undefined when either side or the schema lacks it. */
  field(key: string): Correlation | undefined {
    if (!isJsonObject(this.value) || !isJsonObject(this.old)) return undefined;
    const node = this.node.properties.get(key) ?? this.node.additional;
    const value = getKey(this.value, key);
    const old = getKey(this.old, key);
    if (node === undefined || value === undefined || old === undefined) return undefined;
    return new Correlation(value, old, node);
  }

  item(index: number): Correlation | undefined {
    const { items, schema } = this.node;
    if (schema['x-kubernetes-list-type'] !== 'map' || items === undefined) return undefined;
    if (!Array.isArray(this.value) || !Array.isArray(this.old)) return undefined;
    const value = this.value[index];
    const key = value === undefined ? undefined : listKeyOf(value, this.node);
    if (value === undefined || key === undefined) return undefined;
    this.#oldByKeys ??= indexByKeys(this.old, this.node);
    const old = this.#oldByKeys.get(key);
    return old === undefined ? undefined : new Correlation(value, old, items);
  }

  /** A `map` list in another order is still unchanged. */
  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old) && this.node.schema['x-kubernetes-list-type'] === 'map') {
      return value.length === old.length && value.every((_, index) => this.item(index)?.isUnchanged === true);
    }
    if (!isJsonObject(value) || !isJsonObject(old)) return jsonEqual(value, old);
    const keys = Object.keys(value);
    if (keys.length !== Object.keys(old).length) return false;
    return keys.every((key) => {
      const child = this.field(key);
      // A field the schema does not name cannot be paired, which upstream takes for a change.
      return child !== undefined && child.isUnchanged;
    });
  }
}

function indexByKeys(list: readonly Json[], node: Node): ReadonlyMap<string, Json> {
  const byKeys = new Map<string, Json>();
  for (const item of list) {
    const key = listKeyOf(item, node);
    if (key !== undefined && !byKeys.has(key)) byKeys.set(key, item);
  }
  return byKeys;
}

function listKeyOf(item: Json, node: Node): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const keys = node.schema['x-kubernetes-list-map-keys'] ?? [];
  const values = keys.map((key) => getKey(item, key) ?? null);
  // An item without a scalar at each key corresponds to nothing.
  return values.some((value) => typeof value === 'object') ? undefined : goJson(values);
}
