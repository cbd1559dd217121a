import type { DaemonSet, Deployment } from '../../api/generated/apps-v1.ts';
import type { KubeObject } from '../../api/object.ts';

/** How far the rollout of one operand is. */
export interface Convergence {
  readonly isConverged: boolean;
  /** It will not get any further by itself: the text of an error. */
  readonly stalled?: string;
  /** What is missing, in words; absent once it has converged. */
  readonly waitingFor?: string;
}

export interface ConvergenceOptions {
  /** For how long a DaemonSet has had no node to run on, as far as is known; 0 unless told otherwise. */
  readonly emptyForMs?: number;
  /** What is there has been rolled out before: a DaemonSet that lost its nodes since then still is. */
  readonly hasConverged?: boolean;
}

/** A DaemonSet without nodes is in order after this long: until then the nodes may just be coming (section 18, 12). */
export const EMPTY_CONVERGED_MS = 120_000;

const CONVERGED: Convergence = { isConverged: true };

/** `live` is what the cluster has of the operand. Kinds without a rollout have always converged (R49). */
export function convergenceOf(
  { kind, metadata: { name } }: KubeObject,
  live: KubeObject | undefined,
  { emptyForMs = 0, hasConverged = false }: ConvergenceOptions = {},
): Convergence {
  if (kind !== 'Deployment' && kind !== 'DaemonSet') return CONVERGED;
  const what = `${kind} ${name}`;
  if (live === undefined) return waiting(`${what} does not exist yet`);
  if (!isObserved(live)) return waiting(`${what}: its controller has not seen its last change yet`);
  if (kind === 'Deployment') return deploymentConvergence(live, what);
  return daemonSetConvergence(live, what, hasConverged || emptyForMs > EMPTY_CONVERGED_MS);
}

/** Nothing wants to run: whoever asks about convergence remembers since when. */
export const isEmptyDaemonSet = (object: KubeObject): boolean => {
  if (object.kind !== 'DaemonSet' || !isObserved(object)) return false;
  const { desiredNumberScheduled = 0, currentNumberScheduled = 0 } = daemonSetStatus(object);
  return desiredNumberScheduled === 0 && currentNumberScheduled === 0;
};

/** By its last condition only: pods that go and come later are no rollout (R48). */
function deploymentConvergence(live: KubeObject, what: string): Convergence {
  const { conditions = [], updatedReplicas = 0, replicas = 0 } = deploymentStatus(live);
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  if (progressing?.status === 'True' && progressing.reason === 'NewReplicaSetAvailable') return CONVERGED;
  const text = `${what}: ${updatedReplicas} of ${replicas} pods are new`;
  if (progressing?.status !== 'False' || progressing.reason !== 'ProgressDeadlineExceeded') return waiting(text);
  const stalled = `deployment ${live.metadata.name} rollout stalled: ProgressDeadlineExceeded`;
  return { isConverged: false, stalled, waitingFor: text };
}

/** Nodes without a pod, and pods that are not ready, do not count: nodes come and restart at any time (R49). */
function daemonSetConvergence(live: KubeObject, what: string, mayBeEmpty: boolean): Convergence {
  const { currentNumberScheduled = 0, updatedNumberScheduled = 0 } = daemonSetStatus(live);
  if (isEmptyDaemonSet(live) && mayBeEmpty) return CONVERGED;
  if (currentNumberScheduled === 0) return waiting(`${what}: no node has its pod yet`);
  if (updatedNumberScheduled >= currentNumberScheduled) return CONVERGED;
  return waiting(`${what}: ${updatedNumberScheduled} of ${currentNumberScheduled} pods are new`);
}

const waiting = (waitingFor: string): Convergence => ({ isConverged: false, waitingFor });

const isObserved = (live: KubeObject): boolean =>
  (deploymentStatus(live).observedGeneration ?? 0) >= (live.metadata.generation ?? 0);

// Their kinds have been looked at; both have `observedGeneration`.
const deploymentStatus = (object: KubeObject): Partial<NonNullable<Deployment['status']>> =>
  (object as Deployment).status ?? {};
const daemonSetStatus = (object: KubeObject): Partial<NonNullable<DaemonSet['status']>> =>
  (object as DaemonSet).status ?? {};
