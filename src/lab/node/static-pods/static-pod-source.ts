import type { Pod } from '../../../api/generated/core-v1-types.ts';

/** Pods that a node runs of its own accord, without an API server (N37). */
export interface StaticPodSource {
  /** As they are now; each has a uid that changes with its content. */
  pods(): readonly Pod[];
  /** `changed` is called when there may be others. */
  subscribe(changed: () => void): Disposable;
}
