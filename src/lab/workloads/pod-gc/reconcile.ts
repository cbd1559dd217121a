import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { keyOf, type ObjectKey } from '../../../api/object.ts';
import { isNotFound } from '../../../kube/client/api-error.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { type Disruption, disruptionMarks } from '../pods/disruption-mark.ts';
import { hasEnded } from '../pods/pod-state.ts';
import { isUnscheduled, orphansOf, QUARANTINE_MS, strandedOn } from './orphan-rules.ts';

const DISRUPTION: Disruption = { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' };

/** Removes pods that no kubelet will ever remove (W38). Keys with a namespace are pods, others are nodes. */
export class PodGc {
  /** Since when nodes with pods are missing; an entry goes when the node comes or the last pod goes. */
  readonly #missingMs = new Map<string, number>();

  async reconcile(key: ObjectKey, context: ReconcileContext): Promise<Result> {
    if (key.namespace === undefined) return this.#node(key.name, context);
    const { client, signal } = context;
    const pod = await client.find(Pod, key, { signal });
    if (pod !== undefined && isUnscheduled(pod)) await remove(pod, undefined, context);
    return DONE;
  }

  async #node(name: string, context: ReconcileContext): Promise<Result> {
    const { client, signal, now } = context;
    const { items: pods } = await client.list(Pod, { signal });
    const node = await client.find(Node, { name }, { signal });
    const orphans = orphansOf(name, pods);
    if (node !== undefined || orphans.length === 0) {
      this.#missingMs.delete(name);
      const stranded = node === undefined ? [] : strandedOn(node, pods);
      for (const pod of stranded) await remove(pod, undefined, context);
      return DONE;
    }
    const sinceMs = this.#missingMs.get(name) ?? now().getTime();
    this.#missingMs.set(name, sinceMs);
    const leftMs = sinceMs + QUARANTINE_MS - now().getTime();
    if (leftMs > 0) return after(leftMs);
    // A cache that is behind must not cost a node its pods.
    if ((await client.live.find(Node, { name }, { signal })) !== undefined) return after(QUARANTINE_MS);
    for (const pod of orphans) await remove(pod, DISRUPTION, context);
    return DONE;
  }
}

/** Ends a pod on behalf of a kubelet that is not there: first it is said, and then it goes. */
async function remove(
  pod: Pod,
  disruption: Disruption | undefined,
  { client, signal, now }: ReconcileContext,
): Promise<void> {
  const key = keyOf(pod);
  const { uid = '' } = pod.metadata;
  const conditions = disruption === undefined ? [] : disruptionMarks(pod, disruption, now());
  // Both for this very pod, not for one of the same name.
  const body = { metadata: { uid }, status: { phase: 'Failed', conditions } };
  try {
    if (!hasEnded(pod))
      await client.patch(Pod, key, { type: 'strategic', body }, { subresource: 'status', signal });
    await client.delete(Pod, key, { gracePeriodSeconds: 0, signal, preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
