import type { Clock } from '../../base/clock.ts';

const MOST_KEYS = 10_000;

/**
 * A guard that lets a key pass once per interval (H8): `const mayWarn = onceEvery(clock, 300_000); if (mayWarn(key)) …`.
 * Remembers up to 10,000 keys; beyond that the one that passed longest ago is forgotten, and may pass again.
 */
export function onceEvery(clock: Clock, intervalMs: number): (key: string) => boolean {
  // In the order of passing, so that what is over stands at the front.
  const passed = new Map<string, number>();
  return (key) => {
    const now = clock.monotonicMs();
    for (const [old, at] of passed) {
      if (now - at < intervalMs && passed.size < MOST_KEYS) break;
      passed.delete(old);
    }
    if (passed.has(key)) return false;
    passed.set(key, now);
    return true;
  };
}
