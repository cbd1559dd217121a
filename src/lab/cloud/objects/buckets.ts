import { join } from 'node:path';
import { z } from 'zod';
import { requireScope } from '../access/scopes.ts';
import { CloudError, invalidArgument, notFound } from '../cloud-error.ts';
import type { CloudAnswer } from '../http/cloud-answer.ts';
import { defineKind } from '../resources/kind-definition.ts';
import { limitOf } from '../resources/listing.ts';
import { checked } from '../resources/request-schema.ts';
import type { CloudServices, KindFactory, SubresourceRequest } from '../resources/resource-kind.ts';
import type { KindName, ShelfName } from '../resources/resource-record.ts';
import { keyInPath, keyOf, pathOfKey, textOfKey } from './object-key.ts';
import { ObjectStore, type StoredObject } from './object-store.ts';
import { signedQuery, signerOf } from './presigned-url.ts';

const BUCKETS: KindName<Record<string, never>> = { plural: 'buckets' };
const KEYS: ShelfName<{ readonly key: string }> = { shelf: 'url-keys' };
const LONGEST_LIFE_SECONDS = 604_800;
const PARAMETERS = ['prefix', 'limit', 'pageToken'];

const bucketName = z
  .string()
  .regex(/^[a-z0-9]([-.a-z0-9]{1,61})[a-z0-9]$/, 'must be 3 to 63 small letters, digits, dots and dashes');

const presignSchema = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'PUT', 'DELETE']),
  /** Text, or the bytes in base64. */
  key: z.string().optional(),
  keyBase64: z.base64().optional(),
  expiresSeconds: z.int().min(1).max(LONGEST_LIFE_SECONDS).default(3600),
});

/** Buckets, and the objects in them at `/v1/buckets/<id>/objects/<key>` (C22). */
export const buckets: KindFactory = (services) => {
  const store = new ObjectStore(join(services.directory, 'objects'), services);
  const urlKey = () => services.state.peek(KEYS, 'key')?.key ?? '';
  return defineKind(BUCKETS, {
    singular: 'bucket',
    idPrefix: 'b',
    states: ['active'],
    name: { schema: bucketName, isUnique: true, isFixed: true },
    quotas: { buckets: 100 },
    input: {},
    changes: {},
    create: () => ({ state: 'active', fields: {} }),
    remove: ({ id }, transaction) => {
      if (store.isEmpty(id, transaction)) return 'gone';
      throw new CloudError('InUse', `bucket ${id} is not empty`);
    },
    subresources: {
      objects: {
        methods: ['GET', 'HEAD', 'PUT', 'DELETE'],
        isRaw: true,
        hasRest: true,
        signer: ({ id, method, rest, query }) =>
          signerOf(urlKey(), { method, bucketId: id, key: keyInPath(rest) }, query, services.clock.now()),
        serve: async ({ id }, request) => {
          if (request.rest === '' && request.method === 'GET') return objectPage(store, id, request.query);
          return await served(store, id, request);
        },
      },
      presign: {
        methods: ['POST'],
        serve: async ({ id }, request) => presigned(services, urlKey(), id, request),
      },
    },
    seed: (transaction) => {
      if (transaction.peek(KEYS, 'key') === undefined)
        transaction.place(KEYS, 'key', { key: `${services.real.uuid()}${services.real.uuid()}` });
      store.sweep();
    },
  });
};

async function served(store: ObjectStore, bucketId: string, request: SubresourceRequest): Promise<CloudAnswer> {
  const place = { bucketId, key: keyInPath(request.rest) };
  switch (request.method) {
    case 'PUT': {
      const { stream, signal, headers } = request;
      const contentType = headers['content-type'] ?? 'application/octet-stream';
      const check = (transaction: Parameters<ObjectStore['isEmpty']>[1]) =>
        void transaction.demand(BUCKETS, bucketId);
      const object = await store.put(place, { stream, contentType, signal, check });
      return { status: 200, headers: { etag: etagOf(object) }, body: objectView(place.key, object) };
    }
    case 'DELETE':
      await store.delete(place);
      return { status: 202 };
    default: {
      const object = store.get(place);
      if (object === undefined)
        throw notFound(`object ${textOfKey(place.key) ?? request.rest} in bucket ${bucketId}`);
      const headers = {
        etag: etagOf(object),
        'content-type': object.contentType,
        'content-length': String(object.sizeBytes),
        'last-modified': new Date(object.updatedAt).toUTCString(),
      };
      return { status: 200, headers, stream: () => store.read(object) };
    }
  }
}

function objectPage(store: ObjectStore, bucketId: string, query: URLSearchParams): CloudAnswer {
  const stranger = [...query.keys()].find((key) => !PARAMETERS.includes(key));
  if (stranger !== undefined)
    throw new CloudError('UnknownField', `there is no parameter ${stranger}: known are ${PARAMETERS.join(', ')}`, {
      target: stranger,
    });
  const limit = limitOf(query.get('limit'));
  const after = Buffer.from(query.get('pageToken') ?? '', 'base64url');
  const found = store.list(bucketId, Buffer.from(query.get('prefix') ?? ''), after);
  const shown = found.slice(0, limit);
  const last = shown.at(-1)?.[0];
  const items = shown.map(([key, object]) => objectView(key, object));
  if (last === undefined || shown.length === found.length) return { status: 200, body: { items } };
  return { status: 200, body: { items, nextPageToken: last.toString('base64url') } };
}

function presigned(
  { clock }: CloudServices,
  urlKey: string,
  bucketId: string,
  { body, caller, headers }: SubresourceRequest,
): CloudAnswer {
  const { method, key, keyBase64, expiresSeconds } = checked(presignSchema, body ?? {});
  if ((key === undefined) === (keyBase64 === undefined))
    throw invalidArgument('key', 'key: exactly one of key and keyBase64 is needed');
  // Nobody may give away what it may not do itself; that it may write is known already.
  if (method === 'GET' || method === 'HEAD') requireScope(caller.scopes, BUCKETS.plural, 'read');
  const bytes = keyOf(key === undefined ? Buffer.from(keyBase64 ?? '', 'base64') : Buffer.from(key));
  const expiresAt = new Date((Math.floor(clock.now().getTime() / 1000) + expiresSeconds) * 1000);
  const query = signedQuery(urlKey, { method, bucketId, key: bytes, caller, expiresAt });
  const url = `http://${headers['host']}/v1/buckets/${bucketId}/objects/${pathOfKey(bytes)}?${query}`;
  return { status: 201, body: { url, method, expiresAt: expiresAt.toISOString() } };
}

const etagOf = ({ sha256 }: StoredObject): string => `"${sha256}"`;

/** Keys are bytes; most are text, and then told as such. */
function objectView(key: Buffer, { sha256, sizeBytes, contentType, updatedAt }: StoredObject) {
  const text = textOfKey(key);
  const keyBase64 = key.toString('base64');
  return { ...(text !== undefined && { key: text }), keyBase64, sha256, sizeBytes, contentType, updatedAt };
}
