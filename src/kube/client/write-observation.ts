import { type Kind, type KubeObject, keyOf } from '../../api/object.ts';
import type { Log } from '../../base/log.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { isRecord } from '../../object/record.ts';
import type { ApplyMemory } from './apply-memory.ts';
import type { WriteObserver } from './kube-client.ts';

/**
 * Whether the server still has an object that it has just returned. A write that takes the last finalizer from an object
 * that is being deleted returns it once more, although it is gone.
 */
function stillExists(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0 || finalizers.length > 0) return true;
  // Namespaces have finalizers of their own.
  const { spec } = object as { readonly spec?: unknown };
  return isRecord(spec) && Array.isArray(spec['finalizers']) && spec['finalizers'].length > 0;
}

/** The observer, told of what a write returned. One that throws is logged: the write has happened all the same. */
export function safeObserver(observer: WriteObserver | undefined, log: Log): WriteObserver {
  const safely = (kind: Kind, tell: () => void): void => {
    try {
      tell();
    } catch (err) {
      log.error({ err, kind: kind.kind }, 'An observer of writes failed');
    }
  };
  return {
    wrote: (kind, object) =>
      safely(kind, () => {
        if (stillExists(object)) observer?.wrote(kind, object);
        else observer?.deleted(kind, keyOf(object), object, object.metadata.uid);
      }),
    deleted: (kind, key, object, uid) =>
      safely(kind, () => {
        if (object !== undefined && isWaiting(object)) observer?.wrote(kind, object);
        else observer?.deleted(kind, key, object, uid ?? object?.metadata.uid);
      }),
  };
}

/** After a deletion: an object without a deletionTimestamp is gone at once. */
const isWaiting = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && stillExists(object);

/** Whether an answer is the object, and not a Status or what a subresource has instead. */
export const isOfKind = <T extends KubeObject, I>(
  kind: Kind<T, I>,
  answer: Json | undefined,
): answer is JsonObject =>
  isJsonObject(answer) &&
  answer['kind'] === kind.kind &&
  isJsonObject(answer['metadata']) &&
  kind.kind !== 'Status';

interface Noted {
  readonly kind: Kind;
  readonly key: { readonly namespace?: string; readonly name?: string };
  readonly options: { readonly dryRun?: boolean } | undefined;
}

/** A write after which the memory of applications knows that the object may be another one, whatever came of it. */
export async function noted<T>(
  { memory }: { readonly memory?: ApplyMemory },
  { kind, key: { name, ...scope }, options = {} }: Noted,
  writes: Promise<T>,
): Promise<T> {
  let version: string | undefined;
  try {
    const result = await writes;
    if (isOfKind(kind, result as Json)) version = (result as KubeObject).metadata.resourceVersion;
    return result;
  } finally {
    if (name !== undefined && options.dryRun !== true) memory?.wrote(kind, { name, ...scope }, version);
  }
}
