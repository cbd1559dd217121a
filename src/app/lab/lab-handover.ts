import type { Lab, Metal } from '../../lab/index.ts';
import { Handover } from '../journey/phase.ts';

/** The lab of the journey, for the phases after it. */
export interface JourneyLab {
  readonly lab: Lab;
  /** Somebody else has described it: the cluster of the journey is not in it, and there may be no cloud. */
  readonly isScenario: boolean;
  /** What the cluster of the journey was installed on. */
  readonly metal?: Metal;
  /** In the time of the lab, before anything of it ran: what was written earlier was written by programs that are gone. */
  readonly startedAt: Date;
}

export const LAB = new Handover<JourneyLab>('lab');
