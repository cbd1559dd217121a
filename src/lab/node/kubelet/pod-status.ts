import type { Pod, PodCondition, PodStatus } from '../../../api/generated/core-v1-types.ts';
import { time } from '../../../api/time.ts';
import { type ContainersSeen, hasRunHere, seenOf, type Waiting } from './container-seen.ts';
import { containerStatuses } from './container-status.ts';
import { type PlainCondition, podConditions } from './pod-conditions.ts';
import { type PodPhase, podPhase } from './pod-phase.ts';

/** Why a pod ends, where its containers do not tell: `DeadlineExceeded`, `OutOfcpu` … */
export interface EndReason extends Waiting {
  readonly message: string;
}

/** It ran for longer than its spec allows (N15). */
export const DEADLINE_EXCEEDED: EndReason = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};

/** Where a pod is in its life. */
export type PodStage =
  /** Containers are started and kept running. */
  | { readonly kind: 'going' }
  /** Containers are being stopped, none comes back. */
  | { readonly kind: 'ending'; readonly why?: EndReason }
  /** Nothing of it is left. */
  | { readonly kind: 'ended'; readonly why?: EndReason }
  /** It was never let in (N16). */
  | { readonly kind: 'rejected'; readonly why: EndReason };

export interface StatusFacts {
  /** Newest spec. */
  readonly pod: Pod;
  /** What the server has: conditions of others, and since when ours hold. */
  readonly before: PodStatus;
  readonly seen: ContainersSeen;
  readonly stage: PodStage;
  /** Volumes and address are there. */
  readonly isReadyToStart: boolean;
  readonly podIp: string | undefined;
  readonly hostIp: string;
  /** When the node first saw the pod. */
  readonly startTime: Date;
  readonly imageId: (image: string) => string;
  readonly now: Date;
}

/** The parts of a status that the node owns; `undefined` is as good as absent. */
export type OwnedStatus = Pick<
  PodStatus,
  | 'phase'
  | 'reason'
  | 'message'
  | 'startTime'
  | 'hostIP'
  | 'hostIPs'
  | 'podIP'
  | 'podIPs'
  | 'conditions'
  | 'initContainerStatuses'
  | 'containerStatuses'
  | 'observedGeneration'
>;

/** The whole status that the node wants its pod to have (N7–N9). */
export function podStatus(facts: StatusFacts): OwnedStatus {
  const { pod, before, stage, hostIp, podIp, now } = facts;
  const { generation } = pod.metadata;
  const base = {
    startTime: before.startTime ?? time(facts.startTime),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  if (stage.kind === 'rejected') return { ...base, phase: 'Failed', ...stage.why };
  const isEnding = stage.kind !== 'going';
  const hasEnded = stage.kind === 'ended';
  const { spec } = pod;
  const { init, regular } = containerStatuses(facts.seen, { spec, imageId: facts.imageId, isEnding, hasEnded });
  const hasInitialized = spec.containers.some((one) => hasRunHere(seenOf(facts.seen, one)));
  const statuses = [...init, ...regular];
  const phase = settledPhase(podPhase({ spec, statuses, isEnding, hasInitialized }), facts);
  const conditions = podConditions({
    pod: { ...pod, status: before },
    statuses,
    phase,
    isReadyToStart: facts.isReadyToStart && !hasEnded,
  });
  return {
    ...base,
    phase,
    ...reasonOf(facts, phase),
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    ...(podIp !== undefined && { podIP: podIp, podIPs: [{ ip: podIp }] }),
    conditions: conditions.map((condition) => dated(condition, before, now, generation)),
    ...(init.length > 0 && { initContainerStatuses: init }),
    containerStatuses: regular,
  };
}

const isOver = (phase: PodStatus['phase']): boolean => phase === 'Succeeded' || phase === 'Failed';

/** An end is told when nothing is left, and is never taken back. */
function settledPhase(computed: PodPhase, { before, stage }: StatusFacts): PodPhase {
  if (before.phase !== undefined && isOver(before.phase)) return before.phase;
  if (stage.kind === 'ended') return stage.why !== undefined || !isOver(computed) ? 'Failed' : computed;
  if (!isOver(computed)) return computed;
  // Its last container has stopped, but something else of it has not.
  return before.phase ?? 'Pending';
}

function reasonOf({ before, stage }: StatusFacts, phase: PodPhase): Partial<EndReason> {
  if (stage.kind === 'ended' && stage.why !== undefined) return stage.why;
  const { reason, message } = before;
  if (phase !== before.phase) return {};
  return { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
}

/** `lastTransitionTime` moves with the status only (N8). */
function dated(
  condition: PlainCondition,
  before: PodStatus,
  now: Date,
  generation: number | undefined,
): PodCondition {
  const old = before.conditions?.find(({ type }) => type === condition.type);
  const isSame = old?.status === condition.status && old.lastTransitionTime !== undefined;
  return {
    ...condition,
    lastTransitionTime: isSame ? old.lastTransitionTime : time(now),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}
