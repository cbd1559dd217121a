import type { Kind, KubeObject, ObjectKey } from '../../api/object.ts';
import { retryError, userError } from '../../base/errors.ts';
import type { Json, JsonObject } from '../../object/json.ts';
import { isRecord } from '../../object/record.ts';
import { isWrite } from '../transport/transport.ts';
import { isNotFound } from './api-error.ts';
import type {
  ApplyOptions,
  GetOptions,
  Patch,
  Scale,
  ServiceAccountToken,
  SpecialVerbs,
  SubresourceClient,
  TokenOptions,
  WriteOptions,
} from './kube-client.ts';
import { objectOf, typed } from './live-reader.ts';
import { objectPath, queryText } from './resource-path.ts';
import { isOfKind, noted } from './write-observation.ts';
import { callOptions, deletionBody, PATCH_TYPES, type Writing, writeQuery } from './writer.ts';

const POD: Kind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' };
const SERVICE_ACCOUNT: Kind = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  scope: 'Namespaced',
};

/**
 * Subresources and paths. Observers of writes are told of what a subresource answers with where that is the object
 * itself (`status`, `ephemeralcontainers`); a Scale or a token is not, and the change comes by the watch.
 */
export function specialVerbs(writing: Writing): SpecialVerbs {
  const subresource = (name: string): SubresourceClient => subresourceClient(writing, name);
  return {
    subresource,
    scale: (kind, key, replicas, options) =>
      subresource('scale').patch<Scale>(kind, key, { type: 'merge', body: { spec: { replicas } } }, options),
    evict: async (key, options = {}) => {
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { ...key },
        deleteOptions: deletionBody(options),
      };
      try {
        const call = { method: 'POST', target: objectPath(POD, key, 'eviction'), body, ...callOptions(options) };
        await noted(writing, { kind: POD, key, options }, writing.exchange.json(call));
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
    createToken: (key, options = {}) => createToken(writing, key, options),
    raw: async (path, { method = 'GET', ...options } = {}) => {
      if (!path.startsWith('/'))
        throw userError('InvalidPath', `a path starts with a slash; found ${path.split('?')[0]}`);
      try {
        return await writing.exchange.json({ method, target: path, ...options });
      } finally {
        if (isWrite({ method })) writing.memory?.clear();
      }
    },
  };
}

/** What is sent to a subresource, and how. */
interface Sending {
  readonly method: string;
  readonly body: Json;
  readonly contentType?: string;
  readonly options: WriteOptions;
}

function subresourceClient(writing: Writing, name: string): SubresourceClient {
  const { exchange, fieldManager, observer } = writing;
  const ask = async <A extends KubeObject>(kind: Kind, key: ObjectKey, options: GetOptions = {}): Promise<A> => {
    const { resourceVersion } = options;
    const target = `${objectPath(kind, key, name)}${queryText({ resourceVersion })}`;
    const call = { method: 'GET', target, ...callOptions(options) };
    return answered<A>(objectOf(await exchange.json(call), call));
  };
  const send = async <A extends KubeObject>(kind: Kind, key: ObjectKey, sending: Sending): Promise<A> => {
    const { options, ...rest } = sending;
    const target = `${objectPath(kind, key, name)}${queryText(writeQuery(options, fieldManager))}`;
    const call = { target, ...rest, ...callOptions(options) };
    const answer = objectOf(await noted(writing, { kind, key, options }, exchange.json(call)), call);
    if (options.dryRun !== true && isOfKind(kind, answer)) observer.wrote(kind, typed(kind, answer));
    return answered<A>(answer);
  };
  return {
    get: ask,
    create: (kind, key, body, options = {}) => send(kind, key, { method: 'POST', body: jsonOf(body), options }),
    update: (kind, key, body, options = {}) => send(kind, key, { method: 'PUT', body: jsonOf(body), options }),
    patch: (kind, key, patch: Patch, options: ApplyOptions = {}) =>
      send(kind, key, {
        method: 'PATCH',
        body: patch.type === 'json' ? [...patch.body] : patch.body,
        contentType: PATCH_TYPES[patch.type],
        options,
      }),
  };
}

const jsonOf = (body: KubeObject | JsonObject): JsonObject => ({ ...(body as JsonObject) });
// The server is the authority on what it answers with.
const answered = <A extends KubeObject>(object: JsonObject): A => object as unknown as A;

async function createToken(writing: Writing, key: ObjectKey, options: TokenOptions): Promise<ServiceAccountToken> {
  const { audiences, expirationSeconds, boundObject } = options;
  const call = {
    method: 'POST',
    target: objectPath(SERVICE_ACCOUNT, key, 'token'),
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        audiences: audiences === undefined ? null : [...audiences],
        ...(expirationSeconds !== undefined && { expirationSeconds }),
        ...(boundObject !== undefined && { boundObjectRef: { ...boundObject } }),
      },
    },
    ...callOptions(options),
  };
  const { status } = objectOf(await writing.exchange.json(call), call);
  if (isRecord(status)) {
    const { token, expirationTimestamp } = status;
    if (typeof token === 'string' && typeof expirationTimestamp === 'string')
      return { token, expirationTimestamp };
  }
  throw retryError('TokenMissing', `the server answered without a token for ServiceAccount ${key.name}`);
}
