import { Node } from '../../api/generated/core-v1.ts';
import { messageOf } from '../../base/errors.ts';
import { isConflict, isLeadershipLost } from '../../kube/client/api-error.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import type { CallContext } from '../../sdk/capabilities/call.ts';
import type { InstanceRef, Instances } from '../../sdk/capabilities/instances.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import { inParallel } from '../instances/in-parallel.ts';
import type { InstanceAnswer } from '../instances/instance-answer.ts';
import { InstanceObserver } from '../instances/instance-observer.ts';
import { instanceRef } from '../instances/instance-ref.ts';
import { type Absences, type Decided, isAnyInDoubt, isAskedFor, type Look, planPass } from './desired.ts';
import { LifecycleMetrics } from './lifecycle-metrics.ts';
import { OutageReport } from './outage-report.ts';
import { taintsWhileOff, taintsWhileReady } from './shutdown-taint.ts';
import { writeTaints } from './taint-write.ts';

export interface NodeMonitorOptions {
  readonly manager: Pick<Manager, 'client' | 'events' | 'metrics' | 'clock' | 'log'>;
  readonly instances: Instances;
  readonly settings: Pick<
    CloudSettings,
    'nodeMonitorPeriodMs' | 'concurrentNodeLifecycleSyncs' | 'nodeDeletionConfirmations' | 'nodeDeletionMinAgeMs'
  >;
}

const isSuspected = ({ decision }: Decided): boolean =>
  decision.type === 'holdBack' && decision.why === 'suspected';

/** Looks at all Nodes over and over: deletes those without a machine, and taints those whose machine is off. */
export class NodeMonitor {
  readonly #options: NodeMonitorOptions;
  readonly #metrics: LifecycleMetrics;
  readonly #outage: OutageReport;
  readonly #observer: InstanceObserver;
  /** The same without the call for many: what is in doubt is asked for one by one. */
  readonly #soloObserver: InstanceObserver;
  #absences: Absences = new Map();
  /** Nodes about which the cloud did not answer in the last pass: people are told when that begins. */
  #unanswered: ReadonlySet<string> = new Set();

  constructor(options: NodeMonitorOptions) {
    const { instances, manager } = options;
    this.#options = options;
    this.#metrics = new LifecycleMetrics(manager.metrics);
    this.#outage = new OutageReport(manager);
    this.#observer = new InstanceObserver(instances, manager.clock);
    const solo = {
      declare: () => instances.declare(),
      describe: (ref: InstanceRef, call: CallContext) => instances.describe(ref, call),
    };
    this.#soloObserver = new InstanceObserver(solo, manager.clock);
  }

  /** Passes at least one period apart, until the signal aborts; what goes wrong in one is left to the next (L1). */
  async run(signal: AbortSignal): Promise<void> {
    const { manager, settings } = this.#options;
    while (!signal.aborted) {
      await this.#pass(signal);
      await manager.clock.sleep(settings.nodeMonitorPeriodMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { clock, client, log } = this.#options.manager;
    const startMs = clock.monotonicMs();
    try {
      const { items: nodes } = await client.list(Node, { signal });
      const looks = await this.#look(nodes, signal);
      // Answers that came because of the stop say nothing.
      if (signal.aborted) return;
      const { decided, absences } = planPass(looks, this.#absences, this.#rules(), clock.now());
      this.#absences = absences;
      this.#outage.passed(
        decided.filter(isSuspected).map(({ node }) => node),
        isAnyInDoubt(absences),
      );
      await this.#carryOut(decided, signal);
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'Could not look at the nodes');
    } finally {
      this.#metrics.passed(clock.monotonicMs() - startMs);
    }
  }

  /** A cloud that knows of new machines late is not to be believed about new Nodes either. */
  #rules() {
    const { instances, settings } = this.#options;
    const { nodeDeletionConfirmations: confirmations, nodeDeletionMinAgeMs } = settings;
    return { confirmations, minAgeMs: Math.max(nodeDeletionMinAgeMs, instances.declare().consistencyMs ?? 0) };
  }

