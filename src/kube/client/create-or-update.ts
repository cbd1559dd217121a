import type { JsonObject } from '../../api/json.ts';
import {
  apiVersionOf,
  type Kind,
  type KubeObject,
  keyText,
  type Mutable,
  type ObjectKey,
} from '../../api/object.ts';
import { terminalError } from '../../base/errors.ts';
import { mutable } from '../../object/mutable.ts';
import { semanticEqual } from '../../object/semantic-equality.ts';
import { isAlreadyExists } from './api-error.ts';
import type { KubeClient } from './kube-client.ts';
import { isEmptyPatch, mergeFrom } from './patches.ts';

export type WriteResult = 'created' | 'updated' | 'updatedStatus' | 'updatedStatusOnly' | 'unchanged';

export interface Written<T> {
  readonly object: T;
  readonly result: WriteResult;
}

/** Changes the draft in place. May be called twice, with another draft. */
export type Mutate<T extends KubeObject> = (draft: Mutable<T>) => void | Promise<void>;

type Store<T extends KubeObject> = (existing: T, draft: T) => Promise<Written<T>>;

/**
 * Reads an object, lets `mutate` change a copy and writes it where it differs; creates it where there is none. Status is
 * left to `createOrPatch`. A conflict is thrown: the reconcile starts over with what is there then. When somebody else
 * created it in between, or it came from a cache, it is read from the server before it is updated.
 */
export function createOrUpdate<T extends KubeObject, I>(
  client: KubeClient,
  kind: Kind<T, I>,
  key: ObjectKey,
  mutate: Mutate<T>,
): Promise<Written<T>> {
  const store: Store<T> = async (existing, draft) => {
    const isSame = semanticEqual(jsonOf(without(existing, 'status')), jsonOf(without(draft, 'status')));
    if (isSame) return { object: existing, result: 'unchanged' };
    if (!Object.isFrozen(existing)) return { object: await client.update(kind, draft), result: 'updated' };
    // A cache keeps less than the server has (I11), and an update would take away what is missing.
    const whole = await client.live.get(kind, key);
    return store(whole, await mutated(whole, mutate));
  };
  return createOr({ client, kind, key }, mutate, store);
}

/** The same with merge patches, which touch only what changed: one for the object, one for its status. */
export function createOrPatch<T extends KubeObject, I>(
  client: KubeClient,
  kind: Kind<T, I>,
  key: ObjectKey,
  mutate: Mutate<T>,
): Promise<Written<T>> {
  return createOr({ client, kind, key }, mutate, async (existing, draft) => {
    const spec = mergeFrom(without(existing, 'status'), without(draft, 'status'));
    const status = mergeFrom(only(existing, 'status'), only(draft, 'status'));
    let object = existing;
    if (!isEmptyPatch(spec)) object = await client.patch(kind, key, spec);
    if (!isEmptyPatch(status)) object = await client.patch(kind, key, status, { subresource: 'status' });
    return { object, result: patchResult(!isEmptyPatch(spec), !isEmptyPatch(status)) };
  });
}

function patchResult(isSpec: boolean, isStatus: boolean): WriteResult {
  if (isSpec) return isStatus ? 'updatedStatus' : 'updated';
  return isStatus ? 'updatedStatusOnly' : 'unchanged';
}

interface Target<T extends KubeObject, I> {
  readonly client: KubeClient;
  readonly kind: Kind<T, I>;
  readonly key: ObjectKey;
}

async function createOr<T extends KubeObject, I>(
  { client, kind, key }: Target<T, I>,
  mutate: Mutate<T>,
  store: Store<T>,
): Promise<Written<T>> {
  const existing = await client.find(kind, key);
  if (existing !== undefined) return store(existing, await mutated(existing, mutate));
  const fresh = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { ...key } };
  const draft = await mutated(fresh as unknown as T, mutate);
  try {
    return { object: await client.create(kind, draft as unknown as I), result: 'created' };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const found = await client.live.get(kind, key);
  return store(found, await mutated(found, mutate));
}

async function mutated<T extends KubeObject>(object: T, mutate: Mutate<T>): Promise<T> {
  const draft = mutable(object);
  await mutate(draft);
  const { name, namespace } = (draft as unknown as T).metadata;
  if (name !== object.metadata.name || (namespace ?? '') !== (object.metadata.namespace ?? '')) {
    const message = `the change renames ${object.kind} ${keyText(object.metadata)} to ${keyText({ name, ...(namespace !== undefined && { namespace }) })}`;
    throw terminalError('KeyChanged', `${message}; name and namespace must stay`);
  }
  return draft as unknown as T;
}

const jsonOf = (object: KubeObject): JsonObject => object as unknown as JsonObject;

function without<T extends KubeObject>(object: T, member: string): KubeObject {
  const { [member]: _left, ...rest } = jsonOf(object);
  return rest as unknown as KubeObject;
}

const only = <T extends KubeObject>({ apiVersion, kind, metadata, ...rest }: T, member: string): KubeObject =>
  ({
    apiVersion,
    kind,
    metadata: { name: metadata.name },
    [member]: jsonOf(rest as unknown as KubeObject)[member],
  }) as unknown as KubeObject;
