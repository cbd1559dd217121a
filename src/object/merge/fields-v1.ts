import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { type FieldSet, isEmpty, LEAF, NOTHING, nodeOf, SELF } from './field-set.ts';
import { canonicalElement, compareElements, type PathElement } from './path-element.ts';

/** The set that fieldsV1 stands for; the same object if it is spelled as we would. Throws for what is no set. */
export function parseFields(fields: Json): FieldSet {
  if (!isJsonObject(fields)) throw new Error('fieldsV1 is not an object');
  // A set is JSON whose every value is an object again.
  return isCanonical(fields, false) ? (fields as FieldSet) : (canonicalNode(fields, false) ?? NOTHING);
}

/** Nearly always, for we wrote it: marks first and with others, elements in order and spelled as we do. */
function isCanonical(json: Json, isBelowRoot: boolean): boolean {
  if (!isJsonObject(json)) return false;
  let last: string | undefined;
  for (const key in json) {
    const child = json[key] ?? null;
    if (key === SELF ? last !== undefined || !isBelowRoot || !isEmptyObject(child) : !isNext(last, key))
      return false;
    if (key !== SELF && !isCanonical(child, true)) return false;
    last = key;
  }
  return last !== SELF;
}

const isEmptyObject = (json: Json): boolean => isJsonObject(json) && isEmpty(json as FieldSet);

function isNext(last: string | undefined, element: string): boolean {
  const isField = element.startsWith('f:');
  if (!isField && canonicalElement(element) !== element) return false;
  if (last === undefined || last === SELF) return true;
  return isField ? last < element && last.startsWith('f:') : compareElements(last, element) < 0;
}

/** A node below the root that has no children is a member; so is one with the mark. */
function canonicalNode(json: Json, isBelowRoot: boolean): FieldSet | undefined {
  if (json === null) return isBelowRoot ? LEAF : undefined;
  if (!isJsonObject(json)) throw new Error('expect { or n');
  const { elements, nodes } = canonicalChildren(json);
  const isMarked = isBelowRoot && Object.hasOwn(json, SELF);
  return nodeOf(elements, nodes, isMarked || (isBelowRoot && elements.length === 0));
}

function canonicalChildren(json: JsonObject): { readonly elements: PathElement[]; readonly nodes: FieldSet[] } {
  const elements: PathElement[] = [];
  const nodes: FieldSet[] = [];
  for (const key of Object.keys(json)) {
    // Kinds of elements that nobody knows yet are dropped, as upstream does.
    const element = key === SELF ? undefined : canonicalElement(key);
    if (element === undefined) continue;
    elements.push(element);
    nodes.push(canonicalNode(json[key] ?? null, true) ?? LEAF);
  }
  return { elements, nodes };
}
