import type { DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../../api/generated/apps-v1-types.ts';
import { fewestAvailable } from './bounds.ts';
import { conditionNow, withCondition } from './deployment-conditions.ts';
import { type Rollout, setsOf, totalOf, totalSize } from './rollout.ts';

/** Pure: what a Deployment says of its pods, and whether enough of them are available (W10, W11). */
export function deploymentStatus(rollout: Rollout, now: Date): DeploymentStatus {
  const { deployment, newSet } = rollout;
  const { metadata, status } = deployment;
  const sets = setsOf(rollout);
  const available = totalOf(sets, 'availableReplicas');
  const terminating = terminatingReplicas(sets);
  return {
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...positive({
      replicas: totalOf(sets, 'replicas'),
      updatedReplicas: newSet?.status?.replicas ?? 0,
      readyReplicas: totalOf(sets, 'readyReplicas'),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, totalSize(sets) - available),
    }),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    ...(status?.collisionCount !== undefined && { collisionCount: status.collisionCount }),
    conditions: withCondition(
      status?.conditions ?? [],
      availability(available >= fewestAvailable(deployment), now),
    ),
  };
}

const availability = (isEnough: boolean, now: Date): DeploymentCondition =>
  conditionNow(
    isEnough
      ? {
          type: 'Available',
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        }
      : {
          type: 'Available',
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        },
    now,
  );

/** Undefined when a set that was looked at does not say it; one that nobody looked at yet has none. */
function terminatingReplicas(sets: readonly ReplicaSet[]): number | undefined {
  const counts = sets.map(({ status }) =>
    (status?.observedGeneration ?? 0) === 0 ? (status?.terminatingReplicas ?? 0) : status?.terminatingReplicas,
  );
  return counts.reduce<number | undefined>(
    (total, count) => (total === undefined || count === undefined ? undefined : total + count),
    0,
  );
}

/** Go leaves counts of zero out; a status that differs from the stored one only by that would be written for ever. */
const positive = <K extends string>(counts: Readonly<Record<K, number>>): Partial<Record<K, number>> =>
  Object.fromEntries(Object.entries<number>(counts).filter(([, count]) => count > 0)) as Partial<
    Record<K, number>
  >;
