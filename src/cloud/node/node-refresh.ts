import { Node } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/object.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isConflict, isLeadershipLost, isNotFound } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import type { PresentInstance } from '../../sdk/capabilities/instances.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import { inParallel } from '../instances/in-parallel.ts';
import type { InstanceAnswer } from '../instances/instance-answer.ts';
import type { InstanceObserver } from '../instances/instance-observer.ts';
import { instanceRef } from '../instances/instance-ref.ts';
import { nodeAddresses } from './addresses.ts';
import { isUninitialized } from './desired.ts';
import { isSameNode, whole } from './initialization.ts';
import { hasStaleLabels, type LabelManagers, refreshedLabels } from './label-refresh.ts';
import { type NodeMetrics, syncFailure } from './node-metrics.ts';
import { NodeProblem } from './node-problem.ts';
import type { WantedStatus } from './node-status.ts';
import type { StatusWriter } from './status-writer.ts';

export interface NodeRefreshOptions {
  readonly manager: Pick<Manager, 'client' | 'clock' | 'log'>;
  readonly instances: InstanceObserver;
  readonly settings: Pick<
    CloudSettings,
    'nodeStatusUpdateFrequencyMs' | 'concurrentNodeStatusUpdates' | 'refreshNodeLabels'
  >;
  readonly status: StatusWriter;
  readonly metrics: NodeMetrics;
  /** Field manager of the update that initialises Nodes. */
  readonly fieldManager: string;
}

/** Compares all initialised Nodes with their machines, over and over: addresses change, and a write may have failed. */
export class NodeRefresh {
  readonly #options: NodeRefreshOptions;
  readonly #client: KubeClient;
  readonly #labels: LabelManagers;
  readonly #log: Log;

  constructor(options: NodeRefreshOptions) {
    const { manager, fieldManager } = options;
    this.#options = options;
    this.#client = manager.client.as(fieldManager);
    this.#labels = { initial: fieldManager, refresh: `${fieldManager}/labels` };
    this.#log = manager.log.child({ part: 'node-refresh' });
  }

  /** At once, and again a period after the end of the pass before, until the signal aborts (N16). */
  async run(signal: AbortSignal): Promise<void> {
    const { manager, settings } = this.#options;
    while (!signal.aborted) {
      await this.#pass(signal);
      await manager.clock.sleep(settings.nodeStatusUpdateFrequencyMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  /** Never rejects. */
  async #pass(signal: AbortSignal): Promise<void> {
    const { instances, settings } = this.#options;
    const concurrency = settings.concurrentNodeStatusUpdates;
    try {
      const { items } = await this.#client.list(Node, { signal });
      const nodes = items.filter((node) => !isUninitialized(node));
      const answers = await instances.observeMany(
        nodes.map(instanceRef),
        { concurrency },
        { log: this.#log, signal },
      );
      await inParallel(nodes, { concurrency, signal }, (node) => this.#refresh(node, answers, signal));
    } catch (error) {
      if (!signal.aborted) this.#log.warn({ err: error }, 'Could not look at the nodes');
    }
  }

  /** Never rejects: what goes wrong with one Node is its own affair. */
  async #refresh(known: Node, answers: ReadonlyMap<string, InstanceAnswer>, signal: AbortSignal): Promise<void> {
    const { name } = known.metadata;
    const answer = answers.get(name);
    try {
      if (answer?.state === 'failed') throw answer.error;
      if (answer?.state === 'present') await this.#compare(known, answer, signal);
    } catch (error) {
      if (!signal.aborted && !isLeadershipLost(error) && !isNotFound(error)) this.#tell(name, error);
    }
  }

  async #compare(known: Node, instance: PresentInstance, signal: AbortSignal): Promise<void> {
    // As it is by now: all machines were asked about meanwhile.
    const node = await this.#client.find(Node, keyOf(known), { signal });
    if (node === undefined || !isSameNode(node, known) || isUninitialized(node)) return;
    await this.#writeStatus(node, instance, signal);
    if (!this.#options.settings.refreshNodeLabels) return;
    // Again: what was written has made another version of it.
    const written = await this.#client.find(Node, keyOf(known), { signal });
    if (written !== undefined && hasStaleLabels(written, instance))
      await this.#writeLabels(written, instance, signal);
  }

  async #writeStatus(node: Node, { addresses }: PresentInstance, signal: AbortSignal): Promise<void> {
    let wanted: WantedStatus;
    try {
      wanted = { addresses: nodeAddresses(node, addresses) };
    } catch (error) {
      if (!(error instanceof NodeProblem)) throw error;
      wanted = { problem: error };
      this.#tell(node.metadata.name, error);
    }
    await this.#options.status.write(node, wanted, { client: this.#client, signal });
  }

  /** Under a field manager of its own, so that everybody sees which labels follow the cloud (B8). */
  async #writeLabels(known: Node, instance: PresentInstance, signal: AbortSignal): Promise<void> {
    const node = await whole(this.#client, known, signal);
    const labels = node === undefined ? undefined : refreshedLabels(node, instance, this.#labels);
    if (node === undefined || labels === undefined) return;
    const { name } = keyOf(node);
    const { resourceVersion } = node.metadata;
    try {
      await this.#client
        .as(this.#labels.refresh)
        .apply(
          Node,
          { metadata: { name, resourceVersion, labels } },
          { force: true, optimisticLock: true, signal },
        );
    } catch (error) {
      // Somebody wrote at the same moment, and may claim a label now: the next pass sees it.
      if (!isConflict(error)) throw error;
    }
  }

  #tell(node: string, error: unknown): void {
    this.#options.metrics.failed(syncFailure(error));
    this.#log.warn({ node, error: messageOf(error) }, 'Could not refresh a node');
  }
}
