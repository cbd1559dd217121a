import { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { time } from '../../../api/time.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import { after, DONE, type Result } from '../../../kube/controller/reconcile.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { hasEnded } from '../pods/pod-state.ts';
import { DELETION_MS } from './budget-status.ts';

const CONDITION = 'DisruptionTarget';
/** A kubelet may take as long as it wants. */
const BY_KUBELET = 'TerminationByKubelet';

/** Pure: how long until a pod that was to go is taken for one that stays; undefined when it is none. */
export function staleInMs({ metadata, status }: Pod, now: Date): number | undefined {
  const condition = status?.conditions?.find(({ type }) => type === CONDITION);
  const isMarked = condition?.status === 'True' && condition.reason !== BY_KUBELET;
  if (!isMarked || metadata.deletionTimestamp !== undefined || hasEnded({ status: status ?? {} }))
    return undefined;
  return Math.max(0, Date.parse(condition.lastTransitionTime ?? '') + DELETION_MS - now.getTime() || 0);
}

/** Takes back the mark of pods that somebody wanted to delete and did not, as the disruption controller does. */
export const staleDisruptionController = (): Controller =>
  controllerFor(Pod, { name: 'stale-disruption' })
    .needs(needs(Pod, ['patch'], { subresource: 'status' }))
    .reconcile({
      async reconcile(pod, { client, now, signal }): Promise<Result> {
        const leftMs = staleInMs(pod, now());
        if (leftMs === undefined) return DONE;
        if (leftMs > 0) return after(leftMs);
        const { uid = '', resourceVersion = '' } = pod.metadata;
        const condition = { type: CONDITION, status: 'False', lastTransitionTime: time(now()) };
        const body = { metadata: { uid, resourceVersion }, status: { conditions: [condition] } };
        await client.patch(Pod, keyOf(pod), { type: 'strategic', body }, { subresource: 'status', signal });
        return DONE;
      },
    });
