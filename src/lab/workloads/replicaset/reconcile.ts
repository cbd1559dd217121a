import { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { messageOf } from '../../../base/errors.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { matchesLabels } from '../../../object/label-selector.ts';
import { controllerReferenceOf, isControlledBy } from '../../../object/owner-references.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';
import { claimObjects, selectorOf } from '../pods/claims.ts';
import { podFromTemplate } from '../pods/pod-from-template.ts';
import { isActive, isTerminating } from '../pods/pod-state.ts';
import { createPod, deletePod, isNamespaceTerminating } from '../pods/pod-writes.ts';
import { slowStart, worstOf } from '../pods/slow-start.ts';
import { writeStatus } from '../pods/status-write.ts';
import { podsToDelete } from './deletion-order.ts';
import { nextAvailabilityMs, type ReplicaFailure, replicaSetStatus } from './replica-set-status.ts';

/** Pods that are made or deleted in one go; the rest follows when these are seen (W15). */
export const MOST_CHANGES = 500;

/** Why there are not as many pods as there should be. */
interface Failed extends ReplicaFailure {
  readonly error: unknown;
}

/**
 * Keeps as many pods as a ReplicaSet asks for (W15–W18). What it wrote it reads back at once, and after a write of which
 * nobody knows the outcome it reads from the server, so that nothing is made twice (W16).
 */
export class ReplicaSetReconciler implements Reconciler<ReplicaSet> {
  async reconcile(set: ReplicaSet, context: ReconcileContext): Promise<Result> {
    const claim = { kind: Pod, owner: set, ownerKind: ReplicaSet, selector: selectorOf(set.spec.selector) };
    const pods = await podsIn(set, context);
    const owned = await claimObjects(pods.filter(isActive), claim, context);
    const isLeaving = set.metadata.deletionTimestamp !== undefined;
    const failed = isLeaving ? undefined : await manage(set, owned, context);
    const active = await this.#tell(set, failed, context);
    if (failed !== undefined) throw failed.error;
    const waitMs = nextAvailabilityMs(set, active, context.now());
    return waitMs === undefined ? DONE : after(waitMs);
  }

  /** Writes the status where it differs; resolves to the active pods. */
  async #tell(set: ReplicaSet, failed: Failed | undefined, context: ReconcileContext): Promise<readonly Pod[]> {
    const selector = selectorOf(set.spec.selector);
    const isMine = (pod: Pod): boolean =>
      isControlledBy(pod, set) && matchesLabels(selector, { ...pod.metadata.labels });
    // Again: what was just made and deleted counts.
    const mine = (await podsIn(set, context)).filter(isMine);
    const active = mine.filter(isActive);
    const status = replicaSetStatus(set, {
      active,
      terminating: mine.filter(isTerminating).length,
      now: context.now(),
      ...(failed !== undefined && { failure: { reason: failed.reason, message: failed.message } }),
    });
    if (semanticEqual(jsonOf(set.status), jsonOf(status))) return active;
    const written = writeStatus(context, ReplicaSet, set, { status });
    // What failed before says more, and may be why the cache is not to be trusted.
    await (failed === undefined ? written : written.catch(() => {}));
    return active;
  }
}

/** Makes what is missing and deletes what is too much; what went wrong, if something did. */
async function manage(
  set: ReplicaSet,
  active: readonly Pod[],
  context: ReconcileContext,
): Promise<Failed | undefined> {
  const missing = (set.spec.replicas ?? 1) - active.length;
  if (missing > 0) return createMissing(set, Math.min(missing, MOST_CHANGES), context);
  return missing < 0 ? deleteExcess(set, active, context) : undefined;
}

async function createMissing(
  set: ReplicaSet,
  count: number,
  context: ReconcileContext,
): Promise<Failed | undefined> {
  const pod = podFromTemplate(set, ReplicaSet, set.spec.template ?? {});
  const { failures } = await slowStart(count, () => createPod(pod, set, context));
  const error = worstOf(failures.filter((failure) => !isNamespaceTerminating(failure)));
  return error === undefined ? undefined : { reason: 'FailedCreate', message: messageOf(error), error };
}

async function deleteExcess(
  set: ReplicaSet,
  active: readonly Pod[],
  context: ReconcileContext,
): Promise<Failed | undefined> {
  const count = Math.min(active.length - (set.spec.replicas ?? 1), MOST_CHANGES);
  const related = await relatedPods(set, context);
  const leaving = podsToDelete(active, count, { related, now: context.now() });
  const results = await Promise.allSettled(leaving.map((pod) => deletePod(pod, set, context)));
  const error = worstOf(
    results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : [])),
  );
  if (error === undefined) return undefined;
  return { reason: 'FailedDelete', message: `unable to delete pods: ${messageOf(error)}`, error };
}

/** Pods that match any ReplicaSet of the same owner; none for a set without owner, as upstream. */
async function relatedPods(set: ReplicaSet, context: ReconcileContext): Promise<readonly Pod[]> {
  const owner = controllerReferenceOf(set);
  if (owner === undefined) return [];
  const { items: sets } = await context.client.list(ReplicaSet, namespaceOf(set));
  const selectors = sets
    .filter((other) => controllerReferenceOf(other)?.uid === owner.uid)
    .map((other) => selectorOf(other.spec.selector));
  const pods = await podsIn(set, context);
  return pods.filter(({ metadata }) =>
    selectors.some((selector) => matchesLabels(selector, { ...metadata.labels })),
  );
}

async function podsIn(set: ReplicaSet, { client, signal }: ReconcileContext): Promise<readonly Pod[]> {
  const { items } = await client.list(Pod, { ...namespaceOf(set), signal });
  return items;
}

const namespaceOf = ({ metadata: { namespace } }: ReplicaSet) => (namespace === undefined ? {} : { namespace });

// Plain JSON that came from the server, or goes there.
const jsonOf = (status: ReplicaSet['status']): JsonObject => (status ?? {}) as unknown as JsonObject;
