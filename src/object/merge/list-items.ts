import { getKey, isJsonObject, type Json } from '../json.ts';
import { goQuote } from '../validation/go-text.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';
import { TypedProblem } from './typed-problem.ts';
import type { ListOwnership } from './typing.ts';

/** The path element of an item of an associative list; throws if it has none. */
export function itemElement(list: ListOwnership, item: Json): PathElement {
  return list.keys.length === 0 ? memberElement(item) : keyedElement(list, item);
}

function memberElement(item: Json): PathElement {
  if (item === null)
    throw new TypedProblem("associative list without keys has an element that's an explicit null");
  if (typeof item !== 'object') return valueElement(item);
  throw new TypedProblem(
    Array.isArray(item)
      ? 'not supported: associative list with lists as elements'
      : "associative list without keys has an element that's a map type",
  );
}

function keyedElement(list: ListOwnership, item: Json): PathElement {
  if (item === null) throw new TypedProblem('associative list with keys may not have a null element');
  if (!isJsonObject(item)) throw new TypedProblem('associative list with keys may not have non-map elements');
  const fields: [string, Json][] = [];
  for (const key of list.keys) {
    const value = getKey(item, key);
    // An item that leaves a key out is another one than the item that sets it, unless the key has a default.
    if (value !== undefined) fields.push([key, value]);
    else if (list.keyDefault(key) !== null) fields.push([key, list.keyDefault(key)]);
  }
  if (fields.length > 0) return keyElement(fields);
  const keys = list.keys.map(goQuote).join(' ');
  throw new TypedProblem(
    `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
  );
}

/** The items of a list by path element, in order of first appearance; more than one where keys repeat. */
export function itemsByElement(list: ListOwnership, items: readonly Json[]): Map<PathElement, Json[]> {
  const found = new Map<PathElement, Json[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const same = found.get(element);
    if (same === undefined) found.set(element, [item]);
    else same.push(item);
  }
  return found;
}
