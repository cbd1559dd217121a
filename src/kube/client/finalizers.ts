import { type Kind, type KubeObject, keyOf, keyText } from '../../api/object.ts';
import { retryError } from '../../base/errors.ts';
import { isConflict, isNotFound } from './api-error.ts';
import type { LiveReader, Writer } from './kube-client.ts';
import { undefinedWhenMissing } from './live-reader.ts';

const MOST_ATTEMPTS = 5;

interface Finalizing {
  readonly patch: Writer['patch'];
  readonly live: LiveReader;
}

/**
 * Puts a finalizer on an object. No write when it is there, none when the object is being deleted. The write holds the
 * version it was made for; when somebody else was faster, the newest state is read and asked again.
 */
export async function addFinalizer<T extends KubeObject, I>(
  client: Finalizing,
  kind: Kind<T, I>,
  object: T,
  finalizer: string,
): Promise<T> {
  let current = await versioned(client, kind, object);
  for (let attempt = 1; ; attempt++) {
    const { finalizers = [], deletionTimestamp } = current.metadata;
    if (deletionTimestamp !== undefined || finalizers.includes(finalizer)) return current;
    try {
      return await writeFinalizers(client, kind, current, [...finalizers, finalizer]);
    } catch (error) {
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
    }
    current = await client.live.get(kind, keyOf(object));
    if (isAnother(current, object)) {
      // What the caller knows is of an object that is gone; the next event tells of the new one.
      const message = `${kind.kind} ${keyText(keyOf(object))} was replaced by another object of the same name`;
      throw retryError('ObjectReplaced', message);
    }
  }
}

/** Takes a finalizer from an object. No write when it is not there; an object that is gone, or replaced, is a success. */
export async function removeFinalizer<T extends KubeObject, I>(
  client: Finalizing,
  kind: Kind<T, I>,
  object: T,
  finalizer: string,
): Promise<void> {
  let current: T | undefined = await undefinedWhenMissing(versioned(client, kind, object));
  for (let attempt = 1; current !== undefined; attempt++) {
    const { finalizers = [] } = current.metadata;
    if (!finalizers.includes(finalizer)) return;
    try {
      await writeFinalizers(
        client,
        kind,
        current,
        finalizers.filter((name) => name !== finalizer),
      );
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
    }
    current = await client.live.find(kind, keyOf(object));
    if (current !== undefined && isAnother(current, object)) return;
  }
}

const isAnother = (current: KubeObject, known: KubeObject): boolean =>
  known.metadata.uid !== undefined && current.metadata.uid !== known.metadata.uid;

/** Without a version nothing would guard the write. */
const versioned = async <T extends KubeObject, I>(client: Finalizing, kind: Kind<T, I>, object: T): Promise<T> =>
  object.metadata.resourceVersion === undefined ? client.live.get(kind, keyOf(object)) : object;

function writeFinalizers<T extends KubeObject, I>(
  client: Finalizing,
  kind: Kind<T, I>,
  object: T,
  finalizers: string[],
): Promise<T> {
  const { resourceVersion, uid } = object.metadata;
  const body = {
    metadata: {
      finalizers: finalizers.length === 0 ? null : finalizers,
      // A list is replaced whole: never without knowing what was in it.
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(uid !== undefined && { uid }),
    },
  };
  return client.patch(kind, keyOf(object), { type: 'merge', body });
}
