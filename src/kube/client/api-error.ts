import type { StatusDetails } from '../../api/status.ts';
import { SlipwayError } from '../../base/errors.ts';

export interface ApiFailure {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: StatusDetails;
  /** Without query values that could hold secrets. */
  readonly method?: string;
  readonly path?: string;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** The server answered with a failure. Bodies of requests are never part of it (A3, S35). */
export class ApiError extends SlipwayError {
  readonly code: number;
  readonly details: StatusDetails;
  readonly method: string;
  readonly path: string;

  constructor({ code, reason, message, details = {}, method = '', path = '', retryAfterMs, cause }: ApiFailure) {
    super('retry', reason === '' ? 'Unknown' : reason, message, {
      ...(cause !== undefined && { cause }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
    this.name = 'ApiError';
    this.code = code;
    this.details = details;
    this.method = method;
    this.path = path;
  }
}

/** No answer: the name did not resolve, the connection was refused, reset or silent. */
export class NetworkError extends SlipwayError {
  /** Whether the server may have acted on the request. */
  readonly mayHaveHappened: boolean;

  constructor(message: string, options: { readonly mayHaveHappened: boolean; readonly cause?: unknown }) {
    super('retry', 'NetworkError', message, { cause: options.cause });
    this.name = 'NetworkError';
    this.mayHaveHappened = options.mayHaveHappened;
  }
}

/** A write refused because this process may no longer be the leader (E7). Nothing was sent. */
export class LeadershipLost extends SlipwayError {
  constructor(message = 'this process is not the leader any more') {
    super('retry', 'LeadershipLost', message);
    this.name = 'LeadershipLost';
  }
}

const hasReason =
  (reason: string, code?: number) =>
  (thrown: unknown): thrown is ApiError =>
    thrown instanceof ApiError && thrown.reason === reason && (code === undefined || thrown.code === code);

const hasCode =
  (code: number) =>
  (thrown: unknown): thrown is ApiError =>
    thrown instanceof ApiError && thrown.code === code;

export const isNotFound = hasReason('NotFound', 404);
export const isAlreadyExists = hasReason('AlreadyExists', 409);
/** A write met a newer version of the object, or the object of another manager. */
export const isConflict = hasReason('Conflict', 409);
export const isInvalid = hasReason('Invalid', 422);
export const isUnauthorized = hasCode(401);
export const isForbidden = hasCode(403);
/** What was asked for is no longer kept: a version, a page (410). */
export const isExpired = hasCode(410);
export const isTimeout = (thrown: unknown): thrown is ApiError =>
  thrown instanceof ApiError && (thrown.code === 504 || thrown.reason === 'Timeout');
export const isTooManyRequests = hasCode(429);
export const isServiceUnavailable = hasCode(503);
export const isNetwork = (thrown: unknown): thrown is NetworkError => thrown instanceof NetworkError;
export const isLeadershipLost = (thrown: unknown): thrown is LeadershipLost => thrown instanceof LeadershipLost;

/** Another manager owns a field with another value. */
export const isApplyConflict = (thrown: unknown): thrown is ApiError =>
  isConflict(thrown) && (thrown.details.causes ?? []).some(({ reason }) => reason === 'FieldManagerConflict');

/** The kind itself is not served, as opposed to an object that does not exist. */
export const isNoMatch = (thrown: unknown): thrown is ApiError =>
  thrown instanceof ApiError &&
  thrown.code === 404 &&
  (thrown.reason === 'NoMatch' || thrown.details.name === undefined);
