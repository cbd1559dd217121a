import type { Clock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { messageOf, retryError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Cache, InformerHealth } from '../cache/cache.ts';
import { NOT_SERVED } from '../cache/reflector-failure.ts';
import { CACHE_SYNC_TIMEOUT } from './exit-code.ts';

export interface CacheSyncOptions {
  readonly cache: Pick<Cache, 'waitForSync' | 'health'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves when every kind has been read. A kind that the server does not serve is waited for without end: its definition
 * may be applied any moment, and a program that exits would only be started again. Every other trouble is an error
 * after `timeoutMs`, with the last problem of each kind.
 */
export async function waitForCaches({ cache, clock, log, timeoutMs, signal }: CacheSyncOptions): Promise<void> {
  let told = '';
  const startMs = clock.monotonicMs();
  for (;;) {
    try {
      return await cache.waitForSync({ signal, timeoutMs });
    } catch (cause) {
      if (signal.aborted) throw cause;
      const { missing, failed } = unsynced(cache.health);
      const elapsedMs = clock.monotonicMs() - startMs;
      if (failed.length > 0 || missing.length === 0) throw syncTimeout(failed, cause, elapsedMs);
      const kinds = missing.map(({ resource }) => resource).join(', ');
      if (kinds !== told) log.warn({ kinds }, 'Waiting for kinds that the API server does not serve');
      told = kinds;
    }
  }
}

function unsynced(health: readonly InformerHealth[]) {
  const waiting = health.filter(({ isSynced }) => !isSynced);
  return { missing: waiting.filter(isNotServed), failed: waiting.filter((entry) => !isNotServed(entry)) };
}

const isNotServed = ({ problemReason }: InformerHealth): boolean => problemReason === NOT_SERVED;

function syncTimeout(failed: readonly InformerHealth[], cause: unknown, elapsedMs: number) {
  const kinds = failed.map(({ resource, problem = 'no answer yet' }) => `${resource} (${problem})`).join(', ');
  const what = kinds === '' ? messageOf(cause) : kinds;
  return retryError(CACHE_SYNC_TIMEOUT, `could not read in ${goDuration(Math.round(elapsedMs))}: ${what}`, {
    cause,
  });
}

/** One readiness check per kind that is not read yet, so that the answer names it although reasons are withheld. */
export function syncChecks(health: readonly InformerHealth[]): ReadonlyMap<string, () => void> {
  return new Map(
    health.map(({ resource, isSynced, problem = 'not read yet' }) => [
      `cache-${resource}`,
      () => {
        if (!isSynced) throw new Error(`${resource}: ${problem}`);
      },
    ]),
  );
}
