/** What happens at one write of a scenario (reliability T1.3, T1.8). */
export const CRASH_FAULTS = [
  /** The process ends before the write is made. */
  'kill-before',
  /** The write is made and the process ends before it learns of it. */
  'kill-after',
  /** As before, and the next life ends the same way at its first write. */
  'kill-twice',
  /** The write is made, the process sees a broken connection and goes on. */
  'lost-response',
  /** As before, and the events of this kind come late: neither the answer nor the cache tells of the write. */
  'lost-and-stale',
  'refused-409',
  'refused-429',
  'refused-500',
  'refused-503',
  'refused-504',
  /** The write is made twice. */
  'duplicate',
  /** The events of this kind come late. */
  'stale-cache',
  /** The write is made, and then reading fails for a while: no answer is not an empty one (reliability P32). */
  'failing-reads',
  /** The process stands still after the write; another one takes the lease and finishes; then it wakes up. */
  'zombie',
  /** The process stands still for longer than its lease lasts, and nobody else is there. */
  'pause',
] as const;

export type CrashFault = (typeof CRASH_FAULTS)[number];

/** Refusals by name: the write is not made. */
export const REFUSALS: Partial<
  Record<CrashFault, { status: number; reason: string; retryAfterSeconds?: number }>
> = {
  'refused-409': { status: 409, reason: 'Conflict' },
  'refused-429': { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 },
  'refused-500': { status: 500, reason: 'InternalError' },
  'refused-503': { status: 503, reason: 'ServiceUnavailable' },
  'refused-504': { status: 504, reason: 'Timeout' },
};

/** How a point names what is not in the cluster: no resource has a colon. */
export const OUTSIDE = 'outside:';

/** What is outside has no watch that could be late, and one way to refuse is as good as another unless somebody tells. */
const ONLY_INSIDE: ReadonlySet<CrashFault> = new Set([
  'lost-and-stale',
  'stale-cache',
  'refused-409',
  'refused-429',
  'refused-500',
  'refused-504',
]);

/** `told`: what is outside has an error of its own for this fault. */
export const isPossible = (fault: CrashFault, point: string, told = false): boolean =>
  told || !(point.includes(`|${OUTSIDE}`) && ONLY_INSIDE.has(fault));
