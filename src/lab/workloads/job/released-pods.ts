import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { TRACKING_FINALIZER } from './job-pod.ts';
import { uidOf } from './job-tally.ts';

/** No cache is that far behind. */
const FORGET_MS = 10 * 60_000;

/**
 * Pods whose finalizer is known to be gone. When the answer to that write was lost, the server is asked once, but the
 * cache may still show the finalizer after that: such a pod would be counted again. A new process knows none and needs
 * none, since it reads everything anew. Holds the pods of the last ten minutes.
 */
export class ReleasedPods {
  readonly #sinceMs = new Map<string, number>();

  add(uids: Iterable<string>, now: Date): void {
    const nowMs = now.getTime();
    for (const [uid, sinceMs] of this.#sinceMs) {
      if (nowMs - sinceMs > FORGET_MS) this.#sinceMs.delete(uid);
    }
    for (const uid of uids) this.#sinceMs.set(uid, nowMs);
  }

  /** The pods as they are known to be, whatever the cache says. */
  seen(pods: readonly Pod[]): readonly Pod[] {
    return pods.map((pod) => {
      if (!this.#sinceMs.has(uidOf(pod))) return pod;
      const finalizers = (pod.metadata.finalizers ?? []).filter((name) => name !== TRACKING_FINALIZER);
      return { ...pod, metadata: { ...pod.metadata, finalizers } };
    });
  }
}
