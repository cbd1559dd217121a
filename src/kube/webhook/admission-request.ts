import type { JsonObject } from '../../api/json.ts';
import { userError } from '../../base/errors.ts';
import { getKey, isJsonObject, type Json } from '../../object/json.ts';
import { JsonProblem, parseJsonBytes } from '../../object/json-text.ts';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface AdmissionUser {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What an API server asks about one write. Objects are as they came: fields nobody knows are there too. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  /** What the client wrote; another version than `kind` when the webhook asked for objects of that. */
  readonly requestKind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** Empty for the object itself. */
  readonly subResource: string;
  readonly name: string;
  readonly namespace: string;
  readonly operation: Operation;
  readonly userInfo: AdmissionUser;
  /** Absent for DELETE. */
  readonly object: JsonObject | undefined;
  /** Absent for CREATE. */
  readonly oldObject: JsonObject | undefined;
  readonly dryRun: boolean;
  readonly options: JsonObject;
}

/** A review with the version that it was asked in. */
export interface Review {
  readonly apiVersion: string;
  readonly request: JsonObject;
}

const OPERATIONS: ReadonlySet<string> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/**
 * Reads the body of a review. Throws a userError that says what is wrong when it is no JSON, of another kind or version,
 * or without a request.
 */
export function readReview(body: Uint8Array, kind: string, versions: readonly string[]): Review {
  if (body.length === 0) throw malformed('the request has no body');
  const value = parsed(body);
  if (!isJsonObject(value)) throw malformed(`the body is no ${kind}`);
  const [apiVersion, found, request] = ['apiVersion', 'kind', 'request'].map((key) => getKey(value, key));
  if (found !== kind || typeof apiVersion !== 'string' || !versions.includes(apiVersion)) {
    const shown = `${JSON.stringify(found ?? null)} of ${JSON.stringify(apiVersion ?? null)}`;
    throw malformed(`the body is ${shown}; expected "${kind}" of ${versions.join(' or ')}`);
  }
  if (!isJsonObject(request ?? null)) throw malformed(`the ${kind} has no request`);
  return { apiVersion, request: objectAt(value, 'request') };
}

function parsed(body: Uint8Array): Json {
  try {
    return parseJsonBytes(body).value;
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw malformed(`the body is not JSON: ${error.message}`);
  }
}

const malformed = (message: string) => userError('MalformedReview', message);

/** The request of an AdmissionReview. Throws a userError when its operation or its uid is missing. */
export function admissionRequest(request: JsonObject): AdmissionRequest {
  const operation = textAt(request, 'operation');
  const uid = textAt(request, 'uid');
  if (uid === '') throw malformed('request.uid is missing');
  if (!OPERATIONS.has(operation)) throw malformed(`request.operation "${operation}" is unknown`);
  const user = objectAt(request, 'userInfo');
  const groups = getKey(user, 'groups');
  return {
    uid,
    kind: groupVersionKind(objectAt(request, 'kind')),
    requestKind: groupVersionKind(optionalAt(request, 'requestKind') ?? objectAt(request, 'kind')),
    resource: {
      ...groupVersion(objectAt(request, 'resource')),
      resource: textAt(objectAt(request, 'resource'), 'resource'),
    },
    subResource: textAt(request, 'subResource'),
    name: textAt(request, 'name'),
    namespace: textAt(request, 'namespace'),
    // One of the set, as the check above says.
    operation: operation as Operation,
    userInfo: {
      username: textAt(user, 'username'),
      uid: textAt(user, 'uid'),
      groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
    },
    object: optionalAt(request, 'object'),
    oldObject: optionalAt(request, 'oldObject'),
    dryRun: getKey(request, 'dryRun') === true,
    options: objectAt(request, 'options'),
  };
}

const groupVersionKind = (from: JsonObject): GroupVersionKind => ({
  ...groupVersion(from),
  kind: textAt(from, 'kind'),
});

const groupVersion = (from: JsonObject) => ({ group: textAt(from, 'group'), version: textAt(from, 'version') });

/** The text of a member; empty when it is none. */
export function textAt(from: JsonObject, key: string): string {
  const value = getKey(from, key);
  return typeof value === 'string' ? value : '';
}

/** The object of a member; an empty one when it is none. */
export const objectAt = (from: JsonObject, key: string): JsonObject => optionalAt(from, key) ?? {};

function optionalAt(from: JsonObject, key: string): JsonObject | undefined {
  const value = getKey(from, key) ?? null;
  return isJsonObject(value) ? value : undefined;
}
