import { CertificateSigningRequest } from '../../src/api/generated/certificates-v1.ts';
import { Node } from '../../src/api/generated/core-v1.ts';
import { isReadyNode } from '../../src/app/cloud/lab-machines.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { Lab, LabCluster } from '../../src/lab/index.ts';

/** A machine of the lab's cloud that is to become a node. */
export interface MachineWish {
  /** Of the instance and of the node. */
  readonly name: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

export interface BootSurroundings {
  readonly lab: Lab;
  readonly cluster: LabCluster;
  readonly signal: AbortSignal;
}

interface Instance {
  readonly name: string;
  readonly state: string;
}

const MACHINE_TYPE = 'lab.small';
const CALL_MS = 10_000;

/**
 * Instances in the lab's cloud that boot, join the cluster and wait for a cloud controller manager. Those that are there
 * already are taken as they are. Resolves when all are nodes that are ready.
 */
export async function bootMachines(
  { lab, cluster, signal }: BootSurroundings,
  wishes: readonly MachineWish[],
): Promise<void> {
  const ask = cloudUser(lab, signal);
  const { items } = (await ask('GET', '/v1/instances')) as { readonly items: readonly Instance[] };
  const present = new Set(items.filter(isPresent).map(({ name }) => name));
  for (const { name, zone, labels, tags } of wishes.filter((wish) => !present.has(wish.name))) {
    const userData = await cluster.userData({ name, labels, cloudProvider: 'external' });
    const encoded = Buffer.from(userData).toString('base64');
    await ask('POST', '/v1/instances', { name, type: MACHINE_TYPE, zone, tags, userData: encoded });
  }
  const names = wishes.map(({ name }) => name);
  await lab.until(() => areReady(cluster.client, names), { within: '2m' });
}

const isPresent = ({ state }: Instance): boolean => state !== 'terminated' && state !== 'shutting-down';

/** Whether all of them are nodes that are ready; says yes to their requests for certificates on the way. */
async function areReady(client: KubeClient, names: readonly string[]): Promise<boolean> {
  await approveNodes(client, new Set(names.map((name) => `system:node:${name}`)));
  const { items } = await client.list(Node);
  const ready = items.filter(isReadyNode);
  return names.every((name) => ready.some(({ metadata }) => metadata.name === name));
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
