import type { JsonObject } from '../../object/json.ts';
import { metadataOf } from '../request.ts';
import { entityTooLarge, internalError } from '../status.ts';
import { type Render, StoreUnavailable } from '../store/store.ts';

/** Largest object we store (H4): etcd's default limit of a request, which is what users know. */
const LARGEST_OBJECT = 1_572_864;

/**
 * Refuses an object that is too large to store. As upstream, managedFields are given up first, because a client can
 * do nothing about their size; an apply keeps them, they are its purpose.
 */
export function refuseLarge(render: Render, object: JsonObject, isApply = false): Render {
  return (revision) => {
    const bytes = render(revision);
    if (bytes.length <= LARGEST_OBJECT) return bytes;
    const metadata = metadataOf(object);
    if (!isApply && metadata['managedFields'] !== undefined) {
      delete metadata['managedFields'];
      const lean = render(revision);
      if (lean.length <= LARGEST_OBJECT) return lean;
    }
    throw entityTooLarge(
      `Request entity too large: the object is ${bytes.length} bytes, the limit is ${LARGEST_OBJECT}`,
    );
  };
}

/** What a client is told when the store cannot write (reliability P7): the store's own words. */
export const storeErrors = (error: unknown): unknown =>
  error instanceof StoreUnavailable ? internalError(error.message) : error;
