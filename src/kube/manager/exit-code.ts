import { causeChain, dispositionOf, messageOf, SlipwayError, terminalError } from '../../base/errors.ts';

/** 0 clean stop; 1 a part failed, leadership or permissions are missing; 2 bad configuration; 3 caches do not sync (8.2). */
export type ExitCode = 0 | 1 | 2 | 3;

/** The reason of an error that says that the objects of some kinds could not be read in time. */
export const CACHE_SYNC_TIMEOUT = 'CacheSyncTimeout';
const SYNC_REASONS: ReadonlySet<string> = new Set([CACHE_SYNC_TIMEOUT, 'CacheNotSynced']);

/** What a program exits with after `start()` resolved (undefined) or rejected with `thrown`. */
export function exitCodeOf(thrown: unknown): ExitCode {
  if (thrown === undefined) return 0;
  const isSync = (link: unknown) => link instanceof SlipwayError && SYNC_REASONS.has(link.reason);
  if (causeChain(thrown).some(isSync)) return 3;
  return dispositionOf(thrown) === 'user' ? 2 : 1;
}

/** Some parts did not stop in time. */
export const shutdownTimeout = (parts: readonly string[], grace: string) =>
  terminalError('ShutdownTimeout', `these parts still ran ${grace} after the stop: ${parts.join(', ')}`);

/** What a log line says about the end of a program: a stack helps only against our own mistakes. */
export function failureFields(thrown: unknown): Readonly<Record<string, unknown>> {
  if (!(thrown instanceof SlipwayError)) return { err: thrown };
  return { reason: thrown.reason, problem: messageOf(thrown), exitCode: exitCodeOf(thrown) };
}
