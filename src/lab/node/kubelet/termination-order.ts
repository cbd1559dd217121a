import type { Pod, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { isSidecar } from './container-seen.ts';

/**
 * Who must be gone before a container is told to stop (N14): nobody for regular ones; for a sidecar all regular ones and
 * the sidecars after it.
 */
export function stopsAfter({ initContainers = [], containers }: PodSpec, name: string): readonly string[] {
  const at = initContainers.findIndex((one) => one.name === name && isSidecar(one));
  if (at < 0) return [];
  const later = initContainers.slice(at + 1).filter(isSidecar);
  return [...containers, ...later].map((one) => one.name);
}

/** When a pod that began at this time has been active for too long (N15); never, for most. */
export const activeUntilMs = ({ activeDeadlineSeconds }: PodSpec, start: Date): number =>
  start.getTime() + (activeDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;

const DEFAULT_GRACE_SECONDS = 30;
const SHORTEST_GRACE_MS = 2000;

/** How long a pod may take to stop: what its deletion says, else what its spec says. */
export function graceMs(pod: Pod): number {
  const { deletionGracePeriodSeconds: asked } = pod.metadata;
  return asked === undefined ? specGraceMs(pod) : Math.max(0, asked) * 1000;
}

/** How long one of its containers may take to stop while the pod stays. */
export const specGraceMs = ({ spec }: Pod): number =>
  Math.max(0, spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;

/** What is left of the grace after hooks and turns, between two seconds and the longest that the lab allows (T6). */
export const graceLeftMs = (totalMs: number, spentMs: number, maxMs: number): number =>
  Math.min(Math.max(totalMs - spentMs, SHORTEST_GRACE_MS), maxMs);
