import type { Schema } from '../../api/schema/structural.ts';
import { invalid } from '../../object/field-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { checkTypes } from '../../object/validation/type-check.ts';
import { builtinSchema } from '../builtin-data/builtin-schema.ts';
import { type ApiResponse, metadataOf } from '../request.ts';
import { objectAnswer } from '../rest/answers.ts';
import { textOf, timestamp } from '../rest/object-meta.ts';
import { writeOptions } from '../rest/options.ts';
import { negotiateObject } from '../rest/present.ts';
import { readJsonBody } from '../rest/read-body.ts';
import { keyOf, type Scope } from '../rest/services.ts';
import { badRequest, conflict, invalidObject, notFound } from '../status.ts';
import type { BoundObject, ServiceAccountTokens } from './service-account-tokens.ts';
import { mutateVirtual, ownVirtual, validateVirtual } from './virtual-create.ts';

const SHORTEST_SECONDS = 600;
const DEFAULT_SECONDS = 3600;
const LONGEST_SECONDS = 2 ** 32;
const PROJECTED_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;
const TOKEN_REQUEST = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
const TYPE_NAME = 'authentication.v1.TokenRequest';
const BOUND_KINDS: Readonly<Record<string, BoundObject['kind']>> = { Pod: 'Pod', Secret: 'Secret', Node: 'Node' };

/** POST to `serviceaccounts/token` (Z7). */
export function tokenHandler(
  tokens: ServiceAccountTokens,
  issuer: () => string,
): (scope: Scope) => Promise<ApiResponse> {
  return async (scope) => {
    const as = negotiateObject(scope);
    const options = writeOptions(scope.request, 'CreateOptions');
    const body = await readJsonBody(scope, TOKEN_REQUEST);
    const schema = builtinSchema(TYPE_NAME);
    const asked = { object: decoded(scope, body, schema), options, schema, typeName: TYPE_NAME };
    ownVirtual(scope, asked);
    showAll(asked.object);
    const object = await mutateVirtual(scope, asked);
    complete(scope, object, issuer());
    checkExpiration(object);
    await validateVirtual(scope, { ...asked, object });
    object['status'] = issue(scope, object, tokens, issuer());
    return objectAnswer(201, object, as);
  };
}

const specOf = (request: JsonObject): JsonObject => (isJsonObject(request['spec']) ? request['spec'] : {});
const secondsOf = (request: JsonObject): number => Number(specOf(request)['expirationSeconds'] ?? DEFAULT_SECONDS);

