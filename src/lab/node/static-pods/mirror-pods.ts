import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { keyOf, keyText, type ObjectKey } from '../../../api/object.ts';
import { isAlreadyExists } from '../../../kube/client/api-error.ts';
import type { ChannelSource } from '../../../kube/controller/channel.ts';
import { type Controller, controllerOf } from '../../../kube/controller/controller.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { isMirrorOn, mirrorOf, mirrorStep } from './mirror-pod.ts';
import type { StaticPodSource } from './static-pod-source.ts';

export interface MirrorPodsOptions {
  /** The name of the node. */
  readonly node: string;
  readonly source: StaticPodSource;
}

/** How long until the Node object is looked for again: the node registers when it can. */
const NODE_WAIT_MS = 5_000;

/**
 * Shows the static pods of a node in the API (N38): makes their mirrors, makes them anew when somebody deletes them or
 * their content changes, and removes those whose file is gone. The pods themselves do not depend on it.
 */
export function mirrorPods({ node, source }: MirrorPodsOptions): Controller {
  const isWanted = (key: string) => source.pods().some((pod) => keyText(keyOf(pod)) === key);
  return controllerOf('mirror-pods')
    .watches(Pod, (pod) => (isMirrorOn(pod, node) || isWanted(keyText(keyOf(pod))) ? [keyOf(pod)] : []))
    .watchesChannel(keysOf(source))
    .needs(needs(Pod, ['create', 'delete']), needs(Node, ['get'], { names: [node] }))
    .reconcileKeys(async (key, context) => {
      const wanted = source.pods().find((pod) => keyText(keyOf(pod)) === keyText(key));
      const step = mirrorStep(wanted, await context.client.find(Pod, key), node);
      switch (step.kind) {
        case 'none':
          return DONE;
        case 'taken':
          context.log.changed('taken', true, 'Another pod has the name of a static pod');
          return DONE;
        case 'delete':
          return await removeMirror(step.mirror, context);
        case 'create':
          return await createMirror(step.pod, node, context);
      }
    });
}

/** At once: the kubelet that could end it gracefully does not look at it. What comes next is told by the watch. */
async function removeMirror(mirror: Pod, { client }: ReconcileContext): Promise<Result> {
  const { uid } = mirror.metadata;
  const options = { gracePeriodSeconds: 0, ...(uid !== undefined && { preconditions: { uid } }) };
  await client.delete(Pod, keyOf(mirror), options);
  return DONE;
}

async function createMirror(pod: Pod, nodeName: string, { client, log }: ReconcileContext): Promise<Result> {
  // Always the newest: a mirror that is owned by a Node of the past is removed at once.
  const node = await client.live.find(Node, { name: nodeName });
  if (node === undefined) return after(NODE_WAIT_MS);
  try {
    await client.create(Pod, mirrorOf(pod, node));
    log.info({ Pod: keyOf(pod) }, 'Created mirror pod');
  } catch (error) {
    // The watch will show whose it is.
    if (!isAlreadyExists(error)) throw error;
  }
  return DONE;
}

/** The keys of static pods: all at the start, then those that come, change and go. */
const keysOf = (source: StaticPodSource): ChannelSource => ({
  subscribe(listener) {
    let known = new Map<string, ObjectKey>();
    const tell = () => {
      const now = new Map(source.pods().map((pod) => [keyText(keyOf(pod)), keyOf(pod)]));
      for (const key of new Map([...known, ...now]).values()) listener(key);
      known = now;
    };
    tell();
    return source.subscribe(tell);
  },
});
