import { childElements, type FieldSet, isMember, LEAF, NOTHING, nodeOf } from './field-set.ts';
import { fieldName, isFieldElement, isKeyElement, type PathElement } from './path-element.ts';
import type { Ownership } from './typing.ts';

/**
 * The set plus every declared field that has a path of the set below it. An applier does not claim those (`spec` is
 * nobody's), but when it lets go of all that is below, they must go too.
 */
export const withNamedFields = (set: FieldSet, ownership: Ownership | undefined): FieldSet =>
  named(set, ownership, false) ?? NOTHING;

function named(set: FieldSet, ownership: Ownership | undefined, isMemberItself: boolean): FieldSet | undefined {
  const elements = childElements(set);
  const nodes = elements.map((element) => namedChild(set[element] ?? LEAF, element, ownership) ?? LEAF);
  return nodeOf(elements, nodes, isMemberItself);
}

function namedChild(node: FieldSet, element: PathElement, ownership: Ownership | undefined): FieldSet | undefined {
  if (isFieldElement(element)) {
    const [map, name] = [ownership?.map, fieldName(element)];
    return named(node, map?.at(name), isMember(node) || map?.declared(name) !== undefined);
  }
  return named(node, isKeyElement(element) ? ownership?.list?.element : undefined, isMember(node));
}
