import type { Clock } from '../../base/clock.ts';

/** Calls `fire` every `ms` until disposed; the next time is set before the call, so that a throw ends nothing. */
export function every(clock: Pick<Clock, 'timer'>, ms: number, fire: () => void): Disposable {
  let timer: Disposable;
  const arm = () => {
    timer = clock.timer(ms, () => {
      arm();
      fire();
    });
  };
  arm();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
