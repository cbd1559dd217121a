import type { Node } from '../../api/generated/core-v1.ts';
import { messageOf, retryError, type SlipwayError } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import { isLeadershipLost } from '../../kube/client/api-error.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile.ts';
import type { CallContext } from '../../sdk/capabilities/call.ts';
import type { LoadBalancers } from '../../sdk/capabilities/load-balancers.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import type { BalancerOwner } from './balancer-plan.ts';
import type { Eligibility } from './eligible-nodes.ts';
import type { ServiceLocks } from './service-locks.ts';
import type { ServiceMemory } from './service-memory.ts';
import type { ServiceMetrics } from './service-metrics.ts';

/** What the two sides of the controller share: Services change balancers, and so do nodes. */
export interface Balancing {
  readonly cloud: LoadBalancers;
  readonly owner: BalancerOwner;
  readonly eligibility: Eligibility;
  /** As the cache has them now. */
  readonly nodes: () => readonly Node[];
  readonly memory: ServiceMemory;
  readonly locks: ServiceLocks;
  readonly metrics: ServiceMetrics;
}

export const callOf = ({ signal, log }: ReconcileContext): CallContext => ({ signal, log });

/** For users: what was thrown, without secrets. */
export const textOf = (thrown: unknown): string => redactedText(messageOf(thrown));

/** Nobody's fault and nothing to tell: this process stops, or leads no more. */
export const isCutOff = (thrown: unknown, { signal }: ReconcileContext): boolean =>
  signal.aborted || isLeadershipLost(thrown);

/**
 * Runs a step whose failure begins with `what`. Whatever kind of failure it is, the step is tried again (S18): only the
 * cloud knows whether what it refuses now will do later, and nobody else would ask it. It may say when.
 */
export async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw isLeadershipLost(thrown) ? thrown : failure(what, thrown);
  }
}

const failure = (what: string, thrown: unknown): SlipwayError => {
  const retryAfterMs = thrown instanceof ProviderError ? thrown.retryAfterMs : undefined;
  return retryError('LoadBalancerFailed', `${what}: ${messageOf(thrown)}`, {
    cause: thrown,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
};
