import type { ContainerStatus, Pod } from '../../../api/generated/core-v1-types.ts';

/** Whose log is wanted. */
export interface WantedLog {
  readonly pod: Pod;
  readonly container: string;
  readonly isPrevious: boolean;
}

/** A run, nothing that was ever written, or why there is no log. */
export type LogChoice =
  | { readonly kind: 'run'; readonly run: number }
  | { readonly kind: 'empty' }
  | { readonly kind: 'problem'; readonly text: string };

const WAITING: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

/** Pure: which of the runs that left a log is meant, by what the node knows of the container (N41). */
export function logChoice({ pod, container, isPrevious }: WantedLog, runs: readonly number[]): LogChoice {
  const where = `container "${container}" in pod "${pod.metadata.name}"`;
  const noPrevious: LogChoice = { kind: 'problem', text: `previous terminated ${where} not found` };
  const { waitsFor, hasEnded, restartCount } = progressOf(pod, container);
  if (isPrevious && !hasEnded) return noPrevious;
  if (waitsFor !== undefined && !hasEnded) {
    return { kind: 'problem', text: `${where} is waiting to start: ${WAITING[waitsFor] ?? waitsFor}` };
  }
  const last = runs.includes(restartCount) ? restartCount : (runs.at(-1) ?? -1);
  // Between two runs the last one that ended is both: the one that is shown, and the one before the next.
  const run = isPrevious && waitsFor === undefined ? last - 1 : last;
  if (runs.includes(run)) return { kind: 'run', run };
  return isPrevious ? noPrevious : { kind: 'empty' };
}

interface Progress {
  /** Undefined when it runs, or has run and will not again. */
  readonly waitsFor: string | undefined;
  /** A run before this one has ended. */
  readonly hasEnded: boolean;
  readonly restartCount: number;
}

/** A node that says nothing of a container has not started it. */
function progressOf(pod: Pod, container: string): Progress {
  const status = statusesOf(pod).find(({ name }) => name === container);
  const { state = {}, lastState, restartCount = -1 } = status ?? {};
  const isStarted = state.running !== undefined || state.terminated !== undefined;
  return {
    waitsFor: isStarted ? undefined : (state.waiting?.reason ?? 'ContainerCreating'),
    hasEnded: lastState?.terminated !== undefined,
    restartCount,
  };
}

const statusesOf = ({ status = {} }: Pod): readonly ContainerStatus[] => [
  ...(status.containerStatuses ?? []),
  ...(status.initContainerStatuses ?? []),
  ...(status.ephemeralContainerStatuses ?? []),
];

/** Whether a pod has a container of this name. */
export const hasContainer = ({ spec }: Pod, container: string): boolean =>
  [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].some(
    ({ name }) => name === container,
  );
