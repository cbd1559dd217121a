import { Pod } from '../../../api/generated/core-v1.ts';
import { type CreateOf, type KubeObject, keyOf } from '../../../api/object.ts';
import { messageOf } from '../../../base/errors.ts';
import { ApiError, isLeadershipLost } from '../../../kube/client/api-error.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';

type Tools = Pick<ReconcileContext, 'client' | 'events' | 'signal'>;

/** A pod before the server gives it a name. */
export type NewPod = Omit<CreateOf<Pod>, 'metadata'> & {
  readonly metadata: Partial<Pod['metadata']> & { readonly generateName: string };
};

/** Nothing can be made in a namespace that goes: no reason to complain, nor to try again. */
export const isNamespaceTerminating = (thrown: unknown): boolean =>
  thrown instanceof ApiError &&
  (thrown.details.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');

/**
 * Makes a pod and tells so, in events about its owner; a failure is told and thrown (W15). Each event refers to its pod,
 * so that it is not counted as another occurrence of the one before.
 */
export async function createPod(pod: NewPod, owner: KubeObject, { client, events, signal }: Tools): Promise<Pod> {
  try {
    const created = await client.create(Pod, { ...pod, metadata: { name: '', ...pod.metadata } }, { signal });
    events.normal(owner, 'SuccessfulCreate', `Created pod: ${created.metadata.name}`, { related: created });
    return created;
  } catch (error) {
    if (!isNamespaceTerminating(error) && !isLeadershipLost(error)) {
      events.warning(owner, 'FailedCreate', `Error creating: ${messageOf(error)}`);
    }
    throw error;
  }
}

/** Deletes a pod and tells so; a failure is told and thrown. One that is gone already is a success. */
export async function deletePod(pod: Pod, owner: KubeObject, { client, events, signal }: Tools): Promise<void> {
  const { name, uid } = pod.metadata;
  try {
    await client.delete(Pod, keyOf(pod), { signal, ...(uid !== undefined && { preconditions: { uid } }) });
    events.normal(owner, 'SuccessfulDelete', `Deleted pod: ${name}`, { related: pod });
  } catch (error) {
    if (!isLeadershipLost(error)) events.warning(owner, 'FailedDelete', `Error deleting: ${messageOf(error)}`);
    throw error;
  }
}
