import type { Node, Pod, Taint, Toleration } from '../../../api/generated/core-v1-types.ts';
import { tolerates } from '../placement/taints.ts';

/** What becomes of a pod: it goes now, it goes when it was tolerated long enough, or it stays. */
export type Fate = 'now' | 'stay' | { readonly afterMs: number };

export const noExecuteTaints = (node: Node | undefined): readonly Taint[] =>
  (node?.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');

/**
 * Pure: what taints that no pod may stay with mean for one (W37). Of several tolerations for a taint the first counts;
 * of several taints the one that is tolerated for the shortest time.
 */
export function podFate(taints: readonly Taint[], tolerations: readonly Toleration[] = []): Fate {
  const used = taints.map((taint) => tolerations.find((toleration) => tolerates(toleration, taint)));
  if (used.includes(undefined)) return 'now';
  const seconds = used.flatMap((toleration) => toleration?.tolerationSeconds ?? []);
  if (seconds.length === 0) return 'stay';
  const shortest = Math.min(...seconds);
  return shortest <= 0 ? 'now' : { afterMs: shortest * 1000 };
}

/** An eviction that waits. */
export interface Waiting {
  readonly uid: string;
  readonly sinceMs: number;
  readonly dueMs: number;
}

/**
 * Pure: when a pod goes that is tolerated for a while: counted from when that was first seen. Who tolerates longer later
 * gains nothing by it.
 */
export function waitingOf({ metadata }: Pod, afterMs: number, before: Waiting | undefined, now: Date): Waiting {
  const { uid = '' } = metadata;
  const known = before?.uid === uid ? before : undefined;
  const sinceMs = known?.sinceMs ?? now.getTime();
  return { uid, sinceMs, dueMs: Math.min(known?.dueMs ?? Number.POSITIVE_INFINITY, sinceMs + afterMs) };
}
