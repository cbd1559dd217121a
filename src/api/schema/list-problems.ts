import * as z from 'zod';
import type { FieldProblem } from './kind-error.ts';

/** Everything that the server refuses about the items of a list that has a type. */
export function listProblems(list: z.core.$ZodType, path: string): readonly FieldProblem[] {
  const { def } = (list as z.core.$ZodTypes)._zod;
  const meta = z.globalRegistry.get(list) ?? {};
  if (def.type !== 'array') return [];
  const item = (def.element as z.core.$ZodTypes)._zod.def;
  const keys: unknown = meta['x-kubernetes-list-map-keys'];
  if (Array.isArray(keys) && item.type === 'object')
    return keys.flatMap((key) => keyProblems(item.shape, key, path));
  return meta['x-kubernetes-list-type'] === 'set' ? setProblems(def.element, path) : [];
}

const SCALARS = ['string', 'number', 'boolean', 'enum', 'literal', 'template_literal'];

/** Items are told apart by their keys, so each has all of them. */
function keyProblems(shape: z.core.$ZodShape, key: string, path: string): readonly FieldProblem[] {
  const at = `${path}[].${key}`;
  const field = shape[key];
  if (field === undefined) return [{ path: at, problem: 'a key of listMap that the items do not have' }];
  if (field._zod.optin === 'optional') {
    return [
      { path: at, problem: 'a key of listMap that may be missing', hint: 'make it required or give it a default' },
    ];
  }
  const { def } = field._zod;
  const inner = 'innerType' in def ? (def.innerType as z.core.$ZodType) : field;
  return SCALARS.includes(inner._zod.def.type)
    ? []
    : [{ path: at, problem: 'a key of listMap that is not a text, number or boolean' }];
}

/** Items of a set are compared as a whole. */
function setProblems(item: z.core.$ZodType, path: string): readonly FieldProblem[] {
  const isObject = ['object', 'record'].includes(item._zod.def.type);
  const isAtomic = z.globalRegistry.get(item)?.['x-kubernetes-map-type'] === 'atomic';
  return isObject && !isAtomic
    ? [{ path: `${path}[]`, problem: 'an item of listSet that is not atomic', hint: 'mapAtomic(…) or listMap' }]
    : [];
}
