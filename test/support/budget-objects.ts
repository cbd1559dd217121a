import type { Deployment, ReplicaSet, StatefulSet } from '../../src/api/generated/apps-v1-types.ts';
import type { Pod, ReplicationController } from '../../src/api/generated/core-v1-types.ts';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
} from '../../src/api/generated/policy-v1-types.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { PodControllers } from '../../src/lab/workloads/disruption/expected-scale.ts';
import { ownedBy } from '../../src/object/owner-references.ts';
import { type PodFacts, servicePod } from './service-world.ts';

export const NOW = new Date('2026-01-01T12:00:00Z');
export const NOBODY: PodControllers = {
  deployments: [],
  replicaSets: [],
  statefulSets: [],
  replicationControllers: [],
};

const SELECTOR = { matchLabels: { app: 'web' } };

export const budget = (
  spec: Partial<PodDisruptionBudgetSpec>,
  status?: PodDisruptionBudgetStatus,
): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { namespace: 'default', name: 'web', uid: 'uid-budget', generation: 2 },
  spec: { selector: SELECTOR, ...spec },
  ...(status !== undefined && { status }),
});

const metadata = (name: string, owner?: KubeObject) => ({
  namespace: 'default',
  name,
  uid: `uid-${name}`,
  ...(owner !== undefined && ownedBy(owner)),
});

export const deploymentOf = (name: string, replicas: number): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadata(name),
  spec: { replicas, selector: SELECTOR, template: {} },
});

export const setOf = (name: string, replicas: number, owner?: KubeObject): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: metadata(name, owner),
  spec: { replicas, selector: SELECTOR },
});

export const statefulSetOf = (name: string, replicas: number): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: metadata(name),
  spec: { replicas, selector: SELECTOR, template: {}, serviceName: '' },
});

export const replicationControllerOf = (name: string, replicas?: number): ReplicationController => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: metadata(name),
  spec: { ...(replicas !== undefined && { replicas }) },
});

/** Ready ones of the owner, and others that are not. */
export const podsOf = (owner: KubeObject | undefined, ready: number, others = 0): readonly Pod[] =>
  Array.from({ length: ready + others }, (_, at) => {
    const name = `${owner?.metadata.name ?? 'naked'}-${at}`;
    return ownedPod(name, owner, { isReady: at < ready });
  });

export function ownedPod(name: string, owner: KubeObject | undefined, facts: PodFacts = {}): Pod {
  const pod = servicePod(name, facts);
  return owner === undefined ? pod : { ...pod, metadata: { ...pod.metadata, ...ownedBy(owner) } };
}
