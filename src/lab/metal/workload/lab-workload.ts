import type { ObjectKey } from '../../../api/object.ts';
import { retryError } from '../../../base/errors.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { LabClock } from '../../clock/lab-clock.ts';
import type { RunningCluster } from '../../cluster/start-cluster.ts';
import type { BareMachine } from '../../machine/instance-nodes.ts';
import { completeInstallation } from './installed-openshift.ts';
import type { WorkloadCluster, WorkloadNode } from './workload-clusters.ts';
import { nodeSettings } from './workload-node.ts';
import type { ClusterRecord, NodeRecord } from './workload-records.ts';

export interface LabWorkloadParts {
  readonly record: ClusterRecord;
  readonly cluster: RunningCluster;
  readonly kubeconfig: string;
  readonly clock: LabClock;
  /** A machine with an address and a disk of its own, if it is one and on. */
  readonly machine: (hostId: string) => BareMachine | undefined;
  /** Remembers the record as it is now. */
  readonly save: () => Promise<void>;
  /** Takes away what the node of a number has on its disk. */
  readonly wipe: (index: number) => Promise<void>;
}

const MOST_NODES = 253;

/** One cluster that was installed in a lab that runs. */
export class LabWorkload implements WorkloadCluster {
  readonly key: ObjectKey;
  readonly kubeconfig: string;
  readonly client: KubeClient;
  readonly cluster: RunningCluster;
  readonly #parts: LabWorkloadParts;
  /** By machine. */
  readonly #nodes: Map<string, NodeRecord>;
  /** What happens to nodes happens one after the other. */
  #turn: Promise<void> = Promise.resolve();
  #isEnding = false;

  constructor(parts: LabWorkloadParts) {
    const { record, cluster, kubeconfig } = parts;
    this.key = record.key;
    this.kubeconfig = kubeconfig;
    this.client = cluster.client;
    this.cluster = cluster;
    this.#parts = parts;
    this.#nodes = new Map(record.nodes.map((node) => [node.hostId, node]));
  }

  get record(): ClusterRecord {
    return { ...this.#parts.record, nodes: [...this.#nodes.values()] };
  }

  join(node: WorkloadNode): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#nodes.get(node.hostId)?.name === node.name) return;
      const holder = [...this.#nodes.values()].find(({ name }) => name === node.name);
      if (holder !== undefined)
        throw retryError(
          'NodeNameTaken',
          `machine ${node.hostId} calls itself ${node.name}, as machine ${holder.hostId} of the same cluster does; give it another hostname`,
        );
      await this.#forget(node.hostId);
      const isPlaced = this.#parts.machine(node.hostId) !== undefined;
      const record = { ...node, labels: { ...node.labels }, ...(!isPlaced && { index: this.#freeIndex() }) };
      this.#nodes.set(node.hostId, record);
      // Remembered first: a lab that dies now starts it at its next start.
      await this.#parts.save();
      await this.#powerOn(record);
    });
  }

  leave(hostId: string): Promise<void> {
    return this.#inTurn(() => this.#forget(hostId));
  }

  installCompleted(): Promise<void> {
    return completeInstallation(this.client, this.#parts.clock);
  }

  /** Starts the nodes that it had when the lab ended. */
  startNodes(): Promise<void> {
    return this.#inTurn(async () => {
      await Promise.all([...this.#nodes.values()].map((node) => this.#powerOn(node)));
    });
  }

  hostOn(hostId: string): Promise<void> {
    return this.#inTurn(async () => {
      const node = this.#nodes.get(hostId);
      if (node !== undefined) await this.#powerOn(node);
    });
  }

  /** The node is remembered: the machine may come back. */
  hostOff(hostId: string): Promise<void> {
    return this.#inTurn(async () => {
      const node = this.#nodes.get(hostId);
      if (node !== undefined) await this.cluster.removeNode(node.name);
    });
  }

  /** Nothing more happens to its nodes. Resolves when nothing does. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#turn;
  }

  /** Time may pass meanwhile: a node that ends may wait for it. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(async () => {
      if (!this.#isEnding) await work();
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #powerOn(record: NodeRecord): Promise<void> {
    const { machine, record: own } = this.#parts;
    const { index, hostId } = record;
    const place = machine(hostId);
    // It is switched on when its machine is.
    if (index === undefined && place === undefined) return;
    await this.cluster.addNode({
      index: index ?? 0,
      settings: nodeSettings(record, own.wish),
      ...(place !== undefined && { address: place.address, root: place.root }),
    });
  }

  async #forget(hostId: string): Promise<void> {
    const node = this.#nodes.get(hostId);
    if (node === undefined) return;
    this.#nodes.delete(hostId);
    await this.#parts.save();
    await this.cluster.removeNode(node.name);
    if (node.index === undefined) return;
    using _hold = this.#parts.clock.hold(`disk of node ${node.name}`);
    await this.#parts.wipe(node.index);
  }

  #freeIndex(): number {
    const taken = new Set([...this.#nodes.values()].map(({ index }) => index));
    for (let index = 1; index <= MOST_NODES; index++) if (!taken.has(index)) return index;
    throw retryError(
      'OutsideAddressPlan',
      `cluster ${this.cluster.name} has ${MOST_NODES} nodes: remove one first`,
    );
  }
}
