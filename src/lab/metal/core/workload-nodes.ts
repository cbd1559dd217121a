import type { Cluster } from '../../../api/cluster-api/core-v1beta2.ts';
import { Node, Secret } from '../../../api/generated/core-v1.ts';
import { keyOf, keyText } from '../../../api/object.ts';
import { messageOf } from '../../../base/errors.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { type Need, needs } from '../../../kube/rbac/need.ts';

/** A client of the cluster that a kubeconfig names; rejects when it cannot. */
export type ConnectWorkload = (kubeconfig: string) => Promise<KubeClient>;

/** The Nodes of a cluster that was installed, or why nobody can tell. */
export type NodeAnswer =
  | { readonly isKnown: true; readonly nodes: readonly Node[]; readonly client: KubeClient }
  | { readonly isKnown: false; readonly why: string };

interface Connection {
  readonly kubeconfig: string;
  readonly client: KubeClient;
  nodes?: { readonly list: readonly Node[]; readonly untilMs: number };
}

/** So many Machines ask for the same list at the same time. */
const KEPT_MS = 2000;
const MOST_CLUSTERS = 1000;

/** The Nodes of workload clusters, asked for with the kubeconfig in Secret `<cluster>-kubeconfig`. */
export class WorkloadNodes {
  readonly #connect: ConnectWorkload;
  /** By Cluster. */
  readonly #connections = new Map<string, Connection>();

  constructor(connect: ConnectWorkload) {
    this.#connect = connect;
  }

  static readonly needs: readonly Need[] = [
    needs(Secret, ['get'], { reason: 'kubeconfigs of workload clusters are in Secrets named like their Cluster' }),
  ];

  async of(cluster: Cluster, context: ReconcileContext): Promise<NodeAnswer> {
    const key = keyText(keyOf(cluster));
    const nowMs = context.now().getTime();
    const known = this.#connections.get(key);
    if (known?.nodes !== undefined && known.nodes.untilMs > nowMs)
      return { isKnown: true, nodes: known.nodes.list, client: known.client };
    try {
      const connection = await this.#connection(cluster, context);
      if (connection === undefined)
        return { isKnown: false, why: `Secret ${cluster.metadata.name}-kubeconfig is not there yet` };
      return { isKnown: true, nodes: await listed(connection, context), client: connection.client };
    } catch (error) {
      // The cluster may be on its way up or down: whoever asks decides how long that is fine.
      this.#connections.delete(key);
      return { isKnown: false, why: `the cluster does not answer: ${messageOf(error)}` };
    }
  }

  async #connection(cluster: Cluster, { client, signal }: ReconcileContext): Promise<Connection | undefined> {
    const { namespace = '', name } = cluster.metadata;
    const key = keyText({ namespace, name });
    const secret = await client.live.find(Secret, { namespace, name: `${name}-kubeconfig` }, { signal });
    const { value = '' } = secret?.data ?? {};
    if (value === '') {
      this.#connections.delete(key);
      return undefined;
    }
    const kubeconfig = Buffer.from(value, 'base64').toString('utf8');
    const known = this.#connections.get(key);
    if (known?.kubeconfig === kubeconfig) return known;
    if (this.#connections.size >= MOST_CLUSTERS) this.#connections.clear();
    const connection = { kubeconfig, client: await this.#connect(kubeconfig) };
    this.#connections.set(key, connection);
    return connection;
  }
}

async function listed(connection: Connection, { now, signal }: ReconcileContext): Promise<readonly Node[]> {
  const { items } = await connection.client.live.list(Node, { signal });
  connection.nodes = { list: items, untilMs: now().getTime() + KEPT_MS };
  return items;
}
