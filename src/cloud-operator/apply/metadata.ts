import type { ObjectMeta, OwnerReference } from '../../api/object.ts';
import { type Json, jsonEqual } from '../../object/json.ts';

export interface MergedMetadata {
  readonly metadata: ObjectMeta;
  readonly isModified: boolean;
}

type Texts = Readonly<Record<string, string>>;

/**
 * What is there, with what is required: labels, annotations and owners of others stay. A required key that ends in `-`
 * takes the key away, an owner whose uid ends in `-` the owner (R41, as EnsureObjectMeta of openshift/library-go).
 */
export function mergedMetadata(existing: ObjectMeta, required: ObjectMeta): MergedMetadata {
  const labels = mergedTexts(existing.labels, required.labels);
  const annotations = mergedTexts(existing.annotations, required.annotations);
  const owners = mergedOwners(existing.ownerReferences, required.ownerReferences);
  const isModified =
    labels !== existing.labels || annotations !== existing.annotations || owners !== existing.ownerReferences;
  const metadata = {
    ...existing,
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
    ...(owners !== undefined && { ownerReferences: owners }),
  };
  return { metadata, isModified };
}

/** As it is created: there is nothing to take away. */
export function cleanedMetadata(required: ObjectMeta): ObjectMeta {
  const { labels, annotations, ownerReferences, ...rest } = required;
  return {
    ...rest,
    ...(labels !== undefined && { labels: mergedTexts({}, labels) ?? {} }),
    ...(annotations !== undefined && { annotations: mergedTexts({}, annotations) ?? {} }),
    ...(ownerReferences !== undefined && { ownerReferences: mergedOwners([], ownerReferences) ?? [] }),
  };
}

/** The very same when nothing is to be changed. */
function mergedTexts(existing: Texts | undefined, required: Texts = {}): Texts | undefined {
  // A map, because a key may be `__proto__`.
  const merged = new Map(Object.entries(existing ?? {}));
  let isModified = false;
  for (const [key, value] of Object.entries(required)) {
    const removed = removedKey(key);
    if (removed !== undefined) isModified = merged.delete(removed) || isModified;
    else if (merged.get(key) !== value) {
      merged.set(key, value);
      isModified = true;
    }
  }
  return isModified ? Object.fromEntries(merged) : existing;
}

/** All dashes at the end are taken off, as there. */
const removedKey = (key: string): string | undefined => (key.endsWith('-') ? key.replace(/-+$/, '') : undefined);

function mergedOwners(
  existing: readonly OwnerReference[] | undefined,
  required: readonly OwnerReference[] = [],
): readonly OwnerReference[] | undefined {
  const merged = [...(existing ?? [])];
  let isModified = false;
  for (const owner of required) {
    const at = merged.findIndex((one) => isSameOwner(one, owner));
    const isRemoved = owner.uid.endsWith('-');
    const current = merged[at];
    if (current === undefined ? isRemoved : !isRemoved && isEqual(current, owner)) continue;
    if (current === undefined) merged.push(owner);
    else merged.splice(at, 1, ...(isRemoved ? [] : [owner]));
    isModified = true;
  }
  return isModified ? merged : existing;
}

const isSameOwner = (one: OwnerReference, other: OwnerReference): boolean =>
  one.name === other.name && one.kind === other.kind && groupOf(one) === groupOf(other);

const groupOf = ({ apiVersion }: OwnerReference): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

const isEqual = (one: OwnerReference, other: OwnerReference): boolean =>
  jsonEqual(one as unknown as Json, other as unknown as Json);