  async #look(nodes: readonly Node[], signal: AbortSignal): Promise<readonly Look[]> {
    const answers = await this.#ask(nodes.filter(isAskedFor), signal);
    for (const answer of answers.values()) this.#metrics.answered(answer, signal);
    this.#tellOfSilence(answers);
    return nodes.map((node) => {
      const answer = answers.get(node.metadata.name);
      return answer === undefined ? { node } : { node, answer };
    });
  }

  async #ask(nodes: readonly Node[], signal: AbortSignal): Promise<ReadonlyMap<string, InstanceAnswer>> {
    const { manager, settings } = this.#options;
    const call = { signal, log: manager.log };
    const options = { concurrency: settings.concurrentNodeLifecycleSyncs };
    const isInDoubt = ({ metadata: { uid = '' } }: Node) => this.#absences.get(uid)?.doubt !== undefined;
    const [doubted, others] = [nodes.filter(isInDoubt), nodes.filter((node) => !isInDoubt(node))];
    return new Map([
      ...(await this.#observer.observeMany(others.map(instanceRef), options, call)),
      ...(await this.#soloObserver.observeMany(doubted.map(instanceRef), options, call)),
    ]);
  }

  #tellOfSilence(answers: ReadonlyMap<string, InstanceAnswer>): void {
    const { log } = this.#options.manager;
    const unanswered = new Set<string>();
    for (const [node, answer] of answers) {
      if (answer.state !== 'failed') continue;
      unanswered.add(node);
      const level = this.#unanswered.has(node) ? 'debug' : 'warn';
      log[level]({ node, err: answer.error }, 'The cloud did not say whether the machine of a node exists');
    }
    this.#unanswered = unanswered;
  }

  async #carryOut(decided: readonly Decided[], signal: AbortSignal): Promise<void> {
    const { manager, settings } = this.#options;
    const work = decided.filter(({ decision }) => decision.type !== 'nothing');
    await inParallel(work, { concurrency: settings.concurrentNodeLifecycleSyncs, signal }, async (one) => {
      await this.#act(one, signal).catch((error: unknown) => {
        if (signal.aborted || isLeadershipLost(error)) return;
        const { name: node } = one.node.metadata;
        manager.log.warn({ node, decision: one.decision.type, err: error }, 'Could not act on a node');
      });
    });
  }

  async #act({ node, decision }: Decided, signal: AbortSignal): Promise<void> {
    const { client, clock, log } = this.#options.manager;
    const { name } = node.metadata;
    switch (decision.type) {
      case 'nothing':
        return;
      case 'removeShutdownTaint':
        return await writeTaints({ client, clock, signal }, node, taintsWhileReady);
      case 'addShutdownTaint':
        return await writeTaints({ client, clock, signal }, node, taintsWhileOff);
      case 'delete':
        return await this.#delete(node, decision.evidence, signal);
      case 'holdBack':
        log.debug({ node: name, why: decision.why }, 'Not deleting a node yet');
    }
  }

  /** The server is asked first: a cache may not know yet that the node is back, or is another one of the same name. */
  async #delete(node: Node, evidence: string, signal: AbortSignal): Promise<void> {
    const { client, events, log } = this.#options.manager;
    const { name, uid = '' } = node.metadata;
    const found = await client.live.find(Node, { name }, { signal });
    if (found === undefined || found.metadata.uid !== uid || !isAskedFor(found)) return;
    const note = `Deleting node ${name} because it does not exist in the cloud provider (${evidence})`;
    events.normal(node, 'DeletingNode', note);
    const { resourceVersion = '' } = found.metadata;
    try {
      await client.delete(Node, { name }, { preconditions: { uid, resourceVersion }, signal });
      log.info({ node: name, evidence }, 'Deleted node without a machine');
    } catch (error) {
      // Somebody wrote at the same moment: the next pass sees what.
      if (signal.aborted || isConflict(error) || isLeadershipLost(error)) return;
      events.warning(node, 'DeletingNodeFailed', `Failed deleting node ${name}: ${messageOf(error)}`);
      throw error;
    }
  }
}
