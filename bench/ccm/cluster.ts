import { setTimeout as sleep } from 'node:timers/promises';
import { Node, Service } from '../../src/api/generated/core-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { type Answer, Connection } from '../apiserver/connection.ts';
import type { BenchServer } from '../apiserver/servers.ts';

const NODES = '/api/v1/nodes';
const SERVICES = '/api/v1/namespaces/default/services';
const CONNECTIONS = 32;
/** Set with the removal of the taint, in one update (ccm/N11): whoever has it has lost the taint. */
const INITIALISED = 'node.kubernetes.io/instance-type';
const MERGE = 'application/merge-patch+json';

/** What kubelets say of themselves before anybody helps: some 3 KB. */
const nodeBody = (name: string): object => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
  spec: {
    taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
  },
  status: {
    capacity: { cpu: '8', memory: '32Gi', pods: '250' },
    allocatable: { cpu: '7500m', memory: '30Gi', pods: '250' },
    addresses: [{ type: 'Hostname', address: name }],
    conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: 'KubeletSaysSo',
      message: 'as the kubelet says',
    })),
    images: Array.from({ length: 20 }, (_, at) => ({
      names: [`registry.example.com/team/image-${at}@sha256:${'0'.repeat(64)}`],
      sizeBytes: 100_000_000 + at,
    })),
  },
});

const serviceBody = (name: string): object => ({
  metadata: { name },
  spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ name: 'web', port: 80 }] },
});

const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-${at}`);

/** Nodes that nobody has initialised, all of them new. */
export async function newNodes(server: BenchServer, client: KubeClient, count: number): Promise<void> {
  await removeAll(server, client);
  await send(server, names('node', count), (name) => ['POST', NODES, nodeBody(name)]);
}

/** Services that want load balancers, with some nodes behind them; all of them new. */
export async function newServices(server: BenchServer, client: KubeClient, count: number): Promise<void> {
  await removeAll(server, client);
  await send(server, names('node', 3), (name) => ['POST', NODES, { ...nodeBody(name), spec: initialised(name) }]);
  await send(server, names('web', count), (name) => ['POST', SERVICES, serviceBody(name)]);
}

const initialised = (name: string): object => ({ providerID: `fake://${name}` });

/** Load balancers go with the process that made them: nothing is left to wait for. */
export async function removeAll(server: BenchServer, client: KubeClient): Promise<void> {
  const { items } = await client.live.list(Service, { namespace: 'default', metadataOnly: true });
  const services = items.flatMap(({ metadata: { name } }) => (name?.startsWith('web-') === true ? [name] : []));
  const free = { metadata: { finalizers: null } };
  await send(server, services, (name) => ['PATCH', `${SERVICES}/${name}`, free]);
  await send(server, services, (name) => ['DELETE', `${SERVICES}/${name}`, {}]);
  await client.deleteAllOf(Node, {});
}

type Request = readonly [method: string, path: string, body: object];

interface Repeated {
  readonly isRepeated?: boolean;
}

async function send(
  server: BenchServer,
  all: readonly string[],
  request: (name: string) => Request,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    let connection = await Connection.open(server.credentials);
    for (let name = all[next++]; name !== undefined; name = all[next++]) {
      const words = request(name);
      // A server may end a connection at any time. What it was asked then is either done or not: asking again tells.
      const answer = await asked(connection, words).catch(async () => {
        connection = await Connection.open(server.credentials);
        return { ...(await asked(connection, words)), isRepeated: true };
      });
      refuseFailure(words, answer);
    }
    connection[Symbol.dispose]();
  };
  await Promise.all(Array.from({ length: Math.min(CONNECTIONS, all.length) }, lane));
}

function asked(connection: Connection, [method, path, body]: Request): Promise<Answer> {
  return connection.send(method, path, JSON.stringify(body), method === 'PATCH' ? MERGE : 'application/json');
}

/** What the first of two answers would have done is done. */
const DONE_BEFORE = new Set([404, 409]);

function refuseFailure([method, path]: Request, { status, body, isRepeated }: Answer & Repeated): void {
  if (status < 300 || (isRepeated === true && DONE_BEFORE.has(status))) return;
  throw new Error(`${method} ${path}: ${status} ${body.toString('utf8').slice(0, 300)}`);
}

/** Waits until so many nodes have lost the taint. */
export async function initialisedNodes(client: KubeClient, count: number, signal: AbortSignal): Promise<void> {
  const seen = new Set<string>();
  const options = { labels: INITIALISED, metadataOnly: true, signal };
  // A stream that ends begins again with all that is there.
  for (; ; signal.throwIfAborted()) {
    for await (const { type, object } of client.live.watch(Node, options)) {
      if (type === 'ADDED') seen.add(object.metadata.name ?? '');
      if (seen.size >= count) return;
    }
  }
}

/** Waits until so many Services show how they are reached. */
export async function servedServices(client: KubeClient, count: number, signal: AbortSignal): Promise<void> {
  const seen = new Set<string>();
  for (; ; signal.throwIfAborted()) {
    for await (const event of client.live.watch(Service, { namespace: 'default', signal })) {
      if (event.type !== 'BOOKMARK' && isServed(event.object)) seen.add(event.object.metadata.name ?? '');
      if (seen.size >= count) return;
    }
  }
}

const isServed = ({ status }: Service): boolean => (status?.loadBalancer?.ingress ?? []).length > 0;

const COUNTED =
  /^apiserver_request_total\{(?=.*resource="(nodes|services|events)")(?!.*verb="WATCH").*\} ([\d.e+]+)$/gm;

/** How many requests about nodes, Services and events the server has answered since it runs; watches do not count. */
export async function answeredRequests(server: BenchServer): Promise<number> {
  using connection = await Connection.open(server.credentials);
  const { body } = await connection.send('GET', '/metrics');
  return [...body.toString('utf8').matchAll(COUNTED)].reduce((sum, [, , count]) => sum + Number(count), 0);
}

const QUIET_MS = 2000;
const MOST_LOOKS = 60;

/** Waits until nobody asks for anything any more; two minutes at most. */
export async function quietServer(server: BenchServer): Promise<void> {
  let before = await answeredRequests(server);
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    await sleep(QUIET_MS);
    const now = await answeredRequests(server);
    if (now === before) return;
    before = now;
  }
}
