import { Pod } from '../../../api/generated/core-v1.ts';
import { keyFromText } from '../../../api/object.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { isTold, type Unscheduled, unscheduledCondition } from './pod-condition.ts';

/** A pod is to be told why it has no node. */
export interface Notice extends Unscheduled {
  readonly type: 'notice';
  readonly uid: string;
  readonly key: string;
  /** Keys of the taints behind the message (K4). */
  readonly taints: readonly string[];
}

/** Writes the condition and the event with the same words, unless the pod has them or needs them no more (K3). */
export async function tell(notice: Notice, context: ReconcileContext): Promise<void> {
  const { client, events, log, signal, now } = context;
  const { uid, taints, message } = notice;
  const key = keyFromText(notice.key);
  const pod = await client.find(Pod, key, { signal });
  if (pod === undefined || pod.metadata.uid !== uid || (pod.spec.nodeName ?? '') !== '') return;
  if (pod.metadata.deletionTimestamp !== undefined || isTold(pod, notice)) return;
  const body = { metadata: { uid }, status: { conditions: [unscheduledCondition(pod, notice, now())] } };
  await client.patch(Pod, key, { type: 'strategic', body }, { subresource: 'status', signal });
  events.warning(pod, 'FailedScheduling', message, { action: 'Scheduling' });
  if (taints.length > 0) log.info({ taints: taints.join(', ') }, 'Taints keep the pod from nodes');
}
