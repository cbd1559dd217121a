import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryError, terminalError, userError } from '../../base/errors.ts';
import { ApiError, type ApiFailure, LeadershipLost, NetworkError } from '../client/api-error.ts';
import { after, DONE } from './reconcile.ts';
import { type Failure, type Settlement, settle } from './settle.ts';

const api = (code: number, reason: string, more: Partial<ApiFailure> = {}) =>
  new ApiError({ code, reason, message: `${reason} it is`, method: 'GET', ...more });

const FAILURE: Failure = {
  reason: 'Broken',
  message: 'it is broken',
  isShown: true,
  isStalled: false,
  isTold: false,
  level: 'warn',
  hasStack: false,
  isUncertain: false,
};
const never = { type: 'never' } as const;
const backoff = { type: 'backoff' } as const;
const retryable = (failure: Partial<Failure> = {}): Settlement => ({
  verdict: 'retryable_error',
  requeue: backoff,
  failure: { ...FAILURE, ...failure },
});
const ofApi = (reason: string, failure: Partial<Failure> = {}) =>
  retryable({ reason, message: `${reason} it is`, ...failure });
const BUG: Settlement = {
  verdict: 'bug',
  requeue: backoff,
  failure: {
    ...FAILURE,
    reason: 'InternalError',
    message: 'the controller failed by a mistake of its own and tries again; its log has the details',
    isTold: true,
    level: 'error',
    hasStack: true,
  },
};

interface Row {
  readonly name: string;
  readonly thrown: unknown;
  /** First failure unless told otherwise. */
  readonly failures?: number;
  readonly want: Settlement;
}

const dispositions: readonly Row[] = [
  {
    name: 'runtime/R5: a user error is shown and told, logged as info, and waits for an edit',
    thrown: userError('Broken', 'it is broken'),
    want: { verdict: 'user_error', requeue: never, failure: { ...FAILURE, isTold: true, level: 'info' } },
  },
  {
    name: 'runtime/R5: a terminal error is shown as stalled, told, logged as error, and not tried again',
    thrown: terminalError('Broken', 'it is broken'),
    want: {
      verdict: 'terminal_error',
      requeue: never,
      failure: { ...FAILURE, isTold: true, isStalled: true, level: 'error' },
    },
  },
  {
    name: 'runtime/R5: a retryable error is shown, logged as warning and tried again with backoff',
    thrown: retryError('Broken', 'it is broken'),
    want: retryable(),
  },
  {
    name: 'the fourth failure in a row is not told',
    thrown: retryError('Broken', 'it is broken'),
    failures: 4,
    want: retryable(),
  },
  {
    name: 'the fifth failure in a row is told',
    thrown: retryError('Broken', 'it is broken'),
    failures: 5,
    want: retryable({ isTold: true }),
  },
  {
    name: 'a retryable error that says when comes back then',
    thrown: retryError('Broken', 'it is broken', { retryAfterMs: 3_600_000 }),
    want: { ...retryable(), requeue: { type: 'after', ms: 3_600_000 } },
  },
  {
    name: 'a retryable error that says "in 0 ms" comes back with backoff',
    thrown: retryError('Broken', 'it is broken', { retryAfterMs: 0 }),
    want: retryable(),
  },
  {
    name: 'a reason that no condition may have is replaced',
    thrown: retryError('not a reason!', 'it is broken'),
    want: retryable({ reason: 'ReconcileFailed' }),
  },
  {
    name: 'secrets do not reach users',
    thrown: retryError('Broken', 'password=hunter2 is wrong'),
    want: retryable({ message: 'password=[redacted] is wrong' }),
  },
  { name: 'runtime/R7: any other error is a bug', thrown: new TypeError('x is undefined'), want: BUG },
  { name: 'runtime/R7: a text that is thrown is a bug', thrown: 'oops', want: BUG },
  { name: 'runtime/R7: nothing that is thrown is a bug', thrown: undefined, want: BUG },
  {
    name: 'a bug after a write without an answer makes the next reconcile read live',
    thrown: new Error('wrapped', { cause: new NetworkError('reset', { mayHaveHappened: true }) }),
    want: { ...BUG, failure: { ...FAILURE, ...BUG.failure, isUncertain: true } },
  },
];

