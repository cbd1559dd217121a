import { causeChain, SlipwayError } from '../../base/errors.ts';
import type { LogLevel } from '../../base/log.ts';
import { redactedText } from '../../base/redaction.ts';
import {
  ApiError,
  isApplyConflict,
  isConflict,
  isForbidden,
  isInvalid,
  isLeadershipLost,
  isTimeout,
  NetworkError,
} from '../client/api-error.ts';
import type { Result } from './reconcile.ts';

/** How a reconcile ended. */
export type Outcome =
  | { readonly type: 'returned'; readonly result: Result | undefined }
  | {
      readonly type: 'threw';
      readonly thrown: unknown;
      /** In a row, this one included. */
      readonly failures: number;
      /** Why the signal of the reconcile was aborted, if it was. */
      readonly abort?: { readonly why: 'timeout' | 'stop'; readonly reason: unknown };
    };

/** The labels of style S30, and `abandoned` for what was cut off by a shutdown: nobody's fault and not counted. */
export type Verdict =
  | 'success'
  | 'requeue_after'
  | 'user_error'
  | 'terminal_error'
  | 'retryable_error'
  | 'bug'
  | 'abandoned';

export interface Failure {
  /** CamelCase, for conditions and events. */
  readonly reason: string;
  /** For users: without secrets and, for bugs, without internals. */
  readonly message: string;
  /** Ready=False is shown on the object. */
  readonly isShown: boolean;
  /** And Stalled=True: trying again will not help. */
  readonly isStalled: boolean;
  /** A Warning, once per transition. */
  readonly isTold: boolean;
  readonly level: LogLevel;
  /** At most one line per key in this time; the others are debug lines. */
  readonly oncePerMs?: number;
  readonly hasStack: boolean;
  /** A write may have happened that the cache does not show: the next reconcile reads from the server (16.2). */
  readonly isUncertain: boolean;
}

export interface Settlement {
  readonly verdict: Verdict;
  readonly requeue:
    | { readonly type: 'never' }
    | { readonly type: 'backoff' }
    | { readonly type: 'after'; readonly ms: number; readonly priority?: number };
  readonly failure?: Failure;
  /** This process does not lead, for the moment or for good: the key waits for what comes of that. */
  readonly isFenced?: boolean;
}

/** Retryable failures in a row until users are told by an event (S30). */
export const PATIENCE = 5;
const RARELY_MS = 5 * 60_000;
/** What a server may ask us to wait: one that says a day would park the object. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const NEVER = { type: 'never' } as const;
const BACKOFF = { type: 'backoff' } as const;
const SWALLOWED: Settlement = { verdict: 'abandoned', requeue: NEVER };
const SUCCESS: Settlement = { verdict: 'success', requeue: NEVER };
const BUG_MESSAGE = 'the controller failed by a mistake of its own and tries again; its log has the details';

/** What follows from the end of a reconcile: the table of style S30 with the API errors of runtime 16.2. Pure. */
export function settle(outcome: Outcome): Settlement {
  if (outcome.type === 'returned') return settledResult(outcome.result);
  const { failures, abort } = outcome;
  const isAbort = abort !== undefined && comesFrom(outcome.thrown, abort.reason);
  const thrown = isAbort ? abort.reason : outcome.thrown;
  if (isLeadershipLost(thrown)) return { ...SWALLOWED, isFenced: true };
  if (isAbort && abort.why === 'stop') return SWALLOWED;
  if (!(thrown instanceof SlipwayError)) return bug(thrown);
  switch (thrown.disposition) {
    case 'user':
      return { verdict: 'user_error', requeue: NEVER, failure: { ...shown(thrown), level: 'info' } };
    case 'terminal':
      return {
        verdict: 'terminal_error',
        requeue: NEVER,
        failure: { ...shown(thrown), isStalled: true, level: 'error' },
      };
    case 'retry':
      return {
        verdict: 'retryable_error',
        requeue: requeueOf(thrown),
        // An abort may have cut off a write on its way.
        failure: { ...retryable(thrown, failures), ...(isAbort && { isUncertain: true }) },
      };
  }
}

function settledResult({ requeueAfterMs: ms = 0, priority }: Result = {}): Settlement {
  if (!(ms > 0 && Number.isFinite(ms))) return SUCCESS;
  return {
    verdict: 'requeue_after',
    requeue: { type: 'after', ms, ...(priority !== undefined && { priority }) },
  };
}

const bug = (thrown: unknown): Settlement => ({
  verdict: 'bug',
  requeue: BACKOFF,
  failure: {
    reason: 'InternalError',
    message: BUG_MESSAGE,
    isShown: true,
    isStalled: false,
    isTold: true,
    level: 'error',
    hasStack: true,
    isUncertain: isUncertain(thrown),
  },
});

const shown = (error: SlipwayError): Omit<Failure, 'level'> => ({
  reason: conditionReason(error.reason),
  message: redactedText(error.message),
  isShown: true,
  isStalled: false,
  isTold: true,
  hasStack: false,
  isUncertain: isUncertain(error),
});

function retryable(error: SlipwayError, failures: number): Failure {
  const isPatient = failures < PATIENCE;
  const usual: Failure = { ...shown(error), isTold: !isPatient, level: 'warn' };
  // Somebody else owns the field: trying again alone does not help, so users hear of it at once.
  if (isApplyConflict(error)) return { ...usual, isTold: true };
  // A newer version of the object is what controllers meet every day: neither noise nor a flapping condition (R6).
  if (isConflict(error)) return { ...usual, isShown: !isPatient, level: 'debug' };
  if (isInvalid(error) || isForbidden(error)) return { ...usual, level: 'error', oncePerMs: RARELY_MS };
  return usual;
}

function requeueOf(error: SlipwayError): Settlement['requeue'] {
  const ms = error.retryAfterMs ?? 0;
  if (!(ms > 0 && Number.isFinite(ms))) return BACKOFF;
  return { type: 'after', ms: error instanceof ApiError ? Math.min(ms, LONGEST_RETRY_AFTER_MS) : ms };
}

/** No answer to a write, or one that says that nobody knows. */
const isUncertain = (thrown: unknown): boolean =>
  causeChain(thrown).some(
    (each) =>
      (each instanceof NetworkError && each.mayHaveHappened) ||
      (isTimeout(each) && each.method !== 'GET') ||
      (each instanceof ApiError && each.code === 500 && each.method !== 'GET'),
  );

/** The reason of the signal, anything that carries it, or what platforms throw instead of it. */
const comesFrom = (thrown: unknown, reason: unknown): boolean =>
  causeChain(thrown).some((each) => each === reason || (each instanceof Error && each.name === 'AbortError'));

/** A condition with a reason that the server refuses would hide the failure. */
const conditionReason = (reason: string): string =>
  /^[A-Za-z](?:[\w,:]{0,254}\w)?$/.test(reason) ? reason : 'ReconcileFailed';
