import { type Clock, ScaledClock, SystemClock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import type { Environment } from './surroundings.ts';

/** Set by a lab whose time is not that of the machine (lab T7). */
export const CLOCK_VARIABLE = 'SLIPWAY_CLOCK';

const SCALED = /^scaled:(\d+(?:\.\d+)?(?:e[+-]?\d+)?):(\d{4}-.+Z):(\d{4}-.+Z)$/;

/** The clock of a program: that of the lab it runs in, or that of the machine. Throws a userError. */
export function programClock(env: Environment, host: Clock = new SystemClock()): Clock {
  const text = env[CLOCK_VARIABLE] ?? '';
  if (text === '') return host;
  const [, factorText = '', startText = '', hostStartText = ''] = SCALED.exec(text) ?? [];
  const factor = Number(factorText);
  const [start, hostStart] = [new Date(startText), new Date(hostStartText)];
  const times = [start, hostStart].map((time) => time.getTime());
  if (!(factor > 0) || !Number.isFinite(factor) || times.some(Number.isNaN))
    throw userError(
      'InvalidClock',
      `${CLOCK_VARIABLE} is "${text}"; it must be scaled:<factor>:<time>:<host time>, such as scaled:20:2030-01-01T00:00:00Z:2026-05-04T10:00:00Z; a lab sets it for its children, unset it elsewhere`,
    );
  return new ScaledClock({ factor, start, hostStart }, host);
}
