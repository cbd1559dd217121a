import type { Json } from '../json.ts';
import { type Claim, type Claims, identityOf, parseManagedFields, printManagedFields, withSet } from './claims.ts';
import { difference, has, isEmpty, setOf, union } from './field-set.ts';
import type { PathElement } from './path-element.ts';

const SCALE_VERSION = 'autoscaling/v1';
const SCALE_REPLICAS: readonly PathElement[] = ['f:spec', 'f:replicas'];

/**
 * Where each version of the parent keeps its replicas: `{ 'apps/v1': ['spec', 'replicas'] }`. `undefined` for a version
 * without a scale subresource; entries of versions that are not named are dropped.
 */
export type ReplicasPaths = Readonly<Record<string, readonly string[] | undefined>>;

const pathIn = (paths: ReplicasPaths, apiVersion: string): readonly PathElement[] | undefined =>
  Object.hasOwn(paths, apiVersion) ? paths[apiVersion]?.map((name) => `f:${name}`) : undefined;

/** managedFields of a Scale: whoever owns the replicas of the parent. */
export function scaleManagedFields(parentEntries: Json | undefined, paths: ReplicasPaths): Json[] {
  const claims: Claims = new Map();
  for (const [identity, claim] of parseManagedFields(parentEntries)) {
    const path = pathIn(paths, claim.apiVersion);
    if (path === undefined || !has(claim.set, path)) continue;
    const { entry: _, ...rest } = claim;
    claims.set(identity, { ...rest, apiVersion: SCALE_VERSION, set: setOf(SCALE_REPLICAS) });
  }
  return printManagedFields(claims);
}

/** managedFields of the parent after a write to its Scale, whose entries are given as that write left them (S3). */
export function parentManagedFields(
  parentEntries: Json | undefined,
  scaleEntries: readonly Json[],
  { apiVersion, paths }: { readonly apiVersion: string; readonly paths: ReplicasPaths },
): Json[] {
  const claims: Claims = new Map();
  const byScale = parseManagedFields([...scaleEntries]);
  for (const [identity, claim] of parseManagedFields(parentEntries)) {
    if (!Object.hasOwn(paths, claim.apiVersion)) continue;
    const kept = withoutStolen(claim, byScale.delete(identity), paths);
    if (kept !== undefined) claims.set(identity, kept);
  }
  const path = pathIn(paths, apiVersion);
  for (const claim of byScale.values()) {
    if (path !== undefined && has(claim.set, SCALE_REPLICAS)) addReplicas(claims, claim, apiVersion, path);
  }
  return printManagedFields(claims);
}

/** Upstream states no time for what was written through a Scale. */
function addReplicas(claims: Claims, claim: Claim, apiVersion: string, path: readonly PathElement[]): void {
  const { entry: _, ...rest } = claim;
  const replicas = { ...rest, apiVersion, time: undefined, set: setOf(path) };
  const identity = identityOf(replicas);
  const own = claims.get(identity);
  // A manager that owns them already would appear twice otherwise: identities name the version of the Scale here.
  claims.set(identity, own === undefined ? replicas : withSet(own, union(own.set, replicas.set)));
}

function withoutStolen(claim: Claim, isStillOwner: boolean, paths: ReplicasPaths): Claim | undefined {
  const path = pathIn(paths, claim.apiVersion);
  if (isStillOwner || path === undefined || !has(claim.set, path)) return claim;
  const rest = difference(claim.set, setOf(path));
  return isEmpty(rest) ? undefined : withSet(claim, rest);
}
