import { join } from 'node:path';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { userError } from '../../base/errors.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { ApiLink } from '../node/registration/api-link.ts';
import { type NodeOptions, startNode } from '../node/start-node.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { LiveNodes } from './live-nodes.ts';
import { type PlannedNode, plannedNodes } from './planned-nodes.ts';
import type { ClusterOptions } from './start-cluster.ts';

export interface NodePlace {
  readonly api: ClusterApi;
  readonly client: KubeClient;
  readonly nodes: LiveNodes;
}

/** Starts the nodes that the setup asks for; resolves when they are registered. */
export async function startOwnNodes(options: ClusterOptions, place: NodePlace): Promise<OwnNodes> {
  const wanted = options.replace.node === 'off' ? [] : plannedNodes(options.setup);
  const isForeign = options.setup.kubeconfig !== undefined;
  const server = isForeign && wanted.length > 0 ? { clientCaPem: await clientAuthority(place.client) } : undefined;
  await using parts = new AsyncDisposableStack();
  const own = parts.use(new OwnNodes(options, place, server));
  await Promise.all(wanted.map((one) => own.add(one)));
  parts.move();
  return own;
}

/** The nodes that the lab starts for a cluster: those of its setup, and those that come later. Disposing ends all that are on. */
export class OwnNodes implements AsyncDisposable {
  readonly #options: ClusterOptions;
  readonly #place: NodePlace;
  readonly #shared: Pick<NodeOptions, 'runtime' | 'capacity' | 'server'>;
  readonly #planned = new Map<string, PlannedNode>();
  /** Of the nodes that are on. */
  readonly #links = new Map<string, ApiLink>();

  constructor(options: ClusterOptions, place: NodePlace, server: NodeOptions['server']) {
    const { setup, surroundings } = options;
    this.#options = options;
    this.#place = place;
    this.#shared = {
      runtime: surroundings.runtime.inCluster((...user) => place.api.way.as(...user)),
      ...(setup.capacity !== undefined && { capacity: setup.capacity }),
      ...(server !== undefined && { server }),
    };
  }

  /** Whether they are on or off. */
  get names(): readonly string[] {
    return [...this.#planned.keys()];
  }

  has(name: string): boolean {
    return this.#planned.has(name);
  }

  /** One more, which is switched on. Resolves when it is in its cluster. */
  async add(node: PlannedNode): Promise<void> {
    this.#planned.set(node.settings.name, node);
    await this.powerOn(node.settings.name);
  }

  /** It is off for good. Its Node stays. Succeeds for unknown ones. */
  async remove(name: string): Promise<void> {
    if (this.#planned.delete(name)) await this.powerOff(name);
    this.#links.delete(name);
  }

  async powerOn(name: string): Promise<void> {
    const { surroundings, index: cluster, directory } = this.#options;
    const { api, nodes } = this.#place;
    const one = this.#planned.get(name);
    if (one === undefined || nodes.byName.has(name)) return;
    const { settings, index, address = surroundings.plan.node(cluster, index) } = one;
    const link = new ApiLink(
      api.way.as(`system:node:${name}`, ['system:nodes']),
      `node ${name}, which was killed,`,
    );
    this.#links.set(name, link);
    const node = await startNode({
      ...surroundings,
      ...this.#shared,
      settings: { ...settings, address },
      root: one.root ?? nodeRoot(directory, index),
      way: { mode: 'direct', transport: link.transport },
    });
    nodes.add(node);
    await node.ready;
  }

  async powerOff(name: string): Promise<void> {
    const node = this.#place.nodes.remove(name);
    node?.pods.powerOff();
    await node?.[Symbol.asyncDispose]();
  }

  /** Dead at once: nothing it still does reaches the server. Resolves when it is on again. */
  async crash(name: string): Promise<void> {
    this.#links.get(name)?.partition(true);
    await this.powerOff(name);
    await this.powerOn(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#place.nodes.byName.values()].map((node) => node[Symbol.asyncDispose]()));
  }
}

/** Where the node of a number has everything. Short: sockets are below. */
export const nodeRoot = (directory: string, index: number): string => join(directory, 'n', String(index));

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