/** The request, if it is one. */
function decoded({ info }: Scope, body: JsonObject, schema: Schema): JsonObject {
  const kind = textOf(body['kind']);
  if (kind !== '' && kind !== TOKEN_REQUEST.kind) {
    const apiVersion = textOf(body['apiVersion']);
    const why = `converting (${apiVersion}.${kind}) to (authentication.TokenRequest): unknown conversion`;
    throw badRequest(`${kind} in version "${apiVersion}" cannot be handled as a TokenRequest: ${why}`);
  }
  const { problem } = checkTypes(body, schema);
  if (problem !== undefined) {
    throw badRequest(`TokenRequest in version "v1" cannot be handled as a TokenRequest: ${problem}`);
  }
  const namespace = textOf(metadataOf(body)['namespace']);
  if (namespace !== '' && namespace !== info.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const { audiences, expirationSeconds = DEFAULT_SECONDS, boundObjectRef } = specOf(body);
  return {
    kind: TOKEN_REQUEST.kind,
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { ...metadataOf(body), namespace: info.namespace },
    spec: {
      ...(Array.isArray(audiences) && { audiences }),
      expirationSeconds,
      ...(isJsonObject(boundObjectRef) && { boundObjectRef }),
    },
  };
}

/** Fields that are not given are null, not absent. */
function showAll(request: JsonObject): void {
  const { audiences = null, expirationSeconds = null, boundObjectRef = null } = specOf(request);
  request['spec'] = { audiences, expirationSeconds, boundObjectRef };
  request['status'] = { token: '', expirationTimestamp: null };
}

/** What a request leaves out comes from the account, which must be the one that is meant. */
function complete({ info, resource, store, codec, clock }: Scope, request: JsonObject, issuer: string): void {
  const metadata = metadataOf(request);
  const asked = textOf(metadata['name']);
  if (asked !== '' && asked !== info.name) {
    const error = invalid('metadata.name', asked, 'must match the service account name if specified');
    throw invalidObject(TOKEN_REQUEST, info.name, [error]);
  }
  const entry = store.get(keyOf(resource, info.namespace, info.name));
  if (entry === undefined) throw notFound({ group: '', resource: resource.plural }, info.name);
  const uid = textOf(metadataOf(codec.stored(entry, resource))['uid']);
  const wanted = textOf(metadata['uid']);
  if (wanted !== '' && wanted !== uid) {
    const why = `the UID in the token request (${wanted}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: TOKEN_REQUEST.group, resource: TOKEN_REQUEST.kind }, info.name, why);
  }
  const { managedFields } = metadata;
  request['metadata'] = {
    name: info.name,
    namespace: info.namespace,
    uid,
    creationTimestamp: timestamp(clock.now()),
    ...(managedFields !== undefined && { managedFields }),
  };
  const { audiences } = specOf(request);
  if (!Array.isArray(audiences) || audiences.length === 0) specOf(request)['audiences'] = [issuer];
  request['status'] = { token: '', expirationTimestamp: null };
}

function checkExpiration(request: JsonObject): void {
  const seconds = secondsOf(request);
  const tooShort = 'may not specify a duration less than 10 minutes';
  const tooLong = 'may not specify a duration larger than 2^32 seconds';
  const why = seconds < SHORTEST_SECONDS ? tooShort : tooLong;
  if (seconds >= SHORTEST_SECONDS && seconds <= LONGEST_SECONDS) return;
  throw invalidObject(TOKEN_REQUEST, '', [invalid('spec.expirationSeconds', seconds, why)]);
}

function issue(scope: Scope, request: JsonObject, tokens: ServiceAccountTokens, issuer: string): JsonObject {
  const { audiences: asked, boundObjectRef = null } = specOf(request);
  const audiences = Array.isArray(asked) ? asked.map(textOf) : [];
  const bound = boundTo(scope, tokens, boundObjectRef);
  const seconds = secondsOf(request);
  // A pod's usual token lives on for those that do not read it anew; its age is told by `warnafter`.
  const isProjected = bound.boundTo?.kind === 'Pod' && seconds === PROJECTED_SECONDS;
  const isExtended = isProjected && audiences.every((audience) => audience === issuer);
  const { token } = tokens.issue({
    namespace: scope.info.namespace,
    name: scope.info.name,
    uid: textOf(metadataOf(request)['uid']),
    audiences,
    seconds: isExtended ? EXTENDED_SECONDS : seconds,
    ...(isExtended && { warnAfterSeconds: seconds }),
    ...bound,
  });
  const expires = new Date(scope.clock.now().getTime() + seconds * 1000);
  return { token, expirationTimestamp: timestamp(expires) };
}

interface Bound {
  readonly boundTo: BoundObject | undefined;
  readonly node?: { readonly name: string; readonly uid: string } | undefined;
}

/** The object a token is to die with; it must be there, and be the one that is meant. */
function boundTo(scope: Scope, tokens: ServiceAccountTokens, reference: Json): Bound {
  if (!isJsonObject(reference)) return { boundTo: undefined };
  const apiVersion = textOf(reference['apiVersion']);
  const kind = apiVersion.includes('/') ? undefined : BOUND_KINDS[textOf(reference['kind'])];
  const name = textOf(reference['name']);
  if (kind === undefined) {
    const shown = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw badRequest(`cannot bind token to object of type ${shown}, Kind=${textOf(reference['kind'])}`);
  }
  const object = storedAt(scope, tokens.boundKey({ kind, name }, scope.info.namespace), kind);
  const plural = `${kind.toLowerCase()}s`;
  if (object === undefined) throw notFound({ group: '', resource: plural }, name);
  checkAccount(scope, kind, object);
  const uid = textOf(metadataOf(object)['uid']);
  const wanted = textOf(reference['uid']);
  if (wanted !== '' && wanted !== uid) {
    const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', resource: kind }, name, why);
  }
  return { boundTo: { kind, name, uid }, node: kind === 'Pod' ? nodeOf(scope, object) : undefined };
}

/** A pod gets tokens of its own account only. */
function checkAccount({ info }: Scope, kind: string, object: JsonObject): void {
  if (kind !== 'Pod' || textOf(specOf(object)['serviceAccountName']) === info.name) return;
  throw badRequest(
    `cannot bind token for serviceaccount "${info.name}" to pod running with different serviceaccount name.`,
  );
}

function nodeOf(scope: Scope, pod: JsonObject): Bound['node'] {
  const name = textOf(specOf(pod)['nodeName']);
  if (name === '') return undefined;
  const node = storedAt(scope, `/registry/core/nodes/${name}`, 'Node');
  return { name, uid: node === undefined ? '' : textOf(metadataOf(node)['uid']) };
}

function storedAt({ store, codec, registry }: Scope, key: string, kind: string): JsonObject | undefined {
  const entry = store.get(key);
  const resource = registry.findKind('', 'v1', kind);
  return entry === undefined || resource === undefined ? undefined : codec.stored(entry, resource);
}
