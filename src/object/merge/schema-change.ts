import { childElements, type FieldSet, hasChildren, isMember, LEAF, NOTHING, nodeOf } from './field-set.ts';
import { fieldName, isFieldElement, type PathElement } from './path-element.ts';
import type { Ownership } from './typing.ts';

const reconciled = new WeakMap<FieldSet, WeakMap<Ownership, FieldSet>>();

/**
 * A set that was written under an older schema (spec 13.6): where a list or map is owned as a whole by now, whoever owned
 * something inside owns all of it. The other way round nothing needs doing: the owner of the whole keeps that path and
 * the children are nobody's.
 */
export function reconcileWithSchema(set: FieldSet, ownership: Ownership): FieldSet {
  const known = reconciled.get(set)?.get(ownership);
  if (known !== undefined) return known;
  const result = reconciledNode(set, ownership, { isLeaf: false, isMemberItself: false }) ?? NOTHING;
  const byOwnership = reconciled.get(set) ?? new WeakMap<Ownership, FieldSet>();
  reconciled.set(set, byOwnership.set(ownership, result));
  return result;
}

interface Place {
  /** The path is owned and nothing below it: the state of a whole that is owned as such. */
  readonly isLeaf: boolean;
  readonly isMemberItself: boolean;
}

function reconciledNode(
  node: FieldSet,
  ownership: Ownership,
  { isLeaf, isMemberItself }: Place,
): FieldSet | undefined {
  const { map, list, scalar } = ownership;
  if (map !== undefined) {
    if (map.isFree) return node;
    if (map.isAtomic) return isLeaf ? node : LEAF;
    return children(
      node,
      (element) => (isFieldElement(element) ? map.at(fieldName(element)) : undefined),
      isMemberItself,
    );
  }
  if (scalar !== undefined || list === undefined) return node;
  if (list.isAtomic) return isLeaf ? node : LEAF;
  return children(node, () => list.element, isMemberItself);
}

function children(
  node: FieldSet,
  ownershipAt: (element: PathElement) => Ownership | undefined,
  isMemberItself: boolean,
): FieldSet | undefined {
  const elements = childElements(node);
  let isSame = true;
  const nodes = elements.map((element) => {
    const child = node[element] ?? LEAF;
    const ownership = ownershipAt(element);
    if (ownership === undefined) return child;
    const place = { isLeaf: isMember(child) && !hasChildren(child), isMemberItself: isMember(child) };
    const result = reconciledNode(child, ownership, place) ?? LEAF;
    isSame &&= result === child;
    return result;
  });
  return isSame ? node : nodeOf(elements, nodes, isMemberItself);
}
