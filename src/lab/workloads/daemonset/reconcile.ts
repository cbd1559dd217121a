import { DaemonSet } from '../../../api/generated/apps-v1.ts';
import { Node, Pod } from '../../../api/generated/core-v1.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { claimObjects, selectorOf } from '../pods/claims.ts';
import { createPod, deletePod, isNamespaceTerminating } from '../pods/pod-writes.ts';
import { slowStart, worstOf } from '../pods/slow-start.ts';
import { writeStatus } from '../pods/status-write.ts';
import { type DaemonFacts, podsByNode } from './daemon-facts.ts';
import { daemonPod } from './daemon-pod.ts';
import { daemonStatus, isStatusChanged, nextAvailableInMs } from './daemon-status.ts';
import { FailedPodBackoff } from './failed-pod-backoff.ts';
import { ensureRevision, trimHistory } from './history.ts';
import { nodePlan, type PodPlan, type Removal } from './node-plan.ts';
import { rollingPlan } from './rolling-update.ts';

/** Pods that are made, and pods that are deleted, in one go; the rest follows when these are seen. */
const MOST_CHANGES = 250;

/** Pure: puts nodes in order; once they are, old pods may be replaced. */
export function podPlan(facts: DaemonFacts, isHeldBack: (node: string) => boolean): PodPlan {
  const plan = nodePlan(facts, isHeldBack);
  const isInOrder = plan.create.length === 0 && plan.remove.length === 0;
  if (!isInOrder || facts.set.spec.updateStrategy?.type === 'OnDelete') return plan;
  return { ...rollingPlan(facts), waiting: plan.waiting };
}

/** Keeps one pod on every node that should have one (W19–W25). */
export class DaemonSetReconciler implements Reconciler<DaemonSet> {
  readonly #backoff = new FailedPodBackoff();

  async reconcile(set: DaemonSet, context: ReconcileContext): Promise<Result> {
    if (Object.keys(set.spec.selector).length === 0) {
      const what = 'This daemon set is selecting all pods. A non-empty selector is required.';
      context.events.warning(set, 'SelectingAll', what);
      return DONE;
    }
    // What it owned may be gone or orphaned already, so that nothing can be said about it.
    if (set.metadata.deletionTimestamp !== undefined) return DONE;
    const pods = await ownedPods(set, context);
    const { hash, old } = await ensureRevision(set, pods, context);
    const before = await this.#facts(set, hash, context);
    const plan = podPlan(before, (node) => this.#backoff.leftMs(placeOf(set, node), before.now) > 0);
    const failures = await this.#apply(plan, before, context);
    const hasFailed = failures.length > 0;
    if (!hasFailed) await trimHistory(set, old, pods, context);
    const facts = await this.#facts(set, hash, context);
    const written = this.#tell(facts, context);
    // What failed before says more, and may be why the cache is not to be trusted.
    await (hasFailed ? written.catch(() => {}) : written);
    if (hasFailed) throw worstOf(failures);
    return this.#next(facts, plan);
  }

  async #facts(set: DaemonSet, hash: string, context: ReconcileContext): Promise<DaemonFacts> {
    const { client, signal, now } = context;
    const { items: nodes } = await client.list(Node, { signal });
    const pods = await ownedPods(set, context);
    return { set, hash, nodes, podsByNode: podsByNode(pods), now: now() };
  }

  /** Resolves to what went wrong. */
  async #apply(
    { create, remove }: PodPlan,
    facts: DaemonFacts,
    context: ReconcileContext,
  ): Promise<readonly unknown[]> {
    const { set, hash } = facts;
    const nodes = create.slice(0, MOST_CHANGES);
    const waiting = [...nodes];
    const makeNext = () => createPod(daemonPod(set, hash, waiting.shift() ?? ''), set, context);
    const { failures } = await slowStart(nodes.length, makeNext);
    const removals = remove.slice(0, MOST_CHANGES);
    for (const removal of removals) this.#announce(removal, facts, context);
    const deletions = await Promise.allSettled(removals.map(({ pod }) => deletePod(pod, set, context)));
    return [
      ...failures.filter((failure) => !isNamespaceTerminating(failure)),
      ...deletions.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : [])),
    ];
  }

  #announce({ pod, node, why }: Removal, { set, now }: DaemonFacts, { events }: ReconcileContext): void {
    if (why !== 'failed' && why !== 'succeeded') return;
    const name = `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;
    if (why === 'succeeded') {
      const text = `Found succeeded daemon pod ${name} on node ${node}, will try to delete it`;
      return events.normal(set, 'SucceededDaemonPod', text, { related: pod });
    }
    this.#backoff.failed(placeOf(set, node), now);
    const text = `Found failed daemon pod ${name} on node ${node}, will try to kill it`;
    events.warning(set, 'FailedDaemonPod', text, { related: pod });
  }

  async #tell(facts: DaemonFacts, context: ReconcileContext): Promise<void> {
    const { set } = facts;
    const status = daemonStatus(facts);
    if (isStatusChanged(set, status)) await writeStatus(context, DaemonSet, set, { status });
  }

  #next(facts: DaemonFacts, { waiting }: PodPlan): Result {
    const { set, now } = facts;
    const heldBackMs = waiting.map((node) => this.#backoff.leftMs(placeOf(set, node), now));
    const availableMs = nextAvailableInMs(facts);
    const waits = [...heldBackMs, ...(availableMs === undefined ? [] : [availableMs])];
    return waits.length === 0 ? DONE : after(Math.max(1, Math.min(...waits)));
  }
}

/** An edit of the daemon set begins anew: it may be the cure. */
const placeOf = ({ metadata, status }: DaemonSet, node: string): string =>
  `${metadata.uid ?? ''}/${status?.observedGeneration ?? 0}/${node}`;

async function ownedPods(set: DaemonSet, context: ReconcileContext): Promise<readonly Pod[]> {
  const { client, signal } = context;
  const { items } = await client.list(Pod, { namespace: set.metadata.namespace ?? '', signal });
  const selector = selectorOf(set.spec.selector);
  return claimObjects(items, { kind: Pod, owner: set, ownerKind: DaemonSet, selector }, context);
}
