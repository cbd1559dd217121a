import { Node } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, retryError } from '../../base/errors.ts';
import { DONE, type ReconcileContext, type Reconciler, type Result } from '../../kube/controller/reconcile.ts';
import type { InstanceObservation, PresentInstance } from '../../sdk/capabilities/instances.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import { untilNoConflict } from '../conflict-attempts.ts';
import type { InstanceObserver } from '../instances/instance-observer.ts';
import { instanceRef } from '../instances/instance-ref.ts';
import { meant } from '../meant-object.ts';
import { nodeAddresses } from './addresses.ts';
import { isUninitialized, mirroredLabels } from './desired.ts';
import { initialize } from './initialization.ts';
import type { NodeMetrics } from './node-metrics.ts';
import { NodeProblem } from './node-problem.ts';
import type { WantedStatus } from './node-status.ts';
import type { StatusWriter } from './status-writer.ts';

const MIRROR_ATTEMPTS = { most: 5, pauseMs: 100 };

export interface NodeReconcilerOptions {
  readonly instances: InstanceObserver;
  readonly labelSource: CloudSettings['labelSource'];
  readonly clock: Clock;
  readonly status: StatusWriter;
  readonly metrics: NodeMetrics;
}

/** Gives new Nodes what the cloud knows of their machines, and takes the taint away that keeps pods off them. */
export class CloudNodeReconciler implements Reconciler<Node> {
  readonly #options: NodeReconcilerOptions;

  constructor(options: NodeReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(node: Node, context: ReconcileContext): Promise<Result> {
    if (!isUninitialized(node)) return await this.#mirrorLabels(node, context);
    const found = await this.#observe(node, context);
    if (found.state === 'unmanaged') return DONE;
    if (found.state === 'absent') throw this.#absent(node, found.evidence);
    const written = await this.#initialize(node, found, context);
    if (written === undefined) return DONE;
    this.#options.metrics.untainted(written);
    await this.#writeStatus(written, { addresses: nodeAddresses(written, found.addresses) }, context);
    context.events.normal(written, 'Synced', 'Node synced successfully');
    this.#options.metrics.synced(written);
    return DONE;
  }

  /** Whatever a provider throws is tried again: only it knows what it meant, and a Node must not stay behind (N4). */
  async #observe(node: Node, { log, signal }: ReconcileContext): Promise<InstanceObservation> {
    const { instances, metrics } = this.#options;
    try {
      return await instances.observe(instanceRef(node), { log, signal });
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      metrics.failed(error.kind);
      if (error.disposition === 'retry') throw error;
      throw retryError(error.reason, error.message, { cause: error });
    }
  }

  #absent({ metadata: { name } }: Node, evidence: string): Error {
    this.#options.metrics.failed('absent');
    return retryError('InstanceNotFound', `the cloud has no machine for node ${name}: ${evidence}`);
  }

  async #initialize(node: Node, found: PresentInstance, context: ReconcileContext): Promise<Node | undefined> {
    const { clock, metrics } = this.#options;
    const { client, log, signal } = context;
    try {
      return await initialize({ client, clock, log, signal }, node, found);
    } catch (error) {
      if (!(error instanceof NodeProblem)) throw error;
      metrics.failed('mismatch');
      await this.#writeStatus(node, { problem: error }, context);
      throw error;
    }
  }

  /** Never rejects: what it tells is told again, by the next attempt or by the periodic pass (N12). */
  async #writeStatus(node: Node, wanted: WantedStatus, context: ReconcileContext): Promise<void> {
    const { metrics, status } = this.#options;
    try {
      await status.write(node, wanted, context);
    } catch (error) {
      metrics.failed('api');
      context.log.warn({ error: messageOf(error) }, 'Could not write the status of a node');
    }
  }

  async #mirrorLabels(node: Node, { client, signal }: ReconcileContext): Promise<Result> {
    const labels = mirroredLabels(node, this.#options.labelSource);
    if (Object.keys(labels).length === 0) return DONE;
    const patch = { type: 'strategic', body: { metadata: { ...meant(node), labels } } } as const;
    const attempts = { ...MIRROR_ATTEMPTS, clock: this.#options.clock, signal };
    await untilNoConflict(attempts, () => client.patch(Node, keyOf(node), patch, { signal }));
    return DONE;
  }
}
