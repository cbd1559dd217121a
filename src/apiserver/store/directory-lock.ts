import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import type { Layout } from './layout.ts';
import { type StoreHolder, StoreInUse } from './refusal.ts';
import { tryLock } from './sqlite-file.ts';

/**
 * The exclusive right to a data directory (P8). The kernel holds it, so it ends with the process and a stale one cannot
 * be; the file beside only says who it is.
 */
export function lockDirectory(layout: Layout, clock: Clock): Disposable {
  const lock = tryLock(layout.lock);
  if (lock === undefined) throw new StoreInUse(layout.directory, holderOf(layout));
  const holder: StoreHolder = { pid: process.pid, since: clock.now().toTimeString().slice(0, 5) };
  writeFileSync(layout.holder, JSON.stringify(holder), { mode: 0o600 });
  return {
    [Symbol.dispose]: () => {
      rmSync(layout.holder, { force: true });
      lock[Symbol.dispose]();
    },
  };
}

function holderOf({ holder }: Layout): StoreHolder | undefined {
  try {
    const { pid, since }: Partial<Record<keyof StoreHolder, unknown>> = JSON.parse(readFileSync(holder, 'utf8'));
    return typeof pid === 'number' && typeof since === 'string' ? { pid, since } : undefined;
  } catch {
    // It has the lock and has not yet said who it is.
    return undefined;
  }
}
