import type {
  Container,
  ContainerStatus,
  Pod,
  PodCondition,
  PodSpec,
} from '../../../api/generated/core-v1-types.ts';
import { isSidecar } from './container-seen.ts';
import type { PodPhase } from './pod-phase.ts';

export interface ConditionFacts {
  readonly pod: Pod;
  /** Of init containers and regular ones alike; undefined while nothing is known of them. */
  readonly statuses: readonly ContainerStatus[] | undefined;
  readonly phase: PodPhase;
  /** Volumes and address are there: containers may start. */
  readonly isReadyToStart: boolean;
}

/** A condition before anybody says since when it holds. */
export type PlainCondition = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

/** The conditions that the node owns (N8), in the order in which upstream lists them. */
export function podConditions(facts: ConditionFacts): readonly PlainCondition[] {
  return [
    facts.isReadyToStart
      ? isTrue('PodReadyToStartContainers')
      : isFalse('PodReadyToStartContainers', 'PodSandboxNotReady'),
    initialized(facts),
    ready(facts),
    containersReady(facts),
    isTrue('PodScheduled'),
  ];
}

const isTrue = (type: string, reason?: string): PlainCondition => ({
  type,
  status: 'True',
  ...(reason !== undefined && { reason }),
});

const isFalse = (type: string, reason: string, message?: string): PlainCondition => ({
  type,
  status: 'False',
  reason,
  ...(message !== undefined && { message }),
});

function initialized({ pod: { spec }, statuses, phase }: ConditionFacts): PlainCondition {
  const { initContainers = [] } = spec;
  if (statuses === undefined && initContainers.length > 0)
    return isFalse('Initialized', 'UnknownContainerStatuses');
  const { unknown, failing } = sorted(initContainers, statuses ?? [], isInitialized);
  if (phase === 'Succeeded' && unknown.length === 0) return isTrue('Initialized', 'PodCompleted');
  if (hasStarted(spec, statuses ?? [])) return isTrue('Initialized');
  const message = told(unknown, failing, 'incomplete');
  return message === '' ? isTrue('Initialized') : isFalse('Initialized', 'ContainersNotInitialized', message);
}

const isInitialized = (container: Container, status: ContainerStatus): boolean =>
  isSidecar(container) ? status.started === true : status.ready;

/** A regular container runs or ran: a sidecar that restarts changes nothing any more. */
function hasStarted({ containers }: PodSpec, statuses: readonly ContainerStatus[]): boolean {
  return statuses.some(({ name, state, lastState, started }) => {
    if (!containers.some((container) => container.name === name)) return false;
    const hasEnded = state?.terminated !== undefined || lastState?.terminated !== undefined;
    return hasEnded || state?.running !== undefined || started === true;
  });
}

function containersReady({ pod: { spec }, statuses, phase }: ConditionFacts): PlainCondition {
  const type = 'ContainersReady';
  if (statuses === undefined) return isFalse(type, 'UnknownContainerStatuses');
  const counting = [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers];
  const { unknown, failing } = sorted(counting, statuses, (_container, status) => status.ready);
  if (phase === 'Succeeded' && unknown.length === 0) return isFalse(type, 'PodCompleted');
  if (phase === 'Failed') return isFalse(type, 'PodFailed');
  const message = told(unknown, failing, 'unready');
  return message === '' ? isTrue(type) : isFalse(type, 'ContainersNotReady', message);
}

function ready(facts: ConditionFacts): PlainCondition {
  const containers = containersReady(facts);
  if (containers.status !== 'True') return { ...containers, type: 'Ready' };
  const { spec, status } = facts.pod;
  const messages = (spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = status?.conditions?.find(({ type }) => type === conditionType);
    if (gate === undefined)
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    return gate.status === 'True'
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
  });
  return messages.length === 0 ? isTrue('Ready') : isFalse('Ready', 'ReadinessGatesNotReady', messages.join(', '));
}

/** Names of containers without status, and of those that do not hold. */
function sorted(
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
  holds: (container: Container, status: ContainerStatus) => boolean,
): { readonly unknown: readonly string[]; readonly failing: readonly string[] } {
  const found = containers.map((container) => ({
    container,
    status: statuses.find(({ name }) => name === container.name),
  }));
  return {
    unknown: found.filter(({ status }) => status === undefined).map(({ container }) => container.name),
    failing: found
      .filter(({ container, status }) => status !== undefined && !holds(container, status))
      .map(({ container }) => container.name),
  };
}

/** Lists in brackets, as Go prints them. */
const told = (unknown: readonly string[], failing: readonly string[], word: string): string =>
  [
    ...(unknown.length > 0 ? [`containers with unknown status: [${unknown.join(' ')}]`] : []),
    ...(failing.length > 0 ? [`containers with ${word} status: [${failing.join(' ')}]`] : []),
  ].join(', ');
