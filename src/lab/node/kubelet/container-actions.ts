import type { Container, PodSpec } from '../../../api/generated/core-v1-types.ts';
import {
  type ContainersSeen,
  hasRunHere,
  isRunning,
  isSidecar,
  policyOf,
  runsAgain,
  seenOf,
} from './container-seen.ts';

/** A container that must not go on as it is. */
export interface Replacement {
  readonly name: string;
  /** Of the event `Killing`. */
  readonly message: string;
}

/** What is to be done about the containers of a pod now. */
export interface ContainerActions {
  readonly start: readonly Container[];
  readonly replace: readonly Replacement[];
  /** Nothing runs and nothing will, but for sidecars: the pod has ended. */
  readonly isOver: boolean;
}

/**
 * Init containers one after the other, sidecars kept from their turn on, regular containers together (N10); what ended
 * runs again as its policy says, and what has another image now is replaced (N17).
 */
export function containerActions(spec: PodSpec, seen: ContainersSeen): ContainerActions {
  const { initContainers = [], containers } = spec;
  const replace = [...initContainers.filter(isSidecar), ...containers].flatMap((one) => replacement(one, seen));
  const due = containers.filter((one) => isDue(one, spec, seen));
  if (due.length === 0 && containers.every((one) => isIdle(one, seen)))
    return { start: [], replace: [], isOver: true };
  const isPast = containers.some((one) => hasRunHere(seenOf(seen, one)));
  const init = isPast ? sidecarsAgain(initContainers, seen) : initSteps(spec, seen);
  if (!init.isDone) return { start: init.start, replace, isOver: init.hasFailed };
  return { start: [...init.start, ...due], replace, isOver: false };
}

interface InitSteps {
  readonly start: readonly Container[];
  /** Regular containers may run. */
  readonly isDone: boolean;
  readonly hasFailed: boolean;
}

const sidecarsAgain = (initContainers: readonly Container[], seen: ContainersSeen): InitSteps => ({
  start: initContainers.filter((one) => isSidecar(one) && isIdle(one, seen)),
  isDone: true,
  hasFailed: false,
});

/** As far as the first init container that is not done. Sidecars before it that stopped are started again. */
function initSteps(spec: PodSpec, seen: ContainersSeen): InitSteps {
  const start: Container[] = [];
  for (const container of spec.initContainers ?? []) {
    const step = initStep(container, spec, seen);
    if (step === 'done') continue;
    if (step === 'start') start.push(container);
    return { start, isDone: false, hasFailed: step === 'failed' };
  }
  return { start, isDone: true, hasFailed: false };
}

function initStep(
  container: Container,
  spec: PodSpec,
  seen: ContainersSeen,
): 'done' | 'wait' | 'start' | 'failed' {
  const { run, isBusy } = seenOf(seen, container);
  if (run?.kind === 'going' && isSidecar(container)) return run.isStarted ? 'done' : 'wait';
  if (isBusy || run?.kind === 'going') return 'wait';
  if (run === undefined || isSidecar(container)) return 'start';
  if (run.exitCode === 0) return 'done';
  return runsAgain(policyOf(container, spec, true), run.exitCode) ? 'start' : 'failed';
}

const isIdle = (container: Container, seen: ContainersSeen): boolean =>
  !seenOf(seen, container).isBusy && !isRunning(seenOf(seen, container));

function isDue(container: Container, spec: PodSpec, seen: ContainersSeen): boolean {
  if (!isIdle(container, seen)) return false;
  const { run } = seenOf(seen, container);
  if (run?.kind !== 'ended') return true;
  return run.isReplaced === true || runsAgain(policyOf(container, spec, false), run.exitCode);
}

function replacement({ name, image = '' }: Container, seen: ContainersSeen): readonly Replacement[] {
  const { run, isBusy } = seenOf(seen, { name });
  if (run?.kind !== 'going' || isBusy || run.image === image) return [];
  return [{ name, message: `Container ${name} definition changed, will be restarted` }];
}
