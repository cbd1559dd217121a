import { Deployment, ReplicaSet, StatefulSet } from '../../../api/generated/apps-v1.ts';
import { Pod, ReplicationController } from '../../../api/generated/core-v1.ts';
import { PodDisruptionBudget, type PodDisruptionBudgetStatus } from '../../../api/generated/policy-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { keyOf, keyText } from '../../../api/object.ts';
import { SlipwayError } from '../../../base/errors.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { matchesLabels } from '../../../object/label-selector.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';
import { writeStatus } from '../pods/status-write.ts';
import { budgetSelector } from './budget-selector.ts';
import { type BudgetFacts, type BudgetResult, budgetStatus, failedStatus } from './budget-status.ts';

/** Keeps in the status of a budget how many of its pods may go (W33). */
export class DisruptionReconciler implements Reconciler<PodDisruptionBudget> {
  async reconcile(budget: PodDisruptionBudget, context: ReconcileContext): Promise<Result> {
    const facts = await factsOf(budget, context);
    const result = resultOf(facts);
    if (result instanceof SlipwayError) {
      // Nobody may be evicted while nobody knows; an edit or a change of the pods makes it known.
      const isNews = await write(budget, failedStatus(budget, result.message, facts.now), context);
      const note = `Failed to calculate the number of expected pods: ${result.message}`;
      if (isNews) context.events.warning(budget, 'CalculateExpectedPodCountFailed', note);
      return DONE;
    }
    const isNews = await write(budget, result.status, context);
    if (isNews) tell(facts, result, context);
    return result.recheckInMs === undefined ? DONE : after(result.recheckInMs);
  }
}

function resultOf(facts: BudgetFacts): BudgetResult | SlipwayError {
  try {
    return budgetStatus(facts);
  } catch (error) {
    if (error instanceof SlipwayError && error.disposition === 'user') return error;
    throw error;
  }
}

async function factsOf(budget: PodDisruptionBudget, context: ReconcileContext): Promise<BudgetFacts> {
  const { client, signal, now } = context;
  const { namespace = '' } = budget.metadata;
  const options = { namespace, signal };
  const selector = budgetSelector(budget);
  const { items: pods } = await client.list(Pod, options);
  const { items: deployments } = await client.list(Deployment, options);
  const { items: replicaSets } = await client.list(ReplicaSet, options);
  const { items: statefulSets } = await client.list(StatefulSet, options);
  const { items: replicationControllers } = await client.list(ReplicationController, options);
  return {
    budget,
    pods: pods.filter(({ metadata }) => matchesLabels(selector, { ...metadata.labels })),
    controllers: { deployments, replicaSets, statefulSets, replicationControllers },
    now: now(),
  };
}

/** Whether it was another one. */
async function write(
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
  context: ReconcileContext,
): Promise<boolean> {
  if (semanticEqual(jsonOf(budget.status), jsonOf(status))) return false;
  await writeStatus(context, PodDisruptionBudget, budget, { status });
  return true;
}

/** Only with a change, so that a look at what is known already says nothing (A6). */
function tell(
  { budget, pods }: BudgetFacts,
  { unmanaged, undeleted }: BudgetResult,
  context: ReconcileContext,
): void {
  const { events } = context;
  if (pods.length === 0) events.normal(budget, 'NoPods', 'No matching pods found');
  if (unmanaged.length > 0) {
    const who = unmanaged.join(', ');
    const note = `No controller says how many of these pods there should be, so they do not count: ${who}; give minAvailable as a number to count them`;
    events.warning(budget, 'UnmanagedPods', note);
  }
  for (const pod of undeleted) {
    const note = `Budget ${keyText(keyOf(budget))} expected this pod to be deleted after its eviction, and it was not`;
    events.warning(pod, 'NotDeleted', note);
  }
}

// Plain JSON that came from the server, or goes there.
const jsonOf = (status: PodDisruptionBudgetStatus | undefined): JsonObject =>
  (status ?? {}) as unknown as JsonObject;
