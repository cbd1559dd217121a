import { createHash } from 'node:crypto';
import { Node, type NodeCondition, type NodeStatus } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { time } from '../../../api/time.ts';
import { isAlreadyExists, isNotFound } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { basicFacts, type SystemFacts } from '../../node/registration/node-facts.ts';
import { type NodeSettings, newNode } from '../../node/registration/node-object.ts';
import { nodeStatus } from '../../node/registration/node-status.ts';
import type { WorkloadNode, WorkloadWish } from './workload-clusters.ts';
import { nodeSettings } from './workload-node.ts';

/** What admission adds to new Nodes, and a controller takes away that is not here. */
const NOT_READY = 'node.kubernetes.io/not-ready';

export interface PretendNode {
  readonly node: WorkloadNode;
  readonly wish: WorkloadWish;
  readonly now: Date;
}

/** Registers a node of which there is nothing but its object, ready. One that is there already gets ready again. */
export async function registerPretendNode(client: KubeClient, { node, wish, now }: PretendNode): Promise<void> {
  const settings: NodeSettings = { ...nodeSettings(node, wish), address: addressOf(node) };
  const system = systemOf(node);
  const facts = basicFacts({ system });
  const status = nodeStatus({ settings, facts, version: { major: '1', minor: '0' }, now });
  const desired = newNode(settings, system);
  try {
    await client.create(Node, { ...desired, status });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await writeStatus(client, node.name, status);
  }
  const { spec } = await client.live.get(Node, { name: node.name });
  const taints = (spec.taints ?? []).filter(({ key }) => key !== NOT_READY);
  if (taints.length === (spec.taints ?? []).length) return;
  const body = { spec: { taints: taints.map((taint) => ({ ...taint })) } };
  await client.patch(Node, { name: node.name }, { type: 'merge', body });
}

/** Nothing is heard of the node any more. Its object stays, if it is there. */
export async function loseNode(client: KubeClient, name: string, now: Date): Promise<void> {
  const node = await client.live.find(Node, { name });
  if (node === undefined) return;
  const conditions = (node.status?.conditions ?? []).map((condition) => unheard(condition, now));
  try {
    await writeStatus(client, name, { conditions });
  } catch (error) {
    // Somebody removed it at the same moment.
    if (!isNotFound(error)) throw error;
  }
}

const unheard = (condition: NodeCondition, now: Date): NodeCondition => ({
  ...condition,
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
  lastTransitionTime: condition.status === 'Unknown' ? (condition.lastTransitionTime ?? time(now)) : time(now),
});

const writeStatus = async (client: KubeClient, name: string, status: NodeStatus): Promise<void> => {
  // What it is made of goes to JSON as it is.
  const body = { status } as unknown as JsonObject;
  await client.patch(Node, { name }, { type: 'merge', body }, { subresource: 'status' });
};

const digestOf = ({ hostId }: WorkloadNode): Buffer => createHash('sha256').update(hostId).digest();

/** The same at every start: nobody reaches it. */
function addressOf(node: WorkloadNode): { readonly api: string; readonly wire: string } {
  const [a = 0, b = 0] = digestOf(node);
  return { api: `198.18.${a}.${b}`, wire: `198.18.${a}.${b}` };
}

const systemOf = (node: WorkloadNode): SystemFacts => ({
  architecture: node.architecture,
  operatingSystem: 'linux',
  kernelVersion: '5.14.0',
  bootID: digestOf(node).toString('hex').slice(0, 32),
  machineID: digestOf(node).toString('hex').slice(32),
  systemUUID: node.hostId,
});
