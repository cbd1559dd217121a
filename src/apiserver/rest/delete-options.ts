import { type FieldError, invalid, notSupported } from '../../object/field-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { checkTypes } from '../../object/validation/type-check.ts';
import { builtinSchema, builtinTypeOf } from '../builtin-data/builtin-schema.ts';
import { badRequest } from '../status.ts';
import type { DeletionOptions, Propagation } from './deletion.ts';
import { notRegistered } from './kind-check.ts';
import { textOf } from './object-meta.ts';
import { dryRunErrors, parseBoolean, parseCount, refuseOptions } from './options.ts';
import { readJsonBody } from './read-body.ts';
import type { Scope } from './services.ts';

const POLICIES: readonly string[] = ['Foreground', 'Background', 'Orphan'];
const KINDS = new Set(['', 'DeleteOptions']);

/** From the body or, when there is none, from the query (DE1). */
export async function deleteOptions(scope: Scope): Promise<DeletionOptions> {
  const body = await scope.request.body();
  return parseDeleteOptions(body.length > 0 ? await fromBody(scope) : fromQuery(scope.request.query));
}

/** An option of the wrong type is refused, not ignored: a dry run that cannot be read must not delete. */
async function fromBody(scope: Scope): Promise<JsonObject> {
  const raw = await readJsonBody(scope, { group: 'meta.k8s.io', version: 'v1', kind: 'DeleteOptions' });
  const { problem } = checkTypes(raw, builtinSchema('meta.v1.DeleteOptions'), builtinTypeOf);
  if (problem !== undefined) throw badRequest(problem);
  return raw;
}

/** Options as an object, on their own or inside an Eviction. */
export function parseDeleteOptions(raw: JsonObject): DeletionOptions {
  const kind = textOf(raw['kind']);
  if (!KINDS.has(kind)) throw badRequest(notRegistered(kind, textOf(raw['apiVersion'])));
  const dryRun = stringList(raw['dryRun']);
  const policy = textOf(raw['propagationPolicy']);
  refuseOptions('DeleteOptions', [...policyErrors(raw, policy), ...dryRunErrors(dryRun)]);
  const preconditions = isJsonObject(raw['preconditions']) ? raw['preconditions'] : {};
  return {
    gracePeriodSeconds: typeof raw['gracePeriodSeconds'] === 'number' ? raw['gracePeriodSeconds'] : undefined,
    propagationPolicy: isPolicy(policy) ? policy : undefined,
    orphanDependents: typeof raw['orphanDependents'] === 'boolean' ? raw['orphanDependents'] : undefined,
    uid: optionalText(preconditions['uid']),
    resourceVersion: optionalText(preconditions['resourceVersion']),
    isDryRun: dryRun.length > 0,
  };
}

const isPolicy = (policy: string): policy is Propagation => POLICIES.includes(policy);

const optionalText = (value: Json | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

const stringList = (value: Json | undefined): readonly string[] => (Array.isArray(value) ? value.map(textOf) : []);

function policyErrors(raw: JsonObject, policy: string): readonly FieldError[] {
  if (policy === '') return [];
  if (typeof raw['orphanDependents'] === 'boolean') {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    return [invalid('propagationPolicy', policy, why)];
  }
  return POLICIES.includes(policy) ? [] : [notSupported('propagationPolicy', policy, [...POLICIES, 'nil'])];
}

function fromQuery(query: URLSearchParams): JsonObject {
  const raw: JsonObject = {};
  const grace = parseCount(query, 'gracePeriodSeconds');
  if (grace !== undefined) raw['gracePeriodSeconds'] = grace;
  if (query.has('propagationPolicy')) raw['propagationPolicy'] = query.get('propagationPolicy') ?? '';
  if (query.has('orphanDependents')) raw['orphanDependents'] = parseBoolean(query.get('orphanDependents') ?? '');
  const dryRun = query.getAll('dryRun');
  if (dryRun.length > 0) raw['dryRun'] = dryRun;
  const preconditions: JsonObject = {};
  for (const name of ['uid', 'resourceVersion']) {
    // Both spellings are read: Go flattens the preconditions into the query.
    const value = query.get(`preconditions.${name}`) ?? query.get(name);
    if (value !== null) preconditions[name] = value;
  }
  if (Object.keys(preconditions).length > 0) raw['preconditions'] = preconditions;
  return raw;
}
