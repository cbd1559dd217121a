import type { Schema } from '../../api/schema/structural.ts';
import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { checkTypes } from '../../object/validation/type-check.ts';
import { PLAIN_JSON } from '../negotiation/accept.ts';
import type { Resource } from '../registry/resource.ts';
import type { ApiResponse } from '../request.ts';
import { objectAnswer } from '../rest/answers.ts';
import { textOf } from '../rest/object-meta.ts';
import { optionsObject, type WriteOptions } from '../rest/options.ts';
import { negotiateObject } from '../rest/present.ts';
import { readJsonBody } from '../rest/read-body.ts';
import type { Scope } from '../rest/services.ts';
import { badRequest } from '../status.ts';

type ExpectedKind = Parameters<typeof readJsonBody>[1];

const TEXT: Schema = { type: 'string' };
const TEXTS: Schema = { type: 'object', additionalProperties: TEXT };
const METADATA: Schema = {
  type: 'object',
  properties: {
    name: TEXT,
    namespace: TEXT,
    uid: TEXT,
    resourceVersion: TEXT,
    annotations: TEXTS,
    labels: TEXTS,
  },
};

/** The body of a POST to a subresource that is an object of its own: Binding, Eviction. */
export async function readCreated(
  scope: Scope,
  expected: ExpectedKind,
  properties: Readonly<Record<string, Schema>>,
  versions: readonly string[] = [expected.version],
): Promise<JsonObject> {
  const body = await readJsonBody(scope, expected);
  const { kind, version } = expected;
  const [givenKind, apiVersion] = [textOf(body['kind']), textOf(body['apiVersion'])];
  if (givenKind !== '' && givenKind !== kind) {
    const given = apiVersion.slice(apiVersion.indexOf('/') + 1);
    const why = `converting (${given}.${givenKind}) to (core.${kind}): unknown conversion`;
    throw badRequest(`${givenKind} in version "${given}" cannot be handled as a ${kind}: ${why}`);
  }
  if (apiVersion !== '' && !versions.some((known) => apiVersion === groupVersion(expected.group, known))) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${groupVersion(expected.group, version)})`,
    );
  }
  const { problem } = checkTypes(body, { type: 'object', properties: { metadata: METADATA, ...properties } });
  if (problem !== undefined) {
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`);
  }
  const namespace = textOf(metadataIn(body)['namespace']);
  if (namespace !== '' && namespace !== scope.info.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return body;
}

const groupVersion = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);

export const metadataIn = ({ metadata }: JsonObject): JsonObject => (isJsonObject(metadata) ? metadata : {});

/** Asks admission about a subresource's object (CREATE of `pods/binding`, `pods/eviction`). */
export async function admitCreated(
  scope: Scope,
  resource: Resource,
  subresource: string,
  { object, options }: { readonly object: JsonObject; readonly options: WriteOptions },
): Promise<JsonObject> {
  const attributes = {
    operation: 'CREATE' as const,
    resource,
    subresource,
    namespace: scope.info.namespace,
    name: textOf(metadataIn(object)['name']),
    oldObject: undefined,
    user: scope.user,
    isDryRun: options.isDryRun,
    options: optionsObject('CreateOptions', options),
    warnings: scope.warnings,
  };
  const mutated = (await scope.admission.mutate({ ...attributes, object })) ?? object;
  await scope.admission.validate({ ...attributes, object: mutated });
  return mutated;
}

/** What a subresource that has nothing to show answers. */
export const created = (scope: Scope): ApiResponse =>
  objectAnswer(
    201,
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
    { ...PLAIN_JSON, mediaType: negotiateObject(scope).mediaType },
  );
