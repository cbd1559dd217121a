import type { KubeObject } from '../../api/object.ts';
import type { ApplyOptions, KubeClient } from '../client/kube-client.ts';
import type { RestMapper } from '../client/rest-mapper.ts';

/**
 * Applies an object of a kind that is known only from its apiVersion and kind (A6). Rejects with an ApiError that
 * `isNoMatch` when the server has no such kind; applying the same again changes nothing.
 */
export async function applyObject(
  { client, mapper }: { readonly client: KubeClient; readonly mapper: RestMapper },
  object: KubeObject,
  options?: ApplyOptions,
): Promise<KubeObject> {
  return client.apply(await mapper.kindFor(object), object, options);
}
