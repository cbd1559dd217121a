import type {
  Container,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
} from '../../../api/generated/core-v1-types.ts';
import { type ContainerSeen, type ContainersSeen, type EndedRun, isSidecar, UNSEEN } from './container-seen.ts';
import { LOST } from './container-status.ts';

/** What a kubelet says of a container that ran when it last looked, and is gone without a trace. */
const LOST_EARLIER =
  'The container could not be located when the pod was deleted.  The container used to be Running';

/**
 * What the node knows of a pod of an earlier life, whose processes are all dead (N18): what was running was lost,
 * restarts are counted on, and init containers run again before anything else does.
 */
export function recoveredContainers({ spec, status = {} }: Pod, now: Date): ContainersSeen {
  const { initContainers = [], containers } = spec;
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  const seen = (container: Container, statuses: readonly ContainerStatus[], isInit: boolean) => {
    const found = statuses.find(({ name }) => name === container.name);
    return [container.name, found === undefined ? UNSEEN : recovered(found, isInit, now)] as const;
  };
  return Object.fromEntries([
    ...initContainers.map((one) => seen(one, initContainerStatuses, !isSidecar(one))),
    ...containers.map((one) => seen(one, containerStatuses, false)),
  ]);
}

function recovered(status: ContainerStatus, isInit: boolean, now: Date): ContainerSeen {
  const { restartCount, containerID, lastState } = status;
  const run = newestRun(status, now);
  const before = status.state?.waiting === undefined ? lastState?.terminated : undefined;
  if (run === undefined) return { restartCount, isBusy: false };
  if (isInit) return { restartCount, last: run, isBusy: false };
  const id = run.id ?? (containerID === '' ? undefined : containerID);
  return {
    restartCount,
    run: { ...run, ...(id !== undefined && { id }) },
    ...(before !== undefined && { last: endedRun(before) }),
    isBusy: false,
  };
}

function newestRun({ state, lastState }: ContainerStatus, now: Date): EndedRun | undefined {
  const { running, terminated, waiting } = state ?? {};
  if (terminated !== undefined) return endedRun(terminated);
  if (running !== undefined) {
    const { startedAt } = running;
    return {
      ...LOST,
      message: LOST_EARLIER,
      isEarlier: true,
      finishedAt: now,
      ...(startedAt !== undefined && { startedAt: new Date(startedAt) }),
    };
  }
  const last = waiting === undefined ? undefined : lastState?.terminated;
  return last === undefined ? undefined : endedRun(last);
}

function endedRun(state: ContainerStateTerminated): EndedRun {
  const { containerID, exitCode, signal, reason = 'Error', message, startedAt, finishedAt } = state;
  return {
    kind: 'ended',
    exitCode,
    reason,
    isEarlier: true,
    ...(containerID !== undefined && { id: containerID }),
    ...(signal !== undefined && { signal }),
    ...(message !== undefined && { message }),
    ...(startedAt !== undefined && { startedAt: new Date(startedAt) }),
    ...(finishedAt !== undefined && { finishedAt: new Date(finishedAt) }),
  };
}
