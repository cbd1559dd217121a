import type { JsonObject } from '../../src/object/json.ts';
import { type Cause, NAMESPACE, sentObject, textOf } from './builtin-cases.ts';
import type { OracleRequests } from './oracle-requests.ts';

const MERGE = { 'content-type': 'application/merge-patch+json' };

/** A namespace whose pods get no token volume: its name is random. */
export async function prepareNamespace(oracle: OracleRequests): Promise<void> {
  await oracle.send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const account = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`;
  for (let attempt = 0; attempt < 200; attempt++) {
    const { status } = await oracle.send('PATCH', account, { automountServiceAccountToken: false }, MERGE);
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`namespace ${NAMESPACE} got no ServiceAccount`);
}

export const collectionOf = (oracle: OracleRequests, object: JsonObject): Promise<string> =>
  oracle.collectionOf(textOf(object, 'apiVersion'), textOf(object, 'kind'), NAMESPACE);

export const causesOf = (status: JsonObject): readonly Cause[] => {
  const details = status['details'] as { causes?: readonly Cause[] } | undefined;
  return details?.causes ?? [];
};

export interface Change {
  readonly change: JsonObject;
  readonly subresource?: string;
}

interface Updated {
  readonly stored: JsonObject;
  readonly sent: JsonObject;
  readonly causes: readonly Cause[];
  /** What would be stored; only without causes. */
  readonly result: JsonObject;
}

/** Stores an object, sends a changed one in its place as a dry run, and removes it again. */
export async function updateTheirs(
  oracle: OracleRequests,
  old: JsonObject,
  { change, subresource = '' }: Change,
): Promise<Updated> {
  const object = sentObject(old);
  const collection = await collectionOf(oracle, object);
  const created = await oracle.send('POST', collection, object);
  if (created.status !== 201) throw new Error(`not created: ${JSON.stringify(created.body)}`);
  const { name } = created.body['metadata'] as { name: string };
  const path = `${collection}/${name}`;
  try {
    return await putOver({ oracle, path, created: created.body, change, subresource });
  } finally {
    await oracle.send('DELETE', path, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
    await oracle.send('PATCH', path, { metadata: { finalizers: null } }, MERGE);
  }
}

interface Put extends Required<Change> {
  readonly oracle: OracleRequests;
  readonly path: string;
  readonly created: JsonObject;
}

async function putOver({ oracle, path, created, change, subresource }: Put): Promise<Updated> {
  const target = `${subresource === '' ? path : `${path}/${subresource}`}?dryRun=All`;
  let stored = created;
  let answer = await oracle.send('PUT', target, merged(stored, change));
  // Controllers look at new objects too, and may have been faster.
  for (let attempt = 0; answer.status === 409 && attempt < 10; attempt++) {
    stored = (await oracle.send('GET', path)).body;
    answer = await oracle.send('PUT', target, merged(stored, change));
  }
  const { status, body } = answer;
  const causes = status === 200 ? [] : causesOf(body);
  if (status !== 200 && causes.length === 0) throw new Error(`not refused by rule: ${JSON.stringify(body)}`);
  return { stored, sent: merged(stored, change), causes, result: body };
}

/** Keys of the change replace those of the object, one level deeper inside `spec` and `metadata`; null removes. */
function merged(object: JsonObject, change: JsonObject): JsonObject {
  const result = { ...object };
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key];
    else if (key === 'spec' || key === 'metadata')
      result[key] = merged((result[key] ?? {}) as JsonObject, value as JsonObject);
    else result[key] = value;
  }
  return result;
}