const apiErrors: readonly Row[] = [
  {
    name: 'runtime/R6: a conflict is a debug line and not shown',
    thrown: api(409, 'Conflict'),
    want: ofApi('Conflict', { isShown: false, level: 'debug' }),
  },
  {
    name: 'runtime/R6: the fifth conflict in a row is shown and told',
    thrown: api(409, 'Conflict'),
    failures: 5,
    want: ofApi('Conflict', { isTold: true, level: 'debug' }),
  },
  {
    name: 'an apply conflict is told at once',
    thrown: api(409, 'Conflict', { details: { causes: [{ reason: 'FieldManagerConflict' }] } }),
    want: ofApi('Conflict', { isTold: true }),
  },
  { name: 'AlreadyExists', thrown: api(409, 'AlreadyExists'), want: ofApi('AlreadyExists') },
  {
    name: 'Invalid is an error line, rarely',
    thrown: api(422, 'Invalid'),
    want: ofApi('Invalid', { level: 'error', oncePerMs: 300_000 }),
  },
  {
    name: 'Forbidden is an error line, rarely',
    thrown: api(403, 'Forbidden'),
    want: ofApi('Forbidden', { level: 'error', oncePerMs: 300_000 }),
  },
  { name: 'NotFound', thrown: api(404, 'NotFound'), want: ofApi('NotFound') },
  { name: 'BadRequest', thrown: api(400, 'BadRequest'), want: ofApi('BadRequest') },
  { name: 'InternalError of a read', thrown: api(500, 'InternalError'), want: ofApi('InternalError') },
  {
    name: 'InternalError of a write is uncertain',
    thrown: api(500, 'InternalError', { method: 'POST' }),
    want: ofApi('InternalError', { isUncertain: true }),
  },
  { name: 'a timeout of a read', thrown: api(504, 'Timeout'), want: ofApi('Timeout') },
  {
    name: 'a timeout of a write is uncertain',
    thrown: api(504, 'Timeout', { method: 'PATCH' }),
    want: ofApi('Timeout', { isUncertain: true }),
  },
  {
    name: 'a server that asks for a pause gets it',
    thrown: api(429, 'TooManyRequests', { retryAfterMs: 7000 }),
    want: { ...ofApi('TooManyRequests'), requeue: { type: 'after', ms: 7000 } },
  },
  {
    name: 'a server that asks for a day gets a minute',
    thrown: api(503, 'ServiceUnavailable', { retryAfterMs: 86_400_000 }),
    want: { ...ofApi('ServiceUnavailable'), requeue: { type: 'after', ms: 60_000 } },
  },
  {
    name: 'no connection',
    thrown: new NetworkError('it is broken', { mayHaveHappened: false }),
    want: retryable({ reason: 'NetworkError' }),
  },
  {
    name: 'a write without an answer makes the next reconcile read live',
    thrown: new NetworkError('it is broken', { mayHaveHappened: true }),
    want: retryable({ reason: 'NetworkError', isUncertain: true }),
  },
  {
    name: 'lost leadership is swallowed and makes the key wait',
    thrown: new LeadershipLost(),
    want: { verdict: 'abandoned', requeue: never, isFenced: true },
  },
];

describe('settle: failures (style S30, runtime 16.2)', () => {
  for (const { name, thrown, failures = 1, want } of [...dispositions, ...apiErrors])
    it(name, () => assert.deepEqual(settle({ type: 'threw', thrown, failures }), want));
});

describe('settle: results', () => {
  const success: Settlement = { verdict: 'success', requeue: never };
  const rows = [
    { name: 'runtime/R5: nothing more to do', result: DONE, want: success },
    { name: 'runtime/R5: undefined of plain JavaScript', result: undefined, want: success },
    {
      name: 'runtime/R5: after(ms)',
      result: after(30_000),
      want: { verdict: 'requeue_after', requeue: { type: 'after', ms: 30_000 } },
    },
    {
      name: 'runtime/Q4: a result may set the priority of its requeue',
      result: { requeueAfterMs: 1, priority: 7 },
      want: { verdict: 'requeue_after', requeue: { type: 'after', ms: 1, priority: 7 } },
    },
    { name: 'after(0)', result: after(0), want: success },
    { name: 'after(-1)', result: after(-1), want: success },
    { name: 'after(NaN)', result: after(Number.NaN), want: success },
    { name: 'after(Infinity)', result: after(Infinity), want: success },
  ];
  for (const { name, result, want } of rows)
    it(name, () => assert.deepEqual(settle({ type: 'returned', result }), want));
});

describe('settle: aborted reconciles', () => {
  const reason = retryError('Broken', 'it is broken');
  const abortError = Object.assign(new Error('This operation was aborted'), { name: 'AbortError' });
  const timeout = retryable({ isUncertain: true });
  const abandoned: Settlement = { verdict: 'abandoned', requeue: never };
  const rows = [
    { name: 'runtime/R8: the reason of a timeout', why: 'timeout', thrown: reason, want: timeout },
    { name: 'runtime/R8: an AbortError after a timeout', why: 'timeout', thrown: abortError, want: timeout },
    {
      name: 'an error caused by a timeout',
      why: 'timeout',
      thrown: new Error('x', { cause: reason }),
      want: timeout,
    },
    { name: 'a bug after a timeout is a bug', why: 'timeout', thrown: new Error('x'), want: BUG },
    { name: 'the reason of a stop', why: 'stop', thrown: reason, want: abandoned },
    { name: 'an AbortError after a stop', why: 'stop', thrown: abortError, want: abandoned },
    {
      name: 'a failure of its own after a stop',
      why: 'stop',
      thrown: retryError('Other', 'x'),
      want: retryable({ reason: 'Other', message: 'x' }),
    },
    {
      name: 'lost leadership as the reason',
      why: 'stop',
      thrown: abortError,
      given: new LeadershipLost(),
      want: { ...abandoned, isFenced: true },
    },
  ] as const;
  for (const { name, why, thrown, want, ...row } of rows)
    it(name, () => {
      const abort = { why, reason: 'given' in row ? row.given : reason };
      assert.deepEqual(settle({ type: 'threw', thrown, failures: 1, abort }), want);
    });
});
