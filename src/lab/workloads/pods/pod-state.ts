import type { Pod } from '../../../api/generated/core-v1-types.ts';

/** Neither ended nor on its way out (W15). */
export const isActive = (pod: Pod): boolean => pod.metadata.deletionTimestamp === undefined && !hasEnded(pod);

/** On its way out, and maybe still running. */
export const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined && !hasEnded(pod);

/** It will never run again. */
export const hasEnded = ({ status }: Pick<Pod, 'status'>): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Since when it is ready; undefined when it is not, the beginning of time when nobody says since when. */
export function readySince({ status }: Pick<Pod, 'status'>): Date | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return undefined;
  return new Date(ready.lastTransitionTime ?? 0);
}

export const isReady = (pod: Pick<Pod, 'status'>): boolean => readySince(pod) !== undefined;

/** Ready for at least `minReadySeconds` (W18). */
export function isAvailable(pod: Pick<Pod, 'status'>, minReadySeconds: number, now: Date): boolean {
  const since = readySince(pod);
  if (since === undefined) return false;
  if (minReadySeconds === 0) return true;
  return since.getTime() > 0 && since.getTime() + minReadySeconds * 1000 <= now.getTime();
}

/** How long until it is available, when nothing happens; undefined when it is, or is not ready. */
export function availableInMs(pod: Pick<Pod, 'status'>, minReadySeconds: number, now: Date): number | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  const leftMs = since.getTime() + minReadySeconds * 1000 - now.getTime();
  return leftMs > 0 ? leftMs : undefined;
}
