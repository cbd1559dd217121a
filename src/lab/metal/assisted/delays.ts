import { STAGE_MS, type Stage } from './stages.ts';

/** How long things take, in milliseconds of lab time. */
export interface Delays {
  /** From an InfraEnv to its image. */
  readonly imageMs: number;
  /** Until the hardware of a host is known. */
  readonly inventoryMs: number;
  /** Of a cluster, and of a host in it. */
  readonly preparationMs: number;
  /** The operators of a new cluster. */
  readonly finalizingMs: number;
  /** Between `installed` and `adding-hosts`. */
  readonly handoverMs: number;
  /** How often something is looked at that tells nobody when it changes. */
  readonly pollMs: number;
  readonly stageMs: (stage: Stage) => number;
}

/** As on usual machines with 1, in seconds with 0.02. */
export function delaysAt(pace = 1): Delays {
  const paced = (seconds: number): number => Math.round(seconds * 1000 * pace);
  return {
    imageMs: paced(5),
    inventoryMs: paced(30),
    preparationMs: paced(60),
    finalizingMs: paced(300),
    handoverMs: paced(10),
    // Not so often that looking is all that happens.
    pollMs: Math.max(100, paced(10)),
    stageMs: (stage) => Math.round(STAGE_MS[stage] * pace),
  };
}
