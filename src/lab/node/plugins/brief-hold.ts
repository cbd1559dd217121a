import type { Clock } from '../../../base/clock.ts';

/** A plugin that takes longer may wait for lab time itself, or be dead: time must go on. */
const LONGEST_MS = 2000;

export interface HoldOptions {
  /** Keeps lab time still until it is disposed. */
  readonly hold?: (reason: string) => Disposable;
  readonly real: Pick<Clock, 'timer'>;
}

/** Keeps lab time still while a plugin is asked, for two seconds of real time at most. */
export function briefHold({ hold, real }: HoldOptions, reason: string): Disposable {
  const held = hold?.(reason);
  const timer = real.timer(LONGEST_MS, () => held?.[Symbol.dispose]());
  return {
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      held?.[Symbol.dispose]();
    },
  };
}
