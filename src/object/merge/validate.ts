import { isJsonObject, type Json } from '../json.ts';
import { goPlain, goSyntax, goType } from '../validation/go-text.ts';
import { itemElement } from './list-items.ts';
import { elementText, type PathElement } from './path-element.ts';
import { type Misfit, misfitsText, TypedProblem } from './typed-problem.ts';
import type { ListOwnership, MapOwnership, Ownership, Scalar } from './typing.ts';
import { formOf } from './value-form.ts';

interface Check {
  /** Live objects may hold what was stored before keys had to be unique. */
  readonly allowsDuplicates: boolean;
  readonly misfits: Misfit[];
}

/** Throws unless a value fits its type (S8). */
export function validateTyped(value: Json, ownership: Ownership, { allowsDuplicates = false } = {}): void {
  const check: Check = { allowsDuplicates, misfits: [] };
  checkValue(check, value, ownership, '');
  if (check.misfits.length > 0) throw new TypedProblem(misfitsText(check.misfits));
}

function checkValue(check: Check, value: Json, ownership: Ownership, path: string): void {
  if (value === null) return;
  switch (formOf(ownership, value)) {
    case 'map':
      if (ownership.map !== undefined) checkMap(check, value, ownership.map, path);
      return;
    case 'list':
      if (ownership.list !== undefined) checkList(check, value, ownership.list, path);
      return;
    case 'scalar':
      if (ownership.scalar !== undefined) checkScalar(check, value, ownership.scalar, path);
      return;
    case undefined:
      check.misfits.push({ path, message: 'schema error: invalid atom: inlined' });
  }
}

function checkMap(check: Check, value: Json, map: MapOwnership, path: string): void {
  if (!isJsonObject(value)) {
    check.misfits.push({ path, message: `expected map, got &{${goPlain(value)}}` });
    return;
  }
  for (const key of Object.keys(value)) {
    const ownership = map.at(key);
    if (ownership === undefined) {
      check.misfits.push({ path: `${path}.${key}`, message: 'field not declared in schema' });
      // Upstream looks no further in this map either.
      return;
    }
    checkValue(check, value[key] ?? null, ownership, `${path}.${key}`);
  }
}

function checkList(check: Check, value: Json, list: ListOwnership, path: string): void {
  if (!Array.isArray(value)) {
    check.misfits.push({ path, message: `expected list, got &{${goPlain(value)}}` });
    return;
  }
  const seen = new Set<PathElement>();
  for (const [at, item] of value.entries()) {
    const element = list.isAtomic ? `i:${at}` : elementOrMisfit(check, list, item, { path, at });
    if (element === undefined) return;
    if (!list.isAtomic && seen.has(element) && !check.allowsDuplicates) {
      check.misfits.push({ path, message: `duplicate entries for key ${elementText(element)}` });
    }
    seen.add(element);
    if (!fits(item, list.element)) checkValue(check, item, list.element, `${path}${elementText(element)}`);
  }
}

/** Most items of long lists are scalars that fit; their paths need no printing. */
const fits = (value: Json, { scalar }: Ownership): boolean => scalar !== undefined && isScalar(value, scalar);

function elementOrMisfit(
  check: Check,
  list: ListOwnership,
  item: Json,
  { path, at }: { readonly path: string; readonly at: number },
): PathElement | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (!(error instanceof TypedProblem)) throw error;
    check.misfits.push({ path, message: `element ${at}: ${error.message}` });
    return undefined;
  }
}

function isScalar(value: Json, scalar: Scalar): boolean {
  switch (scalar) {
    case 'numeric':
      return typeof value === 'number' || typeof value === 'bigint';
    case 'string':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'untyped':
      return typeof value !== 'object';
  }
}

function checkScalar(check: Check, value: Json, scalar: Scalar, path: string): void {
  if (!isScalar(value, scalar)) check.misfits.push({ path, message: scalarMessage(value, scalar) });
}

function scalarMessage(value: Json, scalar: Scalar): string {
  switch (scalar) {
    case 'numeric':
      return `expected numeric (int or float), got ${goType(value)}`;
    case 'string':
      return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case 'boolean':
      return `expected boolean, got &{${goPlain(value)}}`;
    case 'untyped':
      return `expected any scalar, got &{${goPlain(value)}}`;
  }
}
