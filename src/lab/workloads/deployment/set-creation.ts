import { type Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import type { CreateOf } from '../../../api/object.ts';
import { isAlreadyExists } from '../../../kube/client/api-error.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { isControlledBy } from '../../../object/owner-references.ts';
import { isNamespaceTerminating } from '../pods/pod-writes.ts';
import { isSameTemplate } from './rollout.ts';

/** What came of making a ReplicaSet (W5). */
export type SetCreation =
  | { readonly outcome: 'created' | 'found'; readonly set: ReplicaSet }
  /** Another one has the name: two templates have the same hash. */
  | { readonly outcome: 'collision' }
  /** The namespace goes: nothing can be made there, and nobody will miss it. */
  | { readonly outcome: 'terminating' };

/** Makes a ReplicaSet of a Deployment, or finds that it is there; other failures are thrown. */
export async function createSet(
  deployment: Deployment,
  wanted: CreateOf<ReplicaSet, 'spec'>,
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
): Promise<SetCreation> {
  try {
    return { outcome: 'created', set: await client.create(ReplicaSet, wanted, { signal }) };
  } catch (error) {
    if (isNamespaceTerminating(error)) return { outcome: 'terminating' };
    if (!isAlreadyExists(error)) throw error;
    const { name, namespace } = wanted.metadata;
    const key = { name, ...(namespace !== undefined && { namespace }) };
    // From the server: a cache that knew of it would have had it among the sets.
    const set = await client.live.find(ReplicaSet, key, { signal });
    if (set === undefined) throw error;
    const isOurs =
      isControlledBy(set, deployment) && isSameTemplate(set.spec.template ?? {}, deployment.spec.template);
    return isOurs ? { outcome: 'found', set } : { outcome: 'collision' };
  }
}
