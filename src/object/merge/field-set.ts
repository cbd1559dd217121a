import { compareElements, elementText, type PathElement } from './path-element.ts';

/**
 * A set of paths, held as the very JSON object that fieldsV1 stores, so that reading and printing cost nothing: every key
 * is a path element, `{}` a path that belongs to the set, `.` marks a path that belongs to it besides paths below it. Keys
 * are in the order of `compareElements`. Sets are never changed in place: operations share what they leave alone, and
 * give back the same object when nothing changed.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

/** Marks a node that belongs to the set besides what is below it; always the first key. */
export const SELF = '.';

/** A node that is a member and has nothing below it. */
export const LEAF: FieldSet = Object.freeze({});
/** The set of no paths. */
export const NOTHING: FieldSet = Object.freeze({});

/** Whether a set has no paths; for a node, whether it has none below it and no mark. */
export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Whether the path of a node belongs to the set. */
export function isMember(node: FieldSet | undefined): boolean {
  if (node === undefined) return false;
  // The mark is always first.
  for (const first in node) return first === SELF;
  return true;
}

export function hasChildren(node: FieldSet): boolean {
  for (const element in node) if (element !== SELF) return true;
  return false;
}

/** The elements below a node, in order. */
export function childElements(node: FieldSet): PathElement[] {
  const elements = Object.keys(node);
  if (elements[0] === SELF) elements.shift();
  return elements;
}

/** A node of the given children, in any order; `undefined` if it would hold no path. */
export function nodeOf(
  elements: readonly PathElement[],
  nodes: readonly FieldSet[],
  isMemberItself: boolean,
): FieldSet | undefined {
  if (elements.length === 0) return isMemberItself ? LEAF : undefined;
  const node: Record<PathElement, FieldSet> = isMemberItself ? { [SELF]: LEAF } : {};
  for (const at of orderOf(elements)) {
    const [element, child] = [elements[at], nodes[at]];
    if (element !== undefined && child !== undefined) node[element] = child;
  }
  return node;
}

function orderOf(elements: readonly PathElement[]): Iterable<number> {
  for (let at = 1; at < elements.length; at++) {
    if (compareElements(elements[at - 1] ?? '', elements[at] ?? '') > 0) {
      return [...elements.keys()].sort((a, b) => compareElements(elements[a] ?? '', elements[b] ?? ''));
    }
  }
  return elements.keys();
}

export const setOf = (...paths: readonly (readonly PathElement[])[]): FieldSet =>
  paths.reduce<FieldSet>((set, path) => union(set, pathNode(path, 0)), NOTHING);

function pathNode(path: readonly PathElement[], at: number): FieldSet {
  const element = path[at];
  return element === undefined ? LEAF : { [element]: pathNode(path, at + 1) };
}

export const union = (a: FieldSet, b: FieldSet): FieldSet => {
  if (isEmpty(a)) return b;
  return isEmpty(b) ? a : united(a, b, false);
};

function united(a: FieldSet, b: FieldSet, isMemberItself: boolean): FieldSet {
  if (a === b) return a;
  const elements = childElements(a);
  const nodes = elements.map((element) => a[element] ?? LEAF);
  let isSame = true;
  for (const element of childElements(b)) {
    const [mine, theirs] = [a[element], b[element] ?? LEAF];
    if (mine === undefined) {
      elements.push(element);
      nodes.push(theirs);
      isSame = false;
      continue;
    }
    const both = united(mine, theirs, isMember(mine) || isMember(theirs));
    if (both === mine) continue;
    nodes[elements.indexOf(element)] = both;
    isSame = false;
  }
  if (isSame && isMemberItself === isMember(a)) return a;
  // Nothing below and not a member happens only to the set of nothing.
  return nodeOf(elements, nodes, isMemberItself) ?? NOTHING;
}

/** The paths of `a` that are not in `b`. A path below one of `b` stays. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet =>
  reduced(a, b, { isRecursive: false, was: false, is: false }) ?? NOTHING;

/** The paths of `a` that are neither in `b` nor below a path of `b`. */
export const recursiveDifference = (a: FieldSet, b: FieldSet): FieldSet =>
  reduced(a, b, { isRecursive: true, was: false, is: false }) ?? NOTHING;

/** Whether the node itself was and is a member; the root of a set never is. */
interface Reduction {
  readonly isRecursive: boolean;
  readonly was: boolean;
  readonly is: boolean;
}

function reduced(a: FieldSet, b: FieldSet, { isRecursive, was, is }: Reduction): FieldSet | undefined {
  let changed: Map<PathElement, FieldSet | undefined> | undefined;
  for (const element in b) {
    const [mine, theirs] = [a[element], b[element]];
    if (element === SELF || mine === undefined || theirs === undefined) continue;
    const rest = remainder(mine, theirs, isRecursive);
    if (rest === mine) continue;
    changed ??= new Map();
    changed.set(element, rest);
  }
  if (changed === undefined) return was === is ? a : withChanges(a, new Map(), is);
  return withChanges(a, changed, is);
}

function withChanges(
  node: FieldSet,
  changed: ReadonlyMap<PathElement, FieldSet | undefined>,
  isMemberItself: boolean,
): FieldSet | undefined {
  const elements: PathElement[] = [];
  const nodes: FieldSet[] = [];
  for (const element of childElements(node)) {
    const child = changed.has(element) ? changed.get(element) : node[element];
    if (child === undefined) continue;
    elements.push(element);
    nodes.push(child);
  }
  return nodeOf(elements, nodes, isMemberItself);
}

function remainder(mine: FieldSet, theirs: FieldSet, isRecursive: boolean): FieldSet | undefined {
  const [was, isOut] = [isMember(mine), isMember(theirs)];
  return isOut && isRecursive ? undefined : reduced(mine, theirs, { isRecursive, was, is: was && !isOut });
}

/** The paths that are in both. */
export const intersection = (a: FieldSet, b: FieldSet): FieldSet => common(a, b, false) ?? NOTHING;

function common(a: FieldSet, b: FieldSet, isMemberItself: boolean): FieldSet | undefined {
  const elements: PathElement[] = [];
  const nodes: FieldSet[] = [];
  for (const element in a) {
    const [mine, theirs] = [a[element], b[element]];
    if (element === SELF || mine === undefined || theirs === undefined) continue;
    const both = common(mine, theirs, isMember(mine) && isMember(theirs));
    if (both === undefined) continue;
    elements.push(element);
    nodes.push(both);
  }
  return nodeOf(elements, nodes, isMemberItself);
}

/** The paths of a set that have no path of the set below them. */
export const leaves = (set: FieldSet): FieldSet => {
  const elements = childElements(set);
  return (
    nodeOf(
      elements,
      elements.map((element) => leaves(set[element] ?? LEAF)),
      false,
    ) ?? NOTHING
  );
};

export function has(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) node = node?.[element];
  return path.length > 0 && isMember(node);
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  const elements = Object.keys(a);
  if (elements.length !== Object.keys(b).length) return false;
  return elements.every((element) => {
    const [mine, theirs] = [a[element], b[element]];
    return mine !== undefined && theirs !== undefined && equalSets(mine, theirs);
  });
}

/** Every path of the set: those of a level before those below it, as upstream lists conflicts. */
export function* pathsOf(set: FieldSet, prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
  const elements = childElements(set);
  for (const element of elements) if (isMember(set[element])) yield [...prefix, element];
  for (const element of elements) yield* pathsOf(set[element] ?? LEAF, [...prefix, element]);
}

export const pathText = (path: readonly PathElement[]): string => path.map(elementText).join('');
