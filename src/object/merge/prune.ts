import { isJsonObject } from '../json.ts';
import type { Claim, Claims } from './claims.ts';
import { difference, type FieldSet, intersection, isEmpty, NOTHING, union } from './field-set.ts';
import { withNamedFields } from './named-fields.ts';
import { removeItems } from './remove.ts';
import { fieldSetOf } from './to-field-set.ts';
import type { VersionConverter, VersionedObject } from './versions.ts';

const PRUNING = 'failed to prune fields';
const OWNED = `${PRUNING}: failed add back owned items`;
const DANGLING = `${PRUNING}: failed add back dangling items`;

/**
 * Drops from a merged object what an applier owned last time and owns no more, unless somebody else owns it too (S13).
 * `claims` already hold the applier's new claim.
 */
export function prune(
  merged: VersionedObject,
  claims: Claims,
  last: Claim | undefined,
  versions: VersionConverter,
): VersionedObject {
  if (last === undefined || isEmpty(last.set)) return merged;
  // Paths are spelled in the version of the claim they come from.
  const toLast = `${PRUNING}: failed to convert merged object to last applied version`;
  const before = versions.convert(merged, last.apiVersion, toLast);
  if (before === undefined) return merged;
  const lastSet = withNamedFields(last.set, before.ownership);
  const bare = without(before, lastSet);
  const owned = withOwned(before, bare, claims, versions);
  const pruned = withUnclaimed(before, owned, lastSet, versions);
  return versions.convert(pruned, merged.apiVersion, PRUNING) ?? merged;
}

function without(from: VersionedObject, set: FieldSet): VersionedObject {
  const object = removeItems(from.object, set, from.ownership);
  return { ...from, object: isJsonObject(object) ? object : {} };
}

const allFields = ({ object, ownership }: VersionedObject): FieldSet =>
  withNamedFields(fieldSetOf(object, ownership), ownership);

/** Puts back what anybody claims, the applier's new configuration included. */
function withOwned(
  merged: VersionedObject,
  bare: VersionedObject,
  claims: Claims,
  versions: VersionConverter,
): VersionedObject {
  const byVersion = new Map([[bare.apiVersion, NOTHING]]);
  for (const { apiVersion, set } of claims.values())
    byVersion.set(apiVersion, union(byVersion.get(apiVersion) ?? NOTHING, set));
  let result = bare;
  // The version at hand comes first: converting may need fields that are about to be put back.
  for (const [apiVersion, set] of byVersion) {
    const doing = (what: string) => `${OWNED}: failed to convert ${what} object at version ${apiVersion}`;
    const whole = versions.convert(merged, apiVersion, doing('merged'));
    const rest = versions.convert(result, apiVersion, doing('pruned'));
    if (whole === undefined || rest === undefined) continue;
    const kept = union(allFields(rest), withNamedFields(set, whole.ownership));
    result = without(whole, difference(allFields(whole), kept));
  }
  return result;
}

/** Puts back what the applier never claimed: it may have gone only because it was below something that went. */
function withUnclaimed(
  merged: VersionedObject,
  pruned: VersionedObject,
  last: FieldSet,
  versions: VersionConverter,
): VersionedObject {
  const doing = `${DANGLING}: failed to convert pruned object to last applied version`;
  const rest = versions.convert(pruned, merged.apiVersion, doing);
  if (rest === undefined) return merged;
  return without(merged, intersection(difference(allFields(merged), allFields(rest)), last));
}
