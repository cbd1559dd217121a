import { Node, Service } from '../../api/generated/core-v1.ts';
import type { Lab, LabCluster } from '../../lab/index.ts';
import { HELLO_SERVICE } from '../lab/hello.ts';
import { CONTROL_PLANE_HOSTS, WORKER_HOSTS } from '../metal/journey-cluster.ts';
import { isInitialised, UNINITIALIZED } from './cloud-facts.ts';

/** Machines of the lab's cloud that are nodes of the cluster of the journey, by name. */
export const JOURNEY_MACHINES: readonly JourneyMachine[] = [...CONTROL_PLANE_HOSTS, ...WORKER_HOSTS].map(
  (name) => ({ name }),
);

/** Its name is that of its instance and of its node. */
export interface JourneyMachine {
  readonly name: string;
}

interface Instance {
  readonly id: string;
  readonly name: string;
  readonly state: string;
}

interface MachineSurroundings {
  readonly lab: Lab;
  readonly cluster: LabCluster;
  readonly signal: AbortSignal;
}

const CALL_MS = 10_000;
const TAINT = { key: UNINITIALIZED, value: 'true', effect: 'NoSchedule' };

/**
 * Takes back what an earlier run has done: nodes wait for their cloud again, and the load balancers and the Service that
 * they are for are gone. Otherwise everything would look well whatever the provider does now.
 */
export async function undoEarlierRun({ lab, cluster: { client }, signal }: MachineSurroundings): Promise<void> {
  const { items } = await client.list(Node);
  const nodes = items.filter(isInitialised);
  if (nodes.length === 0) return;
  const ask = cloudUser(lab, signal);
  const balancers = (await ask('GET', '/v1/load-balancers')) as { readonly items: readonly Instance[] };
  for (const { id } of balancers.items) await ask('DELETE', `/v1/load-balancers/${id}`);
  for (const { metadata, spec } of nodes) {
    const taints = [...(spec?.taints ?? []), TAINT];
    await client.patch(Node, metadata, {
      type: 'merge',
      body: { spec: { taints: taints.map((one) => ({ ...one })) } },
    });
  }
  const service = await client.find(Service, HELLO_SERVICE);
  if (service === undefined) return;
  await client.patch(Service, HELLO_SERVICE, { type: 'merge', body: { metadata: { finalizers: null } } });
  await client.delete(Service, HELLO_SERVICE);
}

const isPresent = ({ state }: Instance): boolean => state !== 'terminated' && state !== 'shutting-down';

export const isReadyNode = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** What the cloud says of its machines, by name: `running`, `stopped` … */
export async function machineStates(lab: Lab, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { items } = (await cloudUser(lab, signal)('GET', '/v1/instances')) as {
    readonly items: readonly Instance[];
  };
  return new Map(items.filter(isPresent).map(({ name, state }) => [name, state]));
}

type Ask = (method: string, path: string) => Promise<unknown>;

/** Requests of the first of those who may use the cloud. Rejects with what the cloud said. */
function cloudUser({ cloud }: Lab, signal: AbortSignal): Ask {
  const [user] = cloud.credentials();
  if (user === undefined) throw new Error('nobody may use the cloud of the lab');
  const { token } = cloud.issueToken(user.clientId);
  return async (method, path) => {
    const response = await fetch(`${cloud.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`the cloud of the lab answered ${response.status} to ${method} ${path}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}
