/** What is remembered between two runs of a container; its key is pod, container and image (N13). */
export interface RestartMemory {
  /** How long the next run waits after the end of the one before. */
  readonly delayMs: number;
  /** When the delay was last made longer: a run began. */
  readonly steppedAtMs: number;
}

export type RestartDecision =
  | { readonly kind: 'start'; readonly memory: RestartMemory }
  | { readonly kind: 'wait'; readonly delayMs: number; readonly untilMs: number };

const FIRST_MS = 10_000;
/** A run that ended so long after the last step was a good one: everything begins anew. */
const FORGIVEN_MS = 10 * 60_000;

export interface RestartFacts {
  readonly memory: RestartMemory | undefined;
  readonly finishedAtMs: number;
  readonly nowMs: number;
  /** The longest delay. */
  readonly maxMs: number;
}

/** Whether a container that ended may start again now: at once the first time, then 10, 20, 40 … s after its end (N13). */
export function restartDecision({ memory, finishedAtMs, nowMs, maxMs }: RestartFacts): RestartDecision {
  const first = { delayMs: Math.min(FIRST_MS, maxMs), steppedAtMs: nowMs };
  if (memory === undefined || finishedAtMs - memory.steppedAtMs > FORGIVEN_MS)
    return { kind: 'start', memory: first };
  const { delayMs } = memory;
  const untilMs = finishedAtMs + delayMs;
  if (nowMs < untilMs) return { kind: 'wait', delayMs, untilMs };
  return { kind: 'start', memory: { delayMs: Math.min(delayMs * 2, maxMs), steppedAtMs: nowMs } };
}

const LONGEST_PULL_MS = 5 * 60_000;

/** How long an image that could not be had is not asked for again: 10 s, doubled up to 5 min (N12). */
export const pullDelayMs = (failures: number): number =>
  Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), LONGEST_PULL_MS);

const LONGEST_RETRY_MS = 10_000;
const FIRST_RETRY_MS = 1000;

/** How long a start that lacks something waits: a ConfigMap, a volume, room for a process. */
export const retryDelayMs = (failures: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.max(0, failures - 1), LONGEST_RETRY_MS);
