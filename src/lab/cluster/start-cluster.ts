import { join } from 'node:path';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { ClusterRoleBinding } from '../../api/generated/rbac-v1.ts';
import type { ServiceResolver } from '../../apiserver/webhooks/webhook-client.ts';
import { userError } from '../../base/errors.ts';
import { createClient } from '../../kube/client/create-client.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import type { Activity } from '../../kube/quiet/activity.ts';
import type { NodeSurroundings } from '../machine/instance-nodes.ts';
import { ApiLink } from '../node/registration/api-link.ts';
import type { LabRuntime } from '../node/runtime/start-runtime.ts';
import { type RunningNode, startNode } from '../node/start-node.ts';
import { serviceResolver } from '../proxy/service-resolver.ts';
import { startProxy } from '../proxy/start-proxy.ts';
import type { ClusterSetup, LabOptions } from '../setup/lab-options.ts';
import { binding } from '../workloads/stand-in-roles.ts';
import { startWorkloads, type Workloads } from '../workloads/start-workloads.ts';
import { type ClusterApi, foreignApi, startOwnApi } from './cluster-api.ts';
import { idleNotices } from './idle-kinds.ts';
import { LiveNodes } from './live-nodes.ts';
import { type PlannedNode, plannedNodes } from './planned-nodes.ts';
import { standIns } from './stand-ins.ts';
import type { WriteLog } from './write-log.ts';

export interface ClusterOptions {
  readonly setup: ClusterSetup;
  /** 1–31: the second part of its addresses. */
  readonly index: number;
  /** Where its ClusterIPs come from. */
  readonly serviceRange: string;
  readonly replace: NonNullable<LabOptions['replace']>;
  readonly surroundings: NodeSurroundings & { readonly runtime: Pick<LabRuntime, 'inCluster'> };
  /** Short: sockets of nodes are below. */
  readonly directory: string;
  readonly kubeconfigPath: string;
  readonly isDurable: boolean;
  /** Of this process, for credential plugins. */
  readonly env: Environment;
  readonly activity: Activity;
  readonly writes: WriteLog;
  readonly certificates: { readonly from: Date; readonly until: Date };
}

/** A cluster of the lab that runs. */
export interface RunningCluster extends AsyncDisposable {
  readonly name: string;
  readonly api: ClusterApi;
  /** The administrator's. Reads ask the server. */
  readonly client: KubeClient;
  /** Those that are on. */
  readonly nodes: ReadonlyMap<string, RunningNode>;
  readonly workloads: Workloads;
  /** A node that was started elsewhere is one of the cluster, until disposed. */
  join(node: RunningNode): Disposable;
  /** Whether it is one that the cluster was set up with, on or off. */
  knowsNode(name: string): boolean;
  powerOff(name: string): Promise<void>;
  /** Nothing happens when it is on. */
  powerOn(name: string): Promise<void>;
  /** Those that it was set up with. */
  readonly nodeNames: readonly string[];
  /** Dead at once, with everything on it: nothing it still does reaches the server. Resolves when it is on again (B3). */
  crashNode(name: string): Promise<void>;
}

const ADMIN = { user: 'admin', groups: ['system:masters'] };

