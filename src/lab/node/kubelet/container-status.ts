import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  PodSpec,
} from '../../../api/generated/core-v1-types.ts';
import { time } from '../../../api/time.ts';
import {
  type ContainerSeen,
  type ContainersSeen,
  type EndedRun,
  hasRun,
  isSidecar,
  policyOf,
  runsAgain,
  seenOf,
} from './container-seen.ts';

export interface StatusContext {
  readonly spec: PodSpec;
  readonly imageId: (image: string) => string;
  /** Nothing runs again: a container that waits for another run is told as ended. */
  readonly isEnding: boolean;
  /** Everything has stopped: what never came to run is told as gone (N14). */
  readonly hasEnded: boolean;
}

export interface ContainerStatuses {
  readonly init: readonly ContainerStatus[];
  readonly regular: readonly ContainerStatus[];
}

/** What became of a container that nobody saw ending (N14, N18). */
const LOST_MESSAGE = 'The container could not be located when the pod was terminated';
export const LOST: EndedRun = {
  kind: 'ended',
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: LOST_MESSAGE,
};

/** The statuses of all containers of a pod (N9): init containers in the order of the spec, the others by name. */
export function containerStatuses(seen: ContainersSeen, context: StatusContext): ContainerStatuses {
  const { initContainers = [], containers } = context.spec;
  const init = initContainers.map((container) => statusOf(container, seenOf(seen, container), context, true));
  const hasInitialized = init.every(({ ready, started, name }) =>
    initContainers.some((one) => one.name === name && isSidecar(one)) ? started === true || ready : ready,
  );
  // A pod that never came so far keeps what it was waiting for; one that did must account for every container.
  const isAccounting = context.hasEnded && (hasInitialized || containers.some((one) => hasRun(seenOf(seen, one))));
  const regular = containers.map((container) => {
    const one = seenOf(seen, container);
    return statusOf(container, isAccounting ? accounted(one) : one, context, false);
  });
  return { init, regular: regular.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

const accounted = (seen: ContainerSeen): ContainerSeen =>
  seen.run?.kind === 'ended' ? seen : { ...seen, run: LOST };

function statusOf(
  container: Container,
  seen: ContainerSeen,
  context: StatusContext,
  isInit: boolean,
): ContainerStatus {
  const { name, image = '' } = container;
  const { run, restartCount } = seen;
  const states = statesOf(container, seen, context, isInit);
  // Of an ordinary init container nobody wants more than that it has done its work.
  const isReady = isInit && !isSidecar(container) ? hasSucceeded(run) : isUp(run, 'isReady');
  return {
    name,
    image,
    imageID: run === undefined ? '' : context.imageId(image),
    ...(run?.id !== undefined && { containerID: run.id }),
    restartCount,
    ready: isReady,
    started: isUp(run, 'isStarted'),
    ...states,
  };
}

const hasSucceeded = (run: ContainerSeen['run']): boolean => run?.kind === 'ended' && run.exitCode === 0;

const isUp = (run: ContainerSeen['run'], as: 'isStarted' | 'isReady'): boolean => run?.kind === 'going' && run[as];

interface States {
  readonly state: ContainerState;
  readonly lastState: ContainerState;
}

function statesOf(container: Container, seen: ContainerSeen, context: StatusContext, isInit: boolean): States {
  const { run, last, waiting } = seen;
  const { spec, isEnding } = context;
  if (run?.kind === 'going')
    return { state: { running: { startedAt: time(run.startedAt) } }, lastState: terminatedState(last) };
  if (run === undefined) {
    const { initContainers = [] } = spec;
    const reason = initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating';
    return { state: { waiting: waiting ?? { reason } }, lastState: terminatedState(last) };
  }
  const isComingBack = run.isReplaced === true || runsAgain(policyOf(container, spec, isInit), run.exitCode);
  return waiting !== undefined && isComingBack && !isEnding
    ? { state: { waiting }, lastState: terminatedState(run) }
    : { state: terminatedState(run), lastState: terminatedState(last) };
}

const terminatedState = (run: EndedRun | undefined): ContainerState =>
  run === undefined ? {} : { terminated: terminated(run) };

function terminated(run: EndedRun): ContainerStateTerminated {
  const { id, exitCode, signal, reason, message, startedAt, finishedAt } = run;
  return {
    exitCode,
    reason,
    ...(signal !== undefined && { signal }),
    ...(message !== undefined && { message }),
    ...(startedAt !== undefined && { startedAt: time(startedAt) }),
    ...(finishedAt !== undefined && { finishedAt: time(finishedAt) }),
    ...(id !== undefined && { containerID: id }),
  };
}
