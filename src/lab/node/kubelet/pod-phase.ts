import type { Container, ContainerStatus, PodSpec, PodStatus } from '../../../api/generated/core-v1-types.ts';
import { isSidecar, policyOf, type RestartPolicy, runsAgain } from './container-seen.ts';

export type PodPhase = NonNullable<PodStatus['phase']>;

export interface PhaseFacts {
  readonly spec: PodSpec;
  /** Of init containers and regular ones alike. */
  readonly statuses: readonly ContainerStatus[];
  /** Nothing of the pod will run again, whatever the policy says: it is being deleted, or its time is over. */
  readonly isEnding: boolean;
  /** A regular container has run: the pod does not go back to Pending because a sidecar restarts. */
  readonly hasInitialized: boolean;
}

/** What one container counts as. */
type Count = 'missing' | 'waiting' | 'running' | 'stopped';

interface Counted {
  readonly count: Count;
  /** Of the newest run that ended. */
  readonly exitCode?: number;
  readonly willRunAgain: boolean;
}

/** The phase that the states of the containers add up to (N7). */
export function podPhase(facts: PhaseFacts): PodPhase {
  const { spec, statuses, isEnding, hasInitialized } = facts;
  const { initContainers = [], containers } = spec;
  const counted = (container: Container, isInit: boolean) =>
    countOf(
      statuses.find(({ name }) => name === container.name),
      policyOf(container, spec, isInit),
    );
  const ordinary = initContainers.filter((container) => !isSidecar(container)).map((one) => counted(one, true));
  if (ordinary.some(({ exitCode = 0, willRunAgain }) => exitCode !== 0 && !willRunAgain)) return 'Failed';
  const sidecars = initContainers.filter(isSidecar);
  const isInitializing = !hasInitialized && sidecars.some((sidecar) => isPending(sidecar, statuses));
  if (ordinary.some(({ count }) => count !== 'stopped') || isInitializing) return 'Pending';
  // A sidecar that is over counts for nothing: it keeps no pod alive.
  const alongside = sidecars.map((one) => counted(one, true)).filter(({ count }) => count !== 'stopped');
  const regular = containers.map((one) => counted(one, false));
  return phaseOf(regular, [...regular, ...alongside], isEnding);
}

function phaseOf(regular: readonly Counted[], all: readonly Counted[], isEnding: boolean): PodPhase {
  if (all.some(({ count }) => count === 'waiting' || count === 'missing')) return 'Pending';
  if (all.some(({ count }) => count === 'running')) return 'Running';
  if (regular.length === 0) return 'Pending';
  if (!isEnding && regular.some(({ willRunAgain }) => willRunAgain)) return 'Running';
  return regular.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed';
}

function countOf(status: ContainerStatus | undefined, policy: RestartPolicy): Counted {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running !== undefined) return { count: 'running', willRunAgain: false };
  const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
  if (ended !== undefined) {
    const { exitCode } = ended;
    return { count: 'stopped', exitCode, willRunAgain: runsAgain(policy, exitCode) };
  }
  return { count: waiting === undefined ? 'missing' : 'waiting', willRunAgain: false };
}

/** A sidecar that has not started, and never ran before. */
function isPending({ name }: Container, statuses: readonly ContainerStatus[]): boolean {
  const status = statuses.find((one) => one.name === name);
  if (status === undefined) return false;
  const { running, terminated } = status.state ?? {};
  if (running !== undefined) return status.started !== true;
  return terminated === undefined && status.lastState?.terminated === undefined;
}
