import type { Lab } from '../../lab/index.ts';
import { Handover } from '../journey/phase.ts';

/** The lab of the journey, for the phases after it. */
export interface JourneyLab {
  readonly lab: Lab;
  /** Not that of a scenario: the Deployment `hello` runs, and there is a cloud. */
  readonly hasHello: boolean;
  /** In the time of the lab, before anything of it ran: what was written earlier was written by programs that are gone. */
  readonly startedAt: Date;
}

export const LAB = new Handover<JourneyLab>('lab');
