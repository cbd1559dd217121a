import { ClusterRoleBinding } from '../../api/generated/rbac-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import type { ServiceResolver } from '../../apiserver/webhooks/webhook-client.ts';
import { createClient } from '../../kube/client/create-client.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import type { Activity } from '../../kube/quiet/activity.ts';
import { clusterDomain } from '../address/names.ts';
import type { NodeSurroundings } from '../machine/instance-nodes.ts';
import type { LabRuntime } from '../node/runtime/start-runtime.ts';
import type { RunningNode } from '../node/start-node.ts';
import { serviceResolver } from '../proxy/service-resolver.ts';
import { startProxy } from '../proxy/start-proxy.ts';
import type { ClusterSetup, LabOptions } from '../setup/lab-options.ts';
import { binding } from '../workloads/stand-in-roles.ts';
import { type StandIn, startWorkloads, type Workloads } from '../workloads/start-workloads.ts';
import { type ClusterApi, foreignApi, startOwnApi } from './cluster-api.ts';
import { idleNotices } from './idle-kinds.ts';
import { LiveNodes } from './live-nodes.ts';
import { startOwnNodes } from './own-nodes.ts';
import type { PlannedNode } from './planned-nodes.ts';
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
  /** Where its API is called `api` and `api-int`; below that of the lab unless told otherwise. */
  readonly domain?: string;
  /** Definitions that it has from the start. */
  readonly crds?: readonly JsonObject[];
  /** Controllers besides those of Kubernetes. */
  readonly moreStandIns?: readonly StandIn[];
}

/** A cluster of the lab that runs. */
export interface RunningCluster extends AsyncDisposable {
  readonly name: string;
  readonly domain: string;
  readonly api: ClusterApi;
  /** The administrator's. Reads ask the server. */
  readonly client: KubeClient;
  /** Those that are on. */
  readonly nodes: ReadonlyMap<string, RunningNode>;
  readonly workloads: Workloads;
  /** A node that was started elsewhere is one of the cluster, until disposed. */
  join(node: RunningNode): Disposable;
  /** The lab starts one more node for it. Resolves when it is in its cluster. */
  addNode(node: PlannedNode): Promise<void>;
  /** The node is off for good. Its object stays. Succeeds for unknown ones. */
  removeNode(name: string): Promise<void>;
  /** Whether it is one that the lab started for it, on or off. */
  knowsNode(name: string): boolean;
  powerOff(name: string): Promise<void>;
  /** Nothing happens when it is on. */
  powerOn(name: string): Promise<void>;
  /** Those that the lab started for it, on or off. */
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
    domain: domainOf(options),
    api,
    client,
    nodes: nodes.byName,
    workloads,
    join: (node) => {
      nodes.add(node);
      return { [Symbol.dispose]: () => void (nodes.byName.get(node.name) === node && nodes.remove(node.name)) };
    },
    addNode: (node) => own.add(node),
    removeNode: (name) => own.remove(name),
    knowsNode: (name) => own.has(name),
    powerOn: (name) => own.powerOn(name),
    powerOff: (name) => own.powerOff(name),
    get nodeNames() {
      return own.names;
    },
    crashNode: (name) => own.crash(name),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const domainOf = ({ setup, domain }: ClusterOptions): string => domain ?? clusterDomain(setup.name);

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
  return startOwnApi({ ...surroundings, ...rest, ...api, name: setup.name, domain: domainOf(options) });
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
  { replace, surroundings: { clock, log }, certificates, moreStandIns = [] }: ClusterOptions,
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
    standIns: [...all.filter(({ name }) => !off.has(name)), ...moreStandIns],
    admin,
    transportAs: (user, groups) => way.as(user, groups),
    clock,
    log,
  });
}
