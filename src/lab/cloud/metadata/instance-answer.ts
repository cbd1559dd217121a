import { Readable } from 'node:stream';
import type { Json } from '../../../object/json.ts';
import { notFound } from '../cloud-error.ts';
import type { CloudAnswer } from '../http/cloud-answer.ts';
import type { InstanceFacts } from './metadata-caller.ts';

/** Pure: what is told under a path below `/v1` (C28). Refuses paths that are not there. */
export function instanceAnswer(facts: InstanceFacts, path: string): CloudAnswer {
  if (path === '/v1/userdata') {
    if (facts.userData === undefined) throw notFound(`user data of instance ${facts.id}`);
    return bytesAnswer(facts.userData, 'application/octet-stream');
  }
  const document = documentOf(facts);
  if (path === '/v1/instance') return { status: 200, body: document };
  const [, field = ''] = /^\/v1\/instance\/([a-z]+)$/.exec(path) ?? [];
  const value = Object.hasOwn(document, field) ? document[field] : undefined;
  if (value === undefined)
    throw notFound(
      `${path} here; known are /v1/instance, /v1/instance/{${Object.keys(document).join(',')}}, /v1/userdata, /v1/credentials, /v1/token and /v1/egress`,
    );
  return typeof value === 'string'
    ? bytesAnswer(Buffer.from(value), 'text/plain; charset=utf-8')
    : { status: 200, body: value };
}

function documentOf({ id, hostname, zone, type, addresses, tags }: InstanceFacts): Record<string, Json> {
  return { id, hostname, zone, type, addresses: addresses.map((address) => ({ ...address })), tags: { ...tags } };
}

export const bytesAnswer = (bytes: Buffer, type: string): CloudAnswer => ({
  status: 200,
  headers: { 'content-type': type, 'content-length': String(bytes.length) },
  stream: () => Readable.from([bytes], { objectMode: false }),
});
