import { ApiError, isNetwork } from '../../../kube/client/api-error.ts';

/** What came of making many things of one sort. */
export interface SlowStart<T> {
  readonly made: readonly T[];
  /** Of the batch after which nothing more was tried; empty when everything was made. */
  readonly failures: readonly unknown[];
}

/** Pure: 1, 2, 4 … until `count` are reached (W15). */
export function batchSizes(count: number): readonly number[] {
  const sizes: number[] = [];
  for (let size = 1, left = count; left > 0; size *= 2) {
    sizes.push(Math.min(size, left));
    left -= size;
  }
  return sizes;
}

/**
 * Makes `count` things in growing batches and stops after the first one in which something failed: what would fail 500
 * times with the same words fails once (W15). Never rejects. A batch is made at once; whoever calls bounds `count`.
 */
export async function slowStart<T>(count: number, make: () => Promise<T>): Promise<SlowStart<T>> {
  const made: T[] = [];
  for (const size of batchSizes(count)) {
    const results = await Promise.allSettled(Array.from({ length: size }, make));
    made.push(...results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
    const failures = results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []));
    if (failures.length > 0) return { made, failures };
  }
  return { made, failures: [] };
}

/** Of several failures the one that leaves open what happened, so that whoever hears of it looks again; else the first. */
export const worstOf = (failures: readonly unknown[]): unknown =>
  failures.find((failure) => isNetwork(failure) || (failure instanceof ApiError && failure.code >= 500)) ??
  failures[0];
