import type { Schema } from '../../api/schema/structural.ts';
import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../json.ts';
import {
  type Claim,
  type Claims,
  entriesOf,
  identityOf,
  parseManagedFields,
  printManagedFields,
  secondsOf,
  timeText,
  withSet,
} from './claims.ts';
import { type FieldSet, isEmpty, recursiveDifference, union } from './field-set.ts';
import { compareText } from './path-element.ts';
import { type Context, reconciled, resetSetOf, stripped, transfer } from './transfer.ts';
import { TypedProblem } from './typed-problem.ts';
import { VersionConverter, type Versions } from './versions.ts';

/** The most Update managers an object remembers by name (S5). */
const MAX_UPDATE_CLAIMS = 10;
const ANCIENT = 'ancient-changes';

export interface Writing {
  readonly schema: Schema;
  /** The version of the endpoint: `apps/v1`. Objects are given in it. */
  readonly apiVersion: string;
  readonly manager: string;
  /** `status`, `scale`, …; empty for the object itself. */
  readonly subresource: string;
  /** Dotted paths that the endpoint resets (S2): `['status']`. */
  readonly resetFields: readonly string[];
  readonly now: Date;
  readonly versions?: Versions;
  /** What upstream calls a new object of the kind, before anything is written into it: what a new Go structure holds. */
  readonly empty?: JsonObject;
}

export interface UpdateRequest extends Writing {
  readonly live: JsonObject | undefined;
  /** The object to be stored; its managedFields count only as S6 says. */
  readonly updated: JsonObject;
}

/** The managedFields to store with an object that was created, replaced or patched. Empty: store none. */
export function updateManagedFields(request: UpdateRequest): Json[] {
  const { live, updated } = request;
  const claims = claimsBefore(request);
  // An object that nobody tracks is not tracked until somebody applies (S6).
  if (claims.size === 0 && uidOf(live) !== undefined) return [];
  try {
    return printManagedFields(capped(claimsAfter(request, claims, live ?? emptyOf(request), updated)));
  } catch (error) {
    // Ownership of what does not fit its schema, or cannot be converted, cannot be told; upstream stores none rather
    // than wrong ones.
    if (error instanceof TypedProblem) return [];
    throw error;
  }
}

export const contextOf = ({ apiVersion, schema, versions, resetFields, subresource }: Writing): Context => ({
  versions: new VersionConverter(apiVersion, schema, versions),
  resetFields: resetSetOf(resetFields),
  resetVersion: subresource !== '' || versions?.shareResetFields === true ? undefined : apiVersion,
});

export const emptyOf = ({ empty }: Writing): JsonObject => empty ?? {};

function uidOf(object: JsonObject | undefined): Json | undefined {
  const metadata = object?.['metadata'];
  const uid = isJsonObject(metadata) ? metadata['uid'] : undefined;
  return uid === '' ? undefined : uid;
}

/** The claims to start from: those the client sent, if it may and they make sense, else the live ones (S6). */
function claimsBefore({ live, updated, subresource }: UpdateRequest): Claims {
  const stored = entriesOf(live);
  const sent = entriesOf(updated);
  if (subresource !== '' || sent === undefined || sent === null || jsonEqual(sent, stored))
    return parsedOrNone(stored);
  if (isReset(sent)) return new Map();
  const claims = parsedOrNone(sent);
  return claims.size === 0 ? parsedOrNone(stored) : claims;
}

function parsedOrNone(entries: Json | undefined): Claims {
  try {
    return parseManagedFields(entries);
  } catch {
    return new Map();
  }
}

/** An empty list, or a list of one empty entry, is how clients ask to start over. */
function isReset(entries: Json): boolean {
  if (!Array.isArray(entries)) return false;
  const [first] = entries;
  if (first === undefined) return true;
  return entries.length === 1 && isJsonObject(first) && Object.values(first).every(isZero);
}

const isZero = (value: Json): boolean => value === null || value === '';

/** Also how fields that were there before anybody tracked them get an owner, at the first apply. */
export function claimsAfter(writing: Writing, claims: Claims, before: JsonObject, after: JsonObject): Claims {
  const context = contextOf(writing);
  const live = context.versions.home(before);
  const known = reconciled(claims, live, context);
  const { claims: others, comparison } = transfer(live, context.versions.home(after), known, { context });
  const taken = stripped(recursiveDifference(union(comparison.modified, comparison.added), context.resetFields));
  return isEmpty(taken) ? others : withTaken(writing, others, taken);
}

function withTaken(writing: Writing, claims: Claims, set: FieldSet): Claims {
  const { apiVersion, subresource } = writing;
  const claim: Claim = {
    manager: writing.manager === '' ? 'unknown' : writing.manager,
    isApplied: false,
    apiVersion,
    subresource,
    time: timeText(writing.now),
    set,
  };
  const identity = identityOf(claim);
  const previous = claims.get(identity);
  return new Map(claims).set(identity, previous === undefined ? claim : withSet(claim, union(previous.set, set)));
}

/** Merges the oldest Update claims into one per version until there are no more than ten (S5). */
function capped(claims: Claims): Claims {
  const updates = [...claims].filter(([, { isApplied }]) => !isApplied);
  let excess = updates.length - MAX_UPDATE_CLAIMS;
  if (excess <= 0) return claims;
  updates.sort(([a, left], [b, right]) => secondsOf(left.time) - secondsOf(right.time) || compareText(a, b));
  const result = new Map(claims);
  const firstOfVersion = new Map<string, string>();
  for (const [identity, claim] of updates) {
    if (excess <= 0) break;
    const first = firstOfVersion.get(claim.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(claim.apiVersion, identity);
      continue;
    }
    intoBucket(result, first, identity, claim);
    excess--;
  }
  return result;
}

function intoBucket(claims: Claims, first: string, identity: string, claim: Claim): void {
  const { entry: _, ...rest } = claim;
  const bucket: Claim = { ...rest, manager: ANCIENT, subresource: '' };
  const bucketIdentity = identityOf(bucket);
  // The bucket is there already, unless it is what comes in itself: upstream loses it then.
  const partner = claims.has(bucketIdentity) && identity !== bucketIdentity ? bucketIdentity : first;
  const older = claims.get(partner);
  claims.delete(partner);
  claims.delete(identity);
  // The time is that of the claim that comes in, the later of the two.
  claims.set(bucketIdentity, withSet(bucket, older === undefined ? claim.set : union(claim.set, older.set)));
}
