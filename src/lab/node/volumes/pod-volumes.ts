import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import type { Mount } from '../../process/mounts.ts';

/** A volume that is not there yet: an event `FailedMount` (or `FailedAttachVolume`) tells why, and it is tried again. */
export class VolumeProblem extends Error {
  readonly reason: 'FailedMount' | 'FailedAttachVolume';

  constructor(reason: VolumeProblem['reason'], message: string) {
    super(message);
    this.name = 'VolumeProblem';
    this.reason = reason;
  }
}

/** The volumes of the pods of one node (N26–N32, N36). */
export interface PodVolumes {
  /** Lays everything out. Idempotent; rejects with a VolumeProblem while something is missing. */
  setUp(pod: Pod): Promise<void>;
  /**
   * What one container sees, after `setUp`: `subPath`, `readOnly` and all. `expand` replaces `$(NAME)` in `subPathExpr`
   * by the container's environment; without it such a mount is a VolumeProblem.
   */
  mountsFor(pod: Pod, container: Container, expand?: (text: string) => string): Promise<readonly Mount[]>;
  /** Takes everything away, unmounted first; never removes through a mount. Idempotent. */
  tearDown(uid: string): Promise<void>;
  /** Pods whose directories are there, from this life or an earlier one. */
  known(): Promise<readonly string[]>;
}