/** Starts what a cluster consists of: its API server unless it runs elsewhere, its controllers and its nodes. */
export async function startCluster(options: ClusterOptions): Promise<RunningCluster> {
  const { setup, surroundings, replace } = options;
  const { clock, log, plan, real } = surroundings;
  await using parts = new AsyncDisposableStack();
  const nodes = new LiveNodes();
  const services: { resolve?: ServiceResolver } = {};
  const api = parts.use(await startApi(options, nodes, (service) => services.resolve?.(service)));
  const transport = api.way.as(ADMIN.user, ADMIN.groups);
  const client = createClient({ transport, fieldManager: 'slipway/lab', clock, log });
  await Promise.all(nodeBindings().map((one) => client.apply(ClusterRoleBinding, one, { force: true })));
  const workloads = parts.use(await startControllers(options, api, client));
  const { cache } = workloads;
  services.resolve = serviceResolver({ plan, cache });
  if (replace.proxy !== 'off') {
    const running = {
      list: () => [...nodes.byName.values()],
      subscribe: (changed: () => void) => nodes.subscribe(changed),
    };
    parts.use(await startProxy({ plan, cache, nodes: running, clock, real, log }));
  }
  const own = await startOwnNodes(options, { api, client, nodes });
  parts.use(own);
  const running = parts.move();
  return {
    name: setup.name,
    api,
    client,
    nodes: nodes.byName,
    workloads,
    join: (node) => {
      nodes.add(node);
      return { [Symbol.dispose]: () => void (nodes.byName.get(node.name) === node && nodes.remove(node.name)) };
    },
    knowsNode: (name) => own.planned.has(name),
    powerOn: (name) => own.powerOn(name),
    powerOff: (name) => own.powerOff(name),
    nodeNames: [...own.planned.keys()],
    crashNode: (name) => own.crash(name),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function startApi(
  options: ClusterOptions,
  nodes: LiveNodes,
  resolveService: ServiceResolver,
): Promise<ClusterApi> {
  const { setup, index, surroundings, ...rest } = options;
  const { plan, real } = surroundings;
  if (setup.kubeconfig !== undefined) {
    const { activity, env } = options;
    return foreignApi({ kubeconfigPath: setup.kubeconfig, env, activity, real, log: surroundings.log });
  }
  const address = setup.name === 'hub' ? plan.hub : plan.clusterApi(index);
  const hasAccounts = options.replace.accounts !== 'off';
  const notices = idleNotices(options.replace);
  const api = { address, nodes, resolveService, hasAccounts, notices };
  return startOwnApi({ ...surroundings, ...rest, ...api, name: setup.name });
}

/** What the node authorizer of a real cluster would allow. */
const nodeBindings = () => [
  binding('slipway:lab:nodes', 'system:node', { kind: 'Group', name: 'system:nodes' }),
  binding('slipway:lab:node-bootstrappers', 'system:node-bootstrapper', {
    kind: 'Group',
    name: 'system:bootstrappers',
  }),
];

function startControllers(
  { replace, surroundings: { clock, log }, certificates }: ClusterOptions,
  { way, authority, authorityPem }: ClusterApi,
  admin: KubeClient,
): Promise<Workloads> {
  const off = new Set(Object.keys(replace));
  const all = standIns({
    certificates,
    ...(authority !== undefined && { authority }),
    ...(authorityPem !== undefined && { authorityPem }),
  });
  return startWorkloads({
    standIns: all.filter(({ name }) => !off.has(name)),
    admin,
    transportAs: (user, groups) => way.as(user, groups),
    clock,
    log,
  });
}

interface OwnNodes extends AsyncDisposable {
  readonly planned: ReadonlyMap<string, PlannedNode>;
  powerOn(name: string): Promise<void>;
  powerOff(name: string): Promise<void>;
  crash(name: string): Promise<void>;
}

interface NodePlace {
  readonly api: ClusterApi;
  readonly client: KubeClient;
  readonly nodes: LiveNodes;
}

/** Starts the nodes that the setup asks for; resolves when they are registered. */
async function startOwnNodes(options: ClusterOptions, { api, client, nodes }: NodePlace): Promise<OwnNodes> {
  const wanted = options.replace.node === 'off' ? [] : plannedNodes(options.setup);
  const planned = new Map(wanted.map((one) => [one.settings.name, one]));
  const isForeign = options.setup.kubeconfig !== undefined;
  const server = isForeign && wanted.length > 0 ? { clientCaPem: await clientAuthority(client) } : undefined;
  const { index: cluster, directory, setup } = options;
  const runtime = options.surroundings.runtime.inCluster((...user) => api.way.as(...user));
  const surroundings = { ...options.surroundings, runtime };
  /** Of the nodes that are on. */
  const links = new Map<string, ApiLink>();
  const powerOn = async (name: string): Promise<void> => {
    const one = planned.get(name);
    if (one === undefined || nodes.byName.has(name)) return;
    const { settings, index } = one;
    const link = new ApiLink(
      api.way.as(`system:node:${name}`, ['system:nodes']),
      `node ${name}, which was killed,`,
    );
    links.set(name, link);
    const node = await startNode({
      ...surroundings,
      settings: { ...settings, address: surroundings.plan.node(cluster, index) },
      root: join(directory, 'n', String(index)),
      way: { mode: 'direct', transport: link.transport },
      ...(setup.capacity !== undefined && { capacity: setup.capacity }),
      ...(server !== undefined && { server }),
    });
    nodes.add(node);
    await node.ready;
  };
  const powerOff = async (name: string): Promise<void> => {
    const node = nodes.remove(name);
    node?.pods.powerOff();
    await node?.[Symbol.asyncDispose]();
  };
  const end = async () => {
    await Promise.all([...nodes.byName.values()].map((node) => node[Symbol.asyncDispose]()));
  };
  try {
    await Promise.all([...planned.keys()].map(powerOn));
  } catch (error) {
    await end();
    throw error;
  }
  return {
    planned,
    powerOn,
    powerOff,
    crash: async (name) => {
      links.get(name)?.partition(true);
      await powerOff(name);
      await powerOn(name);
    },
    [Symbol.asyncDispose]: end,
  };
}

/** Who vouches for the API server when it asks nodes for logs: it says so itself. */
async function clientAuthority(client: KubeClient): Promise<string> {
  const key = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
  const pem = (await client.find(ConfigMap, key))?.data?.['client-ca-file'];
  if (pem !== undefined) return pem;
  throw userError(
    'NoClientAuthority',
    `ConfigMap kube-system/${key.name} of the cluster has no client-ca-file, so that nodes cannot tell who its API server is: start it with --client-ca-file`,
  );
}
