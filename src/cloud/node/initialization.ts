import { Node } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { isNotFound } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { PresentInstance } from '../../sdk/capabilities/instances.ts';
import { untilNoConflict } from '../conflict-attempts.ts';
import { initializedNode, isUninitialized } from './desired.ts';

const ATTEMPTS = 20;
const PAUSE_MS = 50;

export interface Initialization {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Writes provider ID, labels and taints of a Node in one update (N11). What others wrote meanwhile is kept: the update is
 * made again from that. Resolves to the Node as it was written; undefined when it is gone, is another one by now, or was
 * initialised by somebody else. Throws a NodeProblem when it must stay as it is.
 */
export async function initialize(
  { client, clock, log, signal }: Initialization,
  node: Node,
  instance: PresentInstance,
): Promise<Node | undefined> {
  let current = await whole(client, node, signal);
  const write = async (attempt: number): Promise<Node | undefined> => {
    if (attempt > 1 && current !== undefined) current = await newer(client, current, signal);
    if (current === undefined || !isSameNode(current, node) || !isUninitialized(current)) return undefined;
    const { node: wanted, refusedLabels } = initializedNode(current, instance);
    if (refusedLabels.length > 0 && attempt === 1)
      log.warn({ labels: refusedLabels }, 'Left out labels of the provider that are reserved or set already');
    return await client.update(Node, wanted, { signal });
  };
  try {
    return await untilNoConflict({ most: ATTEMPTS, pauseMs: PAUSE_MS, clock, signal }, write);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Not another one that was made under the same name. */
export const isSameNode = (one: Node, other: Node): boolean => one.metadata.uid === other.metadata.uid;

/**
 * A cache that leaves out managed fields leaves out an annotation too, which an update would then delete; so a Node
 * without them is read from the server.
 */
export const whole = async (client: KubeClient, node: Node, signal: AbortSignal): Promise<Node | undefined> =>
  node.metadata.managedFields === undefined ? client.live.find(Node, keyOf(node), { signal }) : node;

/** From the cache, unless that has not heard of the write which was in the way. */
async function newer(client: KubeClient, stale: Node, signal: AbortSignal): Promise<Node | undefined> {
  const cached = await client.find(Node, keyOf(stale), { signal });
  if (cached === undefined) return undefined;
  if (cached.metadata.resourceVersion === stale.metadata.resourceVersion)
    return client.live.find(Node, keyOf(stale), { signal });
  return whole(client, cached, signal);
}
