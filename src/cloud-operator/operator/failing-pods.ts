import type { ContainerStatus, Pod } from '../../api/generated/core-v1.ts';
import { redactedText } from '../../base/redaction.ts';

/** A container that does not come up, and why. */
export interface FailingContainer {
  /** Of the container in its pod. */
  readonly id: string;
  /** How often it was started again. */
  readonly restarts: number;
  /** What the kubelet calls it: `CrashLoopBackOff`. */
  readonly reason: string;
  readonly message: string;
}

/** What does not pass by itself, or takes somebody to look at it. */
const FAILING: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
]);
/** What decides besides the pods. */
export interface PodFacts {
  readonly now: Date;
  /** How often a container that was failing before had been started again then; undefined for one that was not. */
  readonly restartsBefore: (id: string) => number | undefined;
}

/** Between two crashes a container runs for a moment; one that runs for so long may be well. */
const WELL_AFTER_MS = 120_000;
/** Enough for a last line; whole logs are no part of a condition. */
const LONGEST_MESSAGE = 400;

/** By the names of the pods, so that the same pods are told in the same order. Pure. */
export function failingContainers(pods: readonly Pod[], facts: PodFacts): readonly FailingContainer[] {
  const sorted = pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return sorted.flatMap((pod) => {
    const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
    return [...initContainerStatuses, ...containerStatuses].flatMap((status) => {
      const id = `${pod.metadata.name}/${status.name}`;
      const reason = reasonOf(status, facts.now, facts.restartsBefore(id));
      return reason === undefined
        ? []
        : [{ id, ...failureOf(pod, status, reason), restarts: status.restartCount }];
    });
  });
}

const CRASHING = 'CrashLoopBackOff';

function reasonOf(status: ContainerStatus, now: Date, before = Infinity): string | undefined {
  const { waiting } = status.state ?? {};
  const reason = waiting?.reason ?? '';
  if (FAILING.has(reason)) return reason;
  return hasCrashed(status) && isCrashing(status, now, before) ? CRASHING : undefined;
}

function isCrashing(status: ContainerStatus, now: Date, before: number): boolean {
  const { running, terminated } = status.state ?? {};
  if (terminated !== undefined) return terminated.exitCode !== 0;
  // A node that was restarted ends a container that was well, and that is no crash.
  const isAgain = wasShort(status) || status.restartCount > before;
  return isAgain && isFresh(running?.startedAt, now);
}

const isFresh = (startedAt: string | undefined, now: Date): boolean =>
  now.getTime() - Date.parse(startedAt ?? '') < WELL_AFTER_MS;

const wasShort = ({ lastState }: ContainerStatus): boolean => {
  const { startedAt = '', finishedAt = '' } = lastState?.terminated ?? {};
  return Date.parse(finishedAt) - Date.parse(startedAt) < WELL_AFTER_MS;
};

/** More than once: the first time may be bad luck. */
const hasCrashed = ({ restartCount, lastState }: ContainerStatus): boolean =>
  restartCount > 1 && (lastState?.terminated?.exitCode ?? 0) !== 0;

function failureOf(
  { metadata }: Pod,
  status: ContainerStatus,
  reason: string,
): Pick<FailingContainer, 'reason' | 'message'> {
  const where = `container ${status.name} of pod ${metadata.name} is in ${reason}`;
  const terminated = status.state?.terminated ?? status.lastState?.terminated;
  if (terminated === undefined) return { reason, message: `${where}${tail(status.state?.waiting?.message)}` };
  const end = `${terminated.reason ?? 'Error'} with exit code ${terminated.exitCode}`;
  return { reason, message: `${where}: it ended by ${end}${tail(terminated.message)}` };
}

/** The end of a text says what went wrong, the beginning how it began. */
function tail(text = ''): string {
  const plain = redactedText(text.trim()).replaceAll(/\s+/g, ' ');
  if (plain === '') return '';
  return plain.length <= LONGEST_MESSAGE ? `: ${plain}` : `: …${plain.slice(-LONGEST_MESSAGE)}`;
}
