import { goDuration, parseDuration } from '../../base/duration.ts';
import { userError } from '../../base/errors.ts';
import type { IdleOptions, LabClock } from './lab-clock.ts';

const QUIET = '6m';

/** When something was written last that is no heartbeat, by the clock's `monotonicMs`; undefined when nobody can know. */
export type LastChange = () => number | undefined;

type Passing = Pick<LabClock, 'monotonicMs' | 'now'> & { advance(ms: number): Promise<void> };

/** Lets time pass until nothing has changed for `quiet`. Rejects when that has not come after `max`. */
export async function untilIdle(clock: Passing, lastChangeMs: LastChange, options: IdleOptions): Promise<void> {
  const [maxMs, quietMs] = [parseDuration(options.max), parseDuration(options.quiet ?? QUIET)];
  const startMs = clock.monotonicMs();
  for (;;) {
    const lastMs = lastChangeMs();
    if (lastMs === undefined)
      throw userError(
        'IdlenessUnknown',
        'the lab does not see who writes to an API server that runs elsewhere, so that it cannot tell when nobody does; wait for what you expect with lab.until',
      );
    const nowMs = clock.monotonicMs();
    const leftMs = Math.max(startMs, lastMs) + quietMs - nowMs;
    if (leftMs <= 0) return;
    const leftOfMaxMs = startMs + maxMs - nowMs;
    if (leftOfMaxMs <= 0) throw new Error(notIdle(options.max, quietMs, nowMs - lastMs));
    await clock.advance(Math.min(leftMs, leftOfMaxMs));
  }
}

const notIdle = (max: string, quietMs: number, agoMs: number): string =>
  `the lab is not idle after ${max} of lab time: the last write that is no heartbeat was ${goDuration(Math.round(agoMs))} ago, and ${goDuration(quietMs)} without one are asked for; lab.writes() has them all`;

/** Milliseconds until a moment. Throws when it is over. */
export function timeUntil(clock: Pick<LabClock, 'now'>, moment: Date): number {
  const now = clock.now();
  const ms = moment.getTime() - now.getTime();
  if (ms >= 0) return ms;
  throw userError(
    'LabTimeIsOver',
    `lab time is ${now.toISOString()} and never goes back to ${Number.isNaN(ms) ? String(moment) : moment.toISOString()}`,
  );
}

/** Milliseconds, however they were given. Throws when no time can pass like that. */
export function milliseconds(time: number | string): number {
  const ms = typeof time === 'string' ? parseDuration(time) : time;
  if (ms >= 0 && Number.isFinite(ms)) return ms;
  throw userError(
    'InvalidDuration',
    `lab time cannot pass by ${time}; say how much as milliseconds from 0 up, or as a text such as 6m`,
  );
}
