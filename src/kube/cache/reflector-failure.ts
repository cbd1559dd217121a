import { ApiError, isNetwork } from '../client/api-error.ts';

/** What a reflector was doing when it failed. */
export interface Attempt {
  readonly phase: 'watch-list' | 'list' | 'resume';
  /** The request named a version that we know, rather than asking for the newest state. */
  readonly usedVersion: boolean;
  /** The stream had worked. */
  readonly hasEvents: boolean;
  /** Failures before this one, since two minutes of health. */
  readonly failures: number;
}

/** What a reflector does about a failure (I5, I6, 16.2). It never gives up. */
export interface Reaction {
  /** Stable, for logs: one warning per reason until the reflector has been healthy. */
  readonly reason: string;
  /** The objects have to be listed again; else the watch goes on where it was. */
  readonly needsList: boolean;
  /** Ask for the newest state, whatever its version. */
  readonly forgetsVersion?: boolean;
  /** The server has no watch-list: list and watch from now on (I1). */
  readonly usesLists?: boolean;
  readonly refreshesCredentials?: boolean;
  /** The first failure of a series costs no time. */
  readonly isFirstFree?: boolean;
  readonly atLeastMs?: number;
  readonly capMs?: number;
}

/** The server does not know the kind, yet. */
export const NOT_SERVED = 'NotServed';

const LONGEST_RETRY_AFTER_MS = 60_000;
const UNSUPPORTED = new Set([400, 405, 422]);
const BUSY = new Set([429, 503]);
/** The kind may be defined any moment: it is found within ten seconds (I6). */
const NOT_SERVED_MS = 9_000;

/** The reaction to whatever was thrown. */
export function reactionTo(thrown: unknown, attempt: Attempt): Reaction {
  if (isNetwork(thrown)) return { reason: 'Network', needsList: attempt.phase !== 'resume', isFirstFree: true };
  // Everything else than an answer of the server is data that makes no sense, and its place in the stream is lost.
  if (!(thrown instanceof ApiError) || thrown.code < 400) return { reason: 'BadData', needsList: true };
  const reaction = versionReaction(thrown, attempt) ?? answerReaction(thrown, attempt);
  const retryAfterMs = Math.min(thrown.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  return { ...reaction, atLeastMs: Math.max(reaction.atLeastMs ?? 0, retryAfterMs) };
}

/** About the version that was asked for, or the way of asking. */
function versionReaction(error: ApiError, { phase, usedVersion }: Attempt): Reaction | undefined {
  if (error.code === 410) {
    const forgetsVersion = usedVersion && phase !== 'resume';
    return { reason: 'Expired', needsList: true, forgetsVersion, isFirstFree: true };
  }
  if (usedVersion && isTooLarge(error)) {
    return {
      reason: 'TooLargeVersion',
      needsList: true,
      forgetsVersion: true,
      atLeastMs: 1_000,
      isFirstFree: true,
    };
  }
  if (!UNSUPPORTED.has(error.code)) return undefined;
  return phase === 'watch-list'
    ? { reason: 'NoWatchList', needsList: true, usesLists: true }
    : { reason: 'Refused', needsList: true, forgetsVersion: true };
}

function answerReaction(error: ApiError, { phase, hasEvents, failures }: Attempt): Reaction {
  const needsList = phase !== 'resume';
  if (error.code === 401) return { reason: 'Unauthorized', needsList, refreshesCredentials: true };
  if (error.code === 403) return { reason: 'Forbidden', needsList, capMs: 60_000 };
  if (error.code === 404) return { reason: NOT_SERVED, needsList: true, atLeastMs: NOT_SERVED_MS, capMs: 0 };
  if (BUSY.has(error.code)) return { reason: 'Busy', needsList };
  // An error in the middle of a stream, or again and again, may come from one event: going on there would meet it again.
  const isStuck = hasEvents || failures >= 2 || error.reason === 'StoreReadError';
  return { reason: 'ServerError', needsList: needsList || isStuck };
}

/** A server that is behind, or another one than before: it does not know the version yet, and perhaps never will. */
const isTooLarge = ({ message, details: { causes = [] } }: ApiError): boolean =>
  causes.some(({ reason }) => reason === 'ResourceVersionTooLarge') ||
  message.includes('Too large resource version');
