import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { isTooManyRequests } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';

const MIRROR = 'kubernetes.io/config.mirror';

/** Asks the pods of a Node to go elsewhere; how many are still there. Pods of DaemonSets and of files stay. */
export async function drainNode(client: KubeClient, name: string): Promise<number> {
  const node = await client.live.find(Node, { name });
  if (node === undefined) return 0;
  if (node.spec?.unschedulable !== true)
    await client.patch(Node, { name }, { type: 'merge', body: { spec: { unschedulable: true } } });
  const { items } = await client.live.list(Pod, { fields: `spec.nodeName=${name}` });
  const leaving = items.filter(isEvictable);
  for (const pod of leaving) await evict(client, pod);
  return leaving.length;
}

function isEvictable({ metadata: { annotations = {}, ownerReferences = [] }, status }: Pod): boolean {
  if (Object.hasOwn(annotations, MIRROR)) return false;
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
  return !ownerReferences.some(({ kind, controller }) => kind === 'DaemonSet' && controller === true);
}

async function evict(client: KubeClient, pod: Pod): Promise<void> {
  if (pod.metadata.deletionTimestamp !== undefined) return;
  try {
    await client.evict(keyOf(pod));
  } catch (error) {
    // A budget says not now: it is asked again.
    if (!isTooManyRequests(error)) throw error;
  }
}
