import type { Schema } from '../../src/api/schema/structural.ts';
import { fieldPath } from '../../src/api/schema/visit.ts';

/**
 * What a subset of somebody's kind says that the original does not: fields that are not there or of another type, values
 * of an enum that are not allowed, another default. An empty list is an honest subset (DESIGN §4).
 */
export function subsetProblems(subset: Schema, original: Schema, path = ''): readonly string[] {
  // What keeps anything has any field.
  if (original['x-kubernetes-preserve-unknown-fields'] === true && original.properties === undefined) return [];
  return [
    ...ownProblems(subset, original, path),
    ...Object.entries(subset.properties ?? {}).flatMap(([name, field]) => {
      const there = Object.hasOwn(original.properties ?? {}, name) ? original.properties?.[name] : undefined;
      const at = fieldPath(path, name);
      return there === undefined ? [`${at}: is not in the original`] : subsetProblems(field, there, at);
    }),
    ...below(subset.items, original.items, `${path}[]`),
    ...below(subset.additionalProperties, original.additionalProperties, `${path}.*`),
  ];
}

function below(subset: Schema | boolean | undefined, original: Schema | boolean | undefined, path: string) {
  return typeof subset === 'object' && typeof original === 'object' ? subsetProblems(subset, original, path) : [];
}

const SAME = [
  'type',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'default',
] as const;

function ownProblems(subset: Schema, original: Schema, path: string): readonly string[] {
  const isAny = original['x-kubernetes-int-or-string'] === true;
  const different = SAME.filter((key) => subset[key] !== undefined && !(isAny && key === 'type')).filter(
    (key) => JSON.stringify(subset[key]) !== JSON.stringify(original[key]),
  );
  const foreign = (subset.enum ?? []).filter(
    (value) => original.enum !== undefined && !original.enum.includes(value),
  );
  return [
    ...different.map(
      (key) => `${path}: ${key} is ${JSON.stringify(subset[key])}, not ${JSON.stringify(original[key])}`,
    ),
    ...foreign.map((value) => `${path}: ${JSON.stringify(value)} is not allowed in the original`),
  ];
}
