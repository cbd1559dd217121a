import { SystemClock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import type { Activity } from '../../kube/quiet/activity.ts';
import type { LabOptions } from '../setup/lab-options.ts';
import { AutoLabClock } from './auto-lab-clock.ts';
import type { LabClock } from './lab-clock.ts';
import { RunningLabClock } from './running-lab-clock.ts';

export interface ClockParts {
  readonly activity: Activity;
  readonly isBusy: () => boolean;
  /** When something was written last that is no heartbeat, by the clock's `monotonicMs`; undefined when nobody can know. */
  readonly lastChangeMs: () => number | undefined;
}

/** Where automatic time begins when nobody outside looks at it (T8). */
const FIXED_START = new Date('2030-01-01T00:00:00Z');

/** The clock that the options ask for. Throws a userError when it can be none of this lab. */
export function labClock(options: LabOptions, parts: ClockParts): LabClock {
  const { clock = 'real', seed, images = {} } = options;
  refuse(options);
  const now = new SystemClock().now();
  if (clock === 'auto') {
    // Children look at the time outside.
    const start = Object.keys(images).length === 0 ? FIXED_START : now;
    return new AutoLabClock({ ...parts, start, seed: seed ?? 1 });
  }
  const factor = clock === 'real' ? 1 : clock.scaled;
  const scale = { factor, start: now, hostStart: now };
  return new RunningLabClock({ ...parts, scale, ...(seed !== undefined && { seed }) });
}

function refuse({ clock = 'real', images = {} }: LabOptions): void {
  const factor = typeof clock === 'object' ? clock.scaled : 1;
  if (!(factor > 0) || !Number.isFinite(factor))
    throw userError('InvalidLabClock', `clock: scaled is ${factor}; it must be a number above 0, such as 20`);
  if (clock !== 'auto' && factor === 1) return;
  const [name] = Object.entries(images).find(([, image]) => image.foreign === true) ?? [];
  if (name === undefined) return;
  const found = clock === 'auto' ? 'auto' : `scaled:${factor}`;
  throw userError(
    'ForeignImageNeedsRealTime',
    `images: "${name}" is foreign and knows only real time, but the clock of the lab is ${found}; start the lab with clock real, or without this image`,
  );
}
