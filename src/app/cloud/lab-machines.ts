import { CertificateSigningRequest } from '../../api/generated/certificates-v1.ts';
import { Node, Service } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { Lab, LabCluster } from '../../lab/index.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { HELLO_SERVICE } from '../lab/hello.ts';
import { LAB_CLUSTER_ID } from './install-in-lab.ts';

/** A machine of the lab's cloud that is to become a node. */
export interface MachineWish {
  /** Of the instance and of the node. */
  readonly name: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

interface Instance {
  readonly id: string;
  readonly name: string;
  readonly state: string;
}

const MACHINES = 3;

/** Spread over two zones, with the role that the cloud controller manager runs on and the tag that it finds them by. */
export function machineWishes({ name, tags }: ProviderDefinition): readonly MachineWish[] {
  const key = tags.clusterKey?.(LAB_CLUSTER_ID);
  return Array.from({ length: MACHINES }, (_, at) => ({
    name: `${name}-${at + 1}`,
    zone: at % 2 === 0 ? 'a' : 'b',
    labels: { 'node-role.kubernetes.io/master': '' },
    tags: key === undefined ? {} : { [key]: 'owned' },
  }));
}

export interface MachineSurroundings {
  readonly lab: Lab;
  readonly cluster: LabCluster;
  readonly signal: AbortSignal;
}

const MACHINE_TYPE = 'lab.small';
const CALL_MS = 10_000;

/**
 * Instances in the lab's cloud that boot, join the cluster and wait for a cloud controller manager. Those that are there
 * already are taken as they are. Resolves when all are nodes that are ready.
 */
export async function bootMachines(
  { lab, cluster, signal }: MachineSurroundings,
  wishes: readonly MachineWish[],
): Promise<void> {
  const ask = cloudUser(lab, signal);
  const present = new Set((await presentMachines(ask)).map(({ name }) => name));
  for (const { name, zone, labels, tags } of wishes.filter((wish) => !present.has(wish.name))) {
    const userData = await cluster.userData({ name, labels, cloudProvider: 'external' });
    const encoded = Buffer.from(userData).toString('base64');
    await ask('POST', '/v1/instances', { name, type: MACHINE_TYPE, zone, tags, userData: encoded });
  }
  const names = wishes.map(({ name }) => name);
  await lab.until(() => areReady(cluster.client, names), { within: '2m' });
}

/**
 * Takes away what an earlier run left: its machines and their nodes, its load balancers and the Service that they are for.
 * Otherwise everything would look well whatever the provider does now.
 */
export async function removeEarlierRun(
  { lab, cluster: { client }, signal }: MachineSurroundings,
  wishes: readonly MachineWish[],
  moment: Date,
): Promise<void> {
  const isEarlier = ({ metadata }: KubeObject) => Date.parse(metadata.creationTimestamp ?? '') < moment.getTime();
  const names = new Set(wishes.map(({ name }) => name));
  const nodes = (await client.list(Node)).items.filter((node) => names.has(node.metadata.name) && isEarlier(node));
  if (nodes.length === 0) return;
  const ask = cloudUser(lab, signal);
  const ours = async () => (await presentMachines(ask)).filter(({ name }) => names.has(name));
  for (const { id } of await ours()) await ask('DELETE', `/v1/instances/${id}`);
  const balancers = (await ask('GET', '/v1/load-balancers')) as { readonly items: readonly Instance[] };
  for (const { id } of balancers.items) await ask('DELETE', `/v1/load-balancers/${id}`);
  // A node that is on would come back.
  await lab.until(async () => (await allMachines(ask)).every((one) => !names.has(one.name) || isOver(one)), {
    within: '2m',
  });
  for (const { metadata } of nodes) await client.delete(Node, metadata);
  const service = await client.find(Service, HELLO_SERVICE);
  if (service === undefined) return;
  await client.patch(Service, HELLO_SERVICE, { type: 'merge', body: { metadata: { finalizers: null } } });
  await client.delete(Service, HELLO_SERVICE);
}

const isOver = ({ state }: Instance): boolean => state === 'terminated';

const isPresent = ({ state }: Instance): boolean => state !== 'terminated' && state !== 'shutting-down';

/** Whether all of them are nodes that are ready; says yes to their requests for certificates on the way. */
async function areReady(client: KubeClient, names: readonly string[]): Promise<boolean> {
  await approveNodes(client, new Set(names.map((name) => `system:node:${name}`)));
  const { items } = await client.list(Node);
  const ready = items.filter(isReadyNode);
  return names.every((name) => ready.some(({ metadata }) => metadata.name === name));
}

export const isReadyNode = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** What the cloud says of its machines, by name: `running`, `stopped` … */
export async function machineStates(lab: Lab, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  return new Map((await presentMachines(cloudUser(lab, signal))).map(({ name, state }) => [name, state]));
}

const presentMachines = async (ask: Ask): Promise<readonly Instance[]> =>
  (await allMachines(ask)).filter(isPresent);

async function allMachines(ask: Ask): Promise<readonly Instance[]> {
  const { items } = (await ask('GET', '/v1/instances')) as { readonly items: readonly Instance[] };
  return items;
}

/** As the approver of machines does: those who bootstrap, and the nodes of the machines for their servers. */
async function approveNodes(client: KubeClient, nodes: ReadonlySet<string>): Promise<void> {
  const { items } = await client.list(CertificateSigningRequest);
  for (const { metadata, spec, status } of items) {
    const isKnown = spec.signerName === CLIENT_SIGNER || nodes.has(spec.username ?? '');
    if (!isKnown || (status?.conditions ?? []).length > 0) continue;
    const body = { status: { conditions: [APPROVED] } };
    await client.patch(CertificateSigningRequest, metadata, { type: 'merge', body }, { subresource: 'approval' });
  }
}

const APPROVED = { type: 'Approved', status: 'True', reason: 'LabMachine', message: 'booted by the lab' };
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';

type Ask = (method: string, path: string, body?: object) => Promise<unknown>;

/** Requests of the first of those who may use the cloud. Rejects with what the cloud said. */
function cloudUser({ cloud }: Lab, signal: AbortSignal): Ask {
  const [user] = cloud.credentials();
  if (user === undefined) throw new Error('nobody may use the cloud of the lab');
  const { token } = cloud.issueToken(user.clientId);
  return async (method, path, body) => {
    const response = await fetch(`${cloud.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`the cloud of the lab answered ${response.status} to ${method} ${path}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}
