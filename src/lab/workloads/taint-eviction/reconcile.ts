import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { keyOf, keyText, type ObjectKey } from '../../../api/object.ts';
import { isNotFound } from '../../../kube/client/api-error.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { type Disruption, disruptionMarks } from '../pods/disruption-mark.ts';
import { type Fate, noExecuteTaints, podFate, type Waiting, waitingOf } from './eviction-decision.ts';

const REASON = 'TaintManagerEviction';
const DISRUPTION: Disruption = {
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/** Deletes pods from nodes whose taints they do not tolerate, or not any longer (W37). */
export class TaintEviction {
  /** By pod; an entry goes with its taint, with the eviction and with the pod. */
  readonly #waiting = new Map<string, Waiting>();

  async reconcile(key: ObjectKey, context: ReconcileContext): Promise<Result> {
    const { client, signal, now } = context;
    const pod = await client.find(Pod, key, { signal });
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return this.#forget(key);
    const fate = await this.#fate(pod, context);
    if (fate === 'stay') return this.#cancel(pod, context);
    if (fate !== 'now') {
      const waiting = waitingOf(pod, fate.afterMs, this.#waiting.get(keyText(key)), now());
      this.#waiting.set(keyText(key), waiting);
      const leftMs = waiting.dueMs - now().getTime();
      if (leftMs > 0) return after(leftMs);
    }
    await evict(pod, context);
    return this.#forget(key);
  }

  async #fate({ spec }: Pod, { client, signal }: ReconcileContext): Promise<Fate> {
    const { nodeName: name = '', tolerations } = spec;
    if (name === '') return 'stay';
    return podFate(noExecuteTaints(await client.find(Node, { name }, { signal })), tolerations);
  }

  #forget(key: ObjectKey): Result {
    this.#waiting.delete(keyText(key));
    return DONE;
  }

  #cancel(pod: Pod, { events }: ReconcileContext): Result {
    const key = keyOf(pod);
    if (this.#waiting.has(keyText(key))) events.normal(pod, REASON, `Cancelling deletion of Pod ${keyText(key)}`);
    return this.#forget(key);
  }
}

async function evict(pod: Pod, { client, events, signal, now }: ReconcileContext): Promise<void> {
  const key = keyOf(pod);
  const { uid = '' } = pod.metadata;
  const conditions = disruptionMarks(pod, DISRUPTION, now());
  // Both for this very pod, not for one of the same name.
  const body = { metadata: { uid }, status: { conditions } };
  try {
    if (conditions.length > 0)
      await client.patch(Pod, key, { type: 'strategic', body }, { subresource: 'status', signal });
    await client.delete(Pod, key, { signal, preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return;
  }
  events.normal(pod, REASON, `Marking for deletion Pod ${keyText(key)}`);
}
