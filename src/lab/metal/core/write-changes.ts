import type { Kind, KubeObject } from '../../../api/object.ts';
import { patcher } from '../../../kube/apply/patcher.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { orderV1beta2 } from '../../../object/condition-dialects.ts';

/**
 * Writes the parts of an object that are given, where they differ: metadata, spec, status. Conditions are written in the
 * order in which they are told; told in another order than they are kept in, they would be told for ever.
 */
export function writeChanges<T extends KubeObject, I>(
  client: KubeClient,
  kind: Kind<T, I>,
  object: T,
  changes: Partial<T>,
): Promise<T> {
  const patching = patcher(client, kind, object);
  Object.assign(patching.draft, changes);
  return patching.patch({ orderConditions: orderV1beta2 });
}
