import type { Json, JsonObject } from '../json.ts';
import { isJsonObject } from '../json.ts';
import { type Claims, withSet } from './claims.ts';
import { type Comparison, compare, withoutFields } from './compare.ts';
import { difference, type FieldSet, intersection, isEmpty, NOTHING, setOf, union } from './field-set.ts';
import { fieldElement } from './path-element.ts';
import { reconcileWithSchema } from './schema-change.ts';
import type { VersionConverter, VersionedObject } from './versions.ts';

/** What a request is about, as far as ownership moves. */
export interface Context {
  readonly versions: VersionConverter;
  /** Fields that the endpoint resets: nobody owns them through it (S2). */
  readonly resetFields: FieldSet;
  /** In this version only, if there is one. */
  readonly resetVersion: string | undefined;
}

const resetSets = new WeakMap<readonly string[], FieldSet>();

/** Paths spelled with dots, `status` or `metadata.deletionTimestamp`, as a set. */
export function resetSetOf(paths: readonly string[]): FieldSet {
  if (paths.length === 0) return NOTHING;
  const known = resetSets.get(paths);
  if (known !== undefined) return known;
  const set = setOf(...paths.map((path) => path.split('.').map(fieldElement)));
  resetSets.set(paths, set);
  return set;
}

const UNOWNED = [
  'apiVersion',
  'kind',
  'metadata',
  'metadata.name',
  'metadata.namespace',
  'metadata.creationTimestamp',
  'metadata.selfLink',
  'metadata.uid',
  'metadata.clusterName',
  'metadata.generation',
  'metadata.managedFields',
  'metadata.resourceVersion',
];

/** Without what nobody ever owns (S1). */
export const stripped = (set: FieldSet): FieldSet => difference(set, resetSetOf(UNOWNED));

/**
 * The claims as the present schemas have them; claims in versions that are gone are gone too. What keeps the live object
 * from being seen in the version of a claim shows here already.
 */
export function reconciled(claims: Claims, live: VersionedObject, { versions }: Context): Claims {
  const result: Claims = new Map();
  for (const [identity, claim] of claims) {
    const seen = versions.convert(live, claim.apiVersion);
    if (seen !== undefined) result.set(identity, withSet(claim, reconcileWithSchema(claim.set, seen.ownership)));
  }
  return result;
}

export interface Transfer {
  readonly claims: Claims;
  /** In the version of the request. */
  readonly comparison: Comparison;
  /** What others own of the fields that were added or modified. */
  readonly conflicts: ReadonlyMap<string, FieldSet>;
}

/**
 * Takes from everybody but `self` what changed between two objects: what was added or modified belongs to whoever did
 * it, what was removed to nobody. Claims that are left with nothing disappear.
 */
export function transfer(
  before: VersionedObject,
  after: VersionedObject,
  claims: Claims,
  { self, context }: { readonly self?: string; readonly context: Context },
): Transfer {
  const comparison = comparisonOf(before, after, context);
  const byVersion = new Map([[after.apiVersion, comparison as Comparison | undefined]]);
  const conflicts = new Map<string, FieldSet>();
  const result: Claims = new Map();
  for (const [identity, claim] of claims) {
    if (identity === self) {
      if (!isEmpty(claim.set)) result.set(identity, claim);
      continue;
    }
    if (!byVersion.has(claim.apiVersion)) {
      byVersion.set(claim.apiVersion, comparisonIn(claim.apiVersion, before, after, context));
    }
    const changes = byVersion.get(claim.apiVersion);
    if (changes === undefined) continue;
    const conflict = intersection(claim.set, union(changes.modified, changes.added));
    if (!isEmpty(conflict)) conflicts.set(identity, conflict);
    const rest = difference(difference(claim.set, conflict), changes.removed);
    if (!isEmpty(rest)) result.set(identity, withSet(claim, rest));
  }
  return { claims: result, comparison, conflicts };
}

function comparisonIn(
  apiVersion: string,
  before: VersionedObject,
  after: VersionedObject,
  context: Context,
): Comparison | undefined {
  const [left, right] = [
    context.versions.convert(before, apiVersion, 'failed to convert old object'),
    context.versions.convert(after, apiVersion, 'failed to convert new object'),
  ];
  return left === undefined || right === undefined ? undefined : comparisonOf(left, right, context);
}

function comparisonOf(before: VersionedObject, after: VersionedObject, context: Context): Comparison {
  const { resetFields, resetVersion = after.apiVersion } = context;
  const all = compare(unmanaged(before.object), unmanaged(after.object), after.ownership);
  return resetFields === NOTHING || resetVersion !== after.apiVersion ? all : withoutFields(all, resetFields);
}

/** managedFields are large, nobody owns them, and they would be compared as a whole. */
export function unmanaged(object: JsonObject): Json {
  const { metadata } = object;
  if (!isJsonObject(metadata) || !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}
