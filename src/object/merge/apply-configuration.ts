import { cloneJson, getKey, isJsonObject, type Json, type JsonObject, jsonEqual } from '../json.ts';
import {
  type Claim,
  type Claims,
  entriesOf,
  identityOf,
  parseManagedFields,
  printManagedFields,
  timeText,
  withManagedFields,
  withSet,
  withTime,
} from './claims.ts';
import { ApplyConflict, type ConflictSets } from './conflict.ts';
import { difference, type FieldSet, isEmpty, recursiveDifference } from './field-set.ts';
import { CLIENT_SIDE_MANAGER, clientSideFields, withLastApplied } from './last-applied.ts';
import { merge } from './merge.ts';
import { prune } from './prune.ts';
import { fieldSetOf } from './to-field-set.ts';
import { type Context, reconciled, stripped, transfer } from './transfer.ts';
import { TypedProblem } from './typed-problem.ts';
import { claimsAfter, contextOf, emptyOf, type Writing } from './update-managed-fields.ts';
import { validateTyped } from './validate.ts';

const FIRST_APPLY_MANAGER = 'before-first-apply';

export interface ApplyRequest extends Writing {
  readonly live: JsonObject | undefined;
  readonly config: JsonObject;
  readonly force: boolean;
}

export interface Applied {
  /** The merged object, the caller's own except for its managedFields; not yet defaulted. */
  readonly object: JsonObject;
  /** Whether it differs from the live one, managedFields included. */
  readonly isChanged: boolean;
}

/** Server-side apply (spec 13.3). Throws ApplyConflict or TypedProblem. */
export function applyConfiguration(request: ApplyRequest): Applied {
  const context = contextOf(request);
  const config = withIdentity(request);
  const live = request.live ?? emptyOf(request);
  const { ownership } = context.versions.home(live);
  typed('failed to create typed patch object', config, () => validateTyped(config, ownership));
  typed('failed to create typed live object', live, () =>
    validateTyped(live, ownership, { allowsDuplicates: true }),
  );
  const claims = claimsBefore(request, live);
  const attempt = { request, context, live, config, claims };
  const { object, owners } = settled(attempt, attempted(attempt));
  const entries = printManagedFields(owners);
  const isSame = object === live && jsonEqual(entries, entriesOf(live) ?? []);
  const result = request.manager === CLIENT_SIDE_MANAGER ? withLastApplied(object, config) : object;
  return {
    object: withManagedFields(cloneJson(withManagedFields(result, [])), entries),
    isChanged: request.live === undefined || !isSame || result !== object,
  };
}

/** The name is the endpoint's: an applier that leaves it out does not take it away (S14). */
function withIdentity({ config, live }: ApplyRequest): JsonObject {
  const known = isJsonObject(live?.['metadata']) ? live['metadata'] : {};
  const metadata = config['metadata'] ?? {};
  if (!isJsonObject(metadata)) return config;
  const lost = ['name', 'namespace'].filter((key) => !Object.hasOwn(metadata, key) && Object.hasOwn(known, key));
  if (lost.length === 0) return config;
  const identity = Object.fromEntries(lost.map((key) => [key, known[key] ?? null]));
  return { ...config, metadata: { ...metadata, ...identity } };
}

function typed(problem: string, object: JsonObject, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof TypedProblem)) throw error;
    throw error.within(`${problem} (${nameOf(object)})`);
  }
}

/** `<namespace>/<name>; <group>/<version>, Kind=<kind>` */
function nameOf(object: JsonObject): string {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  // The core group has no name, but its slash is printed.
  const apiVersion = text(object['apiVersion']);
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  const name = `${text(getKey(metadata, 'namespace'))}/${text(getKey(metadata, 'name'))}`;
  return `${name}; ${groupVersion}, Kind=${text(object['kind'])}`;
}

/** Fields that are there although nobody tracks them first get an owner (S6). */
function claimsBefore(request: ApplyRequest, live: JsonObject): Claims {
  const claims = parseManagedFields(entriesOf(live));
  if (claims.size > 0 || request.live === undefined) return claims;
  return claimsAfter({ ...request, manager: FIRST_APPLY_MANAGER }, claims, emptyOf(request), live);
}

interface Attempt {
  readonly request: ApplyRequest;
  readonly context: Context;
  readonly live: JsonObject;
  readonly config: JsonObject;
  readonly claims: Claims;
}

interface Outcome {
  /** The live object itself if the configuration changes nothing. */
  readonly object: JsonObject;
  readonly owners: Claims;
  readonly conflicts: ConflictSets;
}

function attempted({ request, context, live, config, claims }: Attempt): Outcome {
  const { versions, resetFields } = context;
  const before = versions.home(live);
  const known = reconciled(claims, before, context);
  const claim = claimOf(request, recursiveDifference(fieldSetOf(config, before.ownership), resetFields));
  const identity = identityOf(claim);
  const last = known.get(identity);
  const merged = merge(live, config, before.ownership);
  const all = new Map(known).set(identity, last === undefined ? claim : { ...claim, time: last.time });
  const pruned = prune({ ...before, object: isJsonObject(merged) ? merged : {} }, all, last, versions);
  const { claims: rest, conflicts } = transfer(before, pruned, all, { self: identity, context });
  const object = jsonEqual(live, pruned.object) ? live : pruned.object;
  const time = object === live ? last?.time : timeText(request.now);
  return { object, owners: withOwn(rest, identity, { last, time }), conflicts };
}

/** The claims with the applier's own one stripped (S1), given back unchanged if it is (S7). */
function withOwn(
  claims: Claims,
  identity: string,
  { last, time }: { readonly last: Claim | undefined; readonly time: string | undefined },
): Claims {
  const own = claims.get(identity);
  if (own === undefined) return claims;
  const set = stripped(own.set);
  const result = new Map(claims);
  if (isEmpty(set)) result.delete(identity);
  else
    result.set(identity, isUnchanged(last, own, set, time) ? (last as Claim) : withTime(withSet(own, set), time));
  return result;
}

const isUnchanged = (last: Claim | undefined, own: Claim, set: FieldSet, time: string | undefined): boolean =>
  last !== undefined &&
  last.apiVersion === own.apiVersion &&
  last.time === time &&
  jsonEqual(last.set as Json, set as Json);

const claimOf = ({ manager, apiVersion, subresource }: ApplyRequest, set: FieldSet): Claim => ({
  manager: manager === '' ? 'unknown' : manager,
  isApplied: true,
  apiVersion,
  subresource,
  time: undefined,
  set,
});

/** Without conflicts, or with the right to win them, an attempt is the result. */
function settled(attempt: Attempt, outcome: Outcome): Outcome {
  const { request, context, live } = attempt;
  if (outcome.conflicts.size === 0 || request.force) return outcome;
  const allowed =
    request.manager === CLIENT_SIDE_MANAGER
      ? clientSideFields(live, request.apiVersion, context.versions.home(live).ownership)
      : undefined;
  const open = allowed === undefined ? outcome.conflicts : exceptFor(outcome.conflicts, allowed);
  if (open.size === 0) return outcome;
  throw new ApplyConflict(open, attempt.claims);
}

function exceptFor(conflicts: ConflictSets, allowed: FieldSet): ConflictSets {
  const rest = [...conflicts].map(([identity, set]) => [identity, difference(set, allowed)] as const);
  return new Map(rest.filter(([, set]) => !isEmpty(set)));
}
