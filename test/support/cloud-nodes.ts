import { Event, Node, type NodeSpec, type NodeStatus, type Taint } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { InstanceObservation } from '../../src/sdk/capabilities/instances.ts';
import type { TestEnv } from '../../src/testing/test-env.ts';

type Env = Pick<TestEnv, 'client'>;
type Readiness = 'True' | 'False' | 'Unknown';

export interface CloudNode {
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
  readonly finalizers?: readonly string[];
}

/** A Node as it is after its kubelet has registered, without the taints that admission adds. */
export async function addCloudNode(
  env: Env,
  name: string,
  { spec = {}, status = {}, finalizers = [] }: CloudNode = {},
): Promise<void> {
  await env.client.create(Node, { metadata: { name, finalizers }, spec });
  await setNodeStatus(env, name, status);
  const body = { spec: { taints: spec.taints ?? null } } as unknown as JsonObject;
  await env.client.patch(Node, { name }, { type: 'merge', body });
}

export async function setNodeStatus({ client }: Env, name: string, status: NodeStatus): Promise<void> {
  const body = { status } as unknown as JsonObject;
  await client.patch(Node, { name }, { type: 'merge', body }, { subresource: 'status' });
}

export const readiness = (status: Readiness): NodeStatus => ({ conditions: [{ type: 'Ready', status }] });

export const setNodeReady = (env: Env, name: string, status: Readiness): Promise<void> =>
  setNodeStatus(env, name, readiness(status));

export async function nodeNames({ client }: Env): Promise<readonly string[]> {
  const { items } = await client.live.list(Node);
  return items.map(({ metadata }) => metadata.name).toSorted();
}

export async function taintsOf({ client }: Env, name: string): Promise<readonly Taint[]> {
  const { spec } = await client.live.get(Node, { name });
  return spec.taints ?? [];
}

/** Events about Nodes, sorted: `Normal DeletingNode Deleting node …`. */
export async function nodeEvents({ client }: Env): Promise<readonly string[]> {
  const { items } = await client.live.list(Event);
  return items
    .filter(({ involvedObject }) => involvedObject.kind === 'Node')
    .map(({ type = '', reason = '', message = '' }) => `${type} ${reason} ${message}`)
    .toSorted();
}

/** A machine that is there. */
export const machine = (power: 'on' | 'off' | 'unknown' = 'on', id = 'm-1'): InstanceObservation => ({
  state: 'present',
  power,
  providerID: `fake://${id}`,
  addresses: [],
});
