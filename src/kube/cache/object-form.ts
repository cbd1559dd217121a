import { apiVersionOf, type Kind, type KubeObject, type ObjectMeta } from '../../api/object.ts';
import { messageOf, retryError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isRecord } from '../../object/record.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const PARTIAL = 'PartialObjectMetadata';

export interface FormOptions {
  readonly kind: Kind;
  readonly keepManagedFields?: boolean | undefined;
  readonly metadataOnly?: boolean | undefined;
  readonly transform?: ((object: KubeObject) => KubeObject) | undefined;
  readonly log: Log;
}

/** Why an object of a list or a watch cannot be kept; undefined when it can. `kind` may be absent in items of lists. */
export function objectProblem(object: unknown, kind: Kind): string | undefined {
  if (!isRecord(object) || !isRecord(object['metadata'])) return 'an object without metadata';
  const { name, resourceVersion } = object['metadata'];
  if (typeof name !== 'string' || name === '') return 'an object without a name';
  const found = object['kind'];
  if (found !== undefined && found !== kind.kind && found !== PARTIAL) {
    return `${name} is of kind ${JSON.stringify(found)}, not ${kind.kind}`;
  }
  return typeof resourceVersion === 'string' && resourceVersion !== ''
    ? undefined
    : `${name} has no resourceVersion`;
}

/** Data that contradicts what a list or watch promises: nothing of it is kept, the server is asked again (P23). */
export const badData = (what: string): Error =>
  retryError('BadWatchEvent', `the server sent ${what}; the objects are listed again`);

/**
 * Brings objects into the form in which the cache keeps them: without what only costs memory (I11), transformed, with
 * identity, frozen at every depth. The objects must be the caller's own, for they are changed. A transform that throws
 * is logged and leaves its object as it was.
 */
export function objectForm(options: FormOptions): (object: KubeObject) => KubeObject {
  const { kind, keepManagedFields = false, metadataOnly = false, transform, log } = options;
  const identity = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const spaces = new Map<string, string>();
  const transformed = (object: KubeObject): KubeObject => {
    try {
      return transform?.(object) ?? object;
    } catch (error) {
      log.error({ err: error, name: object.metadata.name }, `transform failed: ${messageOf(error)}`);
      return object;
    }
  };
  return (object) => {
    // In one process a server may hand out what it keeps.
    const given = Object.isFrozen(object) ? { ...object, metadata: { ...object.metadata } } : object;
    const metadata = shared(keepManagedFields ? given.metadata : stripped(given.metadata), spaces);
    const whole = metadataOnly ? { ...identity, metadata } : Object.assign(given, identity, { metadata });
    return deepFrozen(transform === undefined ? whole : transformed(whole));
  };
}

/** Copies instead of deleting: V8 turns an object that lost a key into a table of twice the size. */
function stripped(metadata: ObjectMeta): ObjectMeta {
  const { managedFields, ...rest } = metadata;
  const { annotations } = rest;
  if (annotations === undefined || !Object.hasOwn(annotations, LAST_APPLIED)) {
    return managedFields === undefined ? metadata : rest;
  }
  const { [LAST_APPLIED]: _, ...kept } = annotations;
  return { ...rest, annotations: kept };
}

/** One text per namespace instead of one per object. Holds as many as there were namespaces with objects. */
function shared(metadata: ObjectMeta, spaces: Map<string, string>): ObjectMeta {
  const { namespace } = metadata;
  if (namespace === undefined) return metadata;
  const known = spaces.get(namespace);
  if (known === undefined) spaces.set(namespace, namespace);
  return known === undefined ? metadata : Object.assign(metadata, { namespace: known });
}

/** The same object, with every part of it frozen. */
export function deepFrozen<T extends object>(value: T): T {
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const part of parts) {
    if (typeof part === 'object' && part !== null) deepFrozen(part);
  }
  return Object.freeze(value);
}
