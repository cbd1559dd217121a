import { getKey, isJsonObject, type Json, type JsonObject, setKey } from '../json.ts';
import { itemElement, itemsByElement } from './list-items.ts';
import type { PathElement } from './path-element.ts';
import type { ListOwnership, MapOwnership, Ownership } from './typing.ts';
import { formOf } from './value-form.ts';

/** A live object with a configuration laid over it. Nothing is removed; both must have been validated. */
export function merge(live: Json, config: Json, ownership: Ownership): Json {
  return merged(live, config, ownership) ?? null;
}

/** `undefined` is a side that is not there, or a result that is not. */
function merged(live: Json | undefined, config: Json | undefined, ownership: Ownership): Json | undefined {
  const decisive = config === undefined ? (live ?? null) : config;
  switch (formOf(ownership, decisive)) {
    case 'map':
      return ownership.map === undefined ? decisive : mergedMap(live, config, ownership.map);
    case 'list':
      return ownership.list === undefined ? decisive : mergedList(live, config, ownership.list);
    case 'scalar':
    case undefined:
      return leaf(live, config);
  }
}

const leaf = (live: Json | undefined, config: Json | undefined): Json | undefined =>
  config === undefined ? live : config;

function mergedMap(live: Json | undefined, config: Json | undefined, map: MapOwnership): Json | undefined {
  const [left, right] = [nonEmptyMap(live), nonEmptyMap(config)];
  if (map.isAtomic || (left === undefined && right === undefined)) return leaf(live, config);
  const result: JsonObject = {};
  for (const key of Object.keys(left ?? {})) mergeField(result, key, { left, right }, map);
  for (const key of Object.keys(right ?? {})) {
    if (left === undefined || !Object.hasOwn(left, key)) mergeField(result, key, { left, right }, map);
  }
  return result;
}

interface Sides {
  readonly left: JsonObject | undefined;
  readonly right: JsonObject | undefined;
}

function mergeField(result: JsonObject, key: string, { left, right }: Sides, map: MapOwnership): void {
  const [live, config] = [left && getKey(left, key), right && getKey(right, key)];
  const ownership = map.at(key);
  const value = ownership === undefined ? leaf(live, config) : merged(live, config, ownership);
  if (value !== undefined) setKey(result, key, value);
}

function nonEmptyMap(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) && Object.keys(value).length > 0 ? value : undefined;
}

function mergedList(live: Json | undefined, config: Json | undefined, list: ListOwnership): Json | undefined {
  const left = Array.isArray(live) ? live : [];
  const right = Array.isArray(config) ? config : [];
  if (list.isAtomic || (left.length === 0 && right.length === 0)) return leaf(live, config);
  return new ListMerge(left, right, list).result();
}

/**
 * The order of a merged list (spec 13.5): live items that the configuration does not name stay where they are, the others
 * follow the configuration. Two fingers walk both lists; `#due` are the shared items in the configuration's order, and a
 * shared live item that is not next is passed over, for the configuration will bring it.
 */
class ListMerge {
  readonly #left: readonly Json[];
  readonly #leftElements: readonly PathElement[];
  readonly #rightElements: readonly PathElement[];
  /** `null` where live items share a key: such are replaced, not merged. */
  readonly #liveItems: ReadonlyMap<PathElement, Json>;
  readonly #configItems: ReadonlyMap<PathElement, Json>;
  readonly #element: Ownership;
  readonly #due: PathElement[];
  readonly #done = new Set<PathElement>();
  readonly #out: Json[] = [];
  #at = 0;
  #configAt = 0;

  constructor(left: readonly Json[], right: readonly Json[], list: ListOwnership) {
    this.#left = left;
    this.#element = list.element;
    this.#leftElements = left.map((item) => itemElement(list, item));
    this.#rightElements = right.map((item) => itemElement(list, item));
    this.#liveItems = onlyItems(itemsByElement(list, left));
    this.#configItems = onlyItems(itemsByElement(list, right));
    this.#due = this.#rightElements.filter((element) => this.#liveItems.has(element));
  }

  result(): Json[] {
    while (this.#at < this.#leftElements.length || this.#configAt < this.#rightElements.length) {
      this.#step(this.#leftElements[this.#at], this.#rightElements[this.#configAt]);
    }
    return this.#out;
  }

  #step(mine: PathElement | undefined, theirs: PathElement | undefined): void {
    if (mine === undefined) {
      this.#take(theirs);
    } else if (mine === theirs) {
      this.#at++;
      this.#take(theirs);
    } else if (!this.#configItems.has(mine)) {
      this.#keep(this.#at++);
    } else if (this.#isPassedOver(mine, theirs)) {
      this.#at++;
    } else {
      if (this.#done.has(mine)) this.#at++;
      this.#take(theirs);
    }
  }

  /** A shared item, but not the one whose turn it is. */
  #isPassedOver(mine: PathElement, theirs: PathElement | undefined): boolean {
    const next = this.#due[0];
    return theirs !== undefined && next !== undefined && next !== mine;
  }

  #keep(at: number): void {
    this.#push(merged(this.#left[at] ?? null, undefined, this.#element));
  }

  #take(element: PathElement | undefined): void {
    if (element === undefined) return;
    this.#configAt++;
    this.#done.add(element);
    if (this.#due[0] === element) this.#due.shift();
    this.#push(merged(this.#liveItems.get(element), this.#configItems.get(element), this.#element));
  }

  #push(item: Json | undefined): void {
    if (item !== undefined) this.#out.push(item);
  }
}

const onlyItems = (items: ReadonlyMap<PathElement, readonly Json[]>): ReadonlyMap<PathElement, Json> =>
  new Map([...items].map(([element, [item = null, ...more]]) => [element, more.length > 0 ? null : item]));
