import type { Pod, Volume } from '../../../api/generated/core-v1-types.ts';

/** Volumes of PersistentVolumeClaims on one node: attached, staged and published by whoever provides them (N36). */
export interface ClaimVolumes {
  /**
   * Makes the claim that the volume names ready for the pod, and resolves with where it is on this machine. Idempotent;
   * rejects with a VolumeProblem (`FailedMount` or `FailedAttachVolume`) while something is missing.
   */
  setUp(pod: Pod, volume: Volume): Promise<string>;
  /** Resolves when nothing of the pod is published any more. Idempotent, also for pods of an earlier life. */
  tearDown(uid: string): Promise<void>;
}
