import type { Node } from '../../src/api/generated/core-v1.ts';
import { Node as NodeKind } from '../../src/api/generated/core-v1.ts';
import { isInitialised } from '../../src/app/cloud/cloud-facts.ts';
import type { LabCluster } from '../../src/lab/index.ts';

/** What a cloud controller manager writes to a node. */
interface NodeState {
  readonly providerID: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: string;
  readonly isInitialised: boolean;
}

/** Every state that nodes were in, from the beginning until it is disposed. */
export class NodeRecord implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #states = new Map<string, NodeState[]>();
  readonly #watching: Promise<void>;

  private constructor(watching: (record: NodeRecord, signal: AbortSignal) => Promise<void>) {
    this.#watching = watching(this, this.#stop.signal);
  }

  static async start({ client }: LabCluster): Promise<NodeRecord> {
    const { items, metadata } = await client.list(NodeKind);
    const { resourceVersion = '' } = metadata;
    return new NodeRecord(async (record, signal) => {
      for (const node of items) record.#note(node);
      for await (const { type, object } of client.live.watch(NodeKind, { resourceVersion, signal }))
        if (type !== 'BOOKMARK' && type !== 'DELETED') record.#note(object);
    });
  }

  /** Those that were seen to wait for a cloud controller manager, and not to wait any more. */
  get initialised(): readonly string[] {
    const isSeen = (states: readonly NodeState[]) =>
      states[0]?.isInitialised === false && states.at(-1)?.isInitialised === true;
    return [...this.#states]
      .filter(([, states]) => isSeen(states))
      .map(([name]) => name)
      .toSorted();
  }

  /**
   * `m-1 providerID: a and b`: what was one thing and then another. A kubelet that waits for a cloud controller manager
   * says only what its machine is called, so that addresses count from the first that is a number.
   */
  contradictions(): readonly string[] {
    return [...this.#states].flatMap(([name, states]) => {
      const keys = new Set(states.flatMap(({ labels }) => Object.keys(labels)));
      const seen = new Map([
        ['providerID', states.map(({ providerID }) => providerID)],
        ['addresses', states.map(({ addresses }) => addresses).filter((text) => text.includes('IP '))],
        ...[...keys].map((key) => [`label ${key}`, states.map(({ labels }) => labels[key] ?? '')] as const),
      ]);
      return [...seen].flatMap(([what, values]) => {
        const different = [...new Set(values.filter((value) => value !== ''))];
        return different.length > 1 ? [`${name} ${what}: ${different.join(' and ')}`] : [];
      });
    });
  }

  /** Nodes that were initialised and then not any more. */
  relapses(): readonly string[] {
    const isRelapse = (states: readonly NodeState[]) =>
      states.some((state, at) => !state.isInitialised && states[at - 1]?.isInitialised === true);
    return [...this.#states].filter(([, states]) => isRelapse(states)).map(([name]) => name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watching.catch((error: unknown) => {
      if (!this.#stop.signal.aborted) throw error;
    });
  }

  #note(node: Node): void {
    const { metadata, spec, status } = node;
    const states = this.#states.get(metadata.name) ?? [];
    this.#states.set(metadata.name, states);
    states.push({
      providerID: spec?.providerID ?? '',
      labels: metadata.labels ?? {},
      addresses: (status?.addresses ?? []).map(({ type, address }) => `${type} ${address}`).join(', '),
      isInitialised: isInitialised(node),
    });
  }
}
