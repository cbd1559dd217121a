import type { Json } from '../../object/json.ts';

/** What may go wrong, the status it is told with, and whether the same request may work later (C3). */
const CODES = {
  InvalidArgument: { status: 400, isRetryable: false },
  UnknownField: { status: 400, isRetryable: false },
  Unauthenticated: { status: 401, isRetryable: false },
  TokenExpired: { status: 401, isRetryable: false },
  Forbidden: { status: 403, isRetryable: false },
  NotFound: { status: 404, isRetryable: false },
  AlreadyExists: { status: 409, isRetryable: false },
  IncorrectState: { status: 409, isRetryable: false },
  InUse: { status: 409, isRetryable: false },
  IdempotencyMismatch: { status: 409, isRetryable: false },
  PreconditionFailed: { status: 412, isRetryable: false },
  QuotaExceeded: { status: 422, isRetryable: false },
  RateLimited: { status: 429, isRetryable: true },
  Internal: { status: 500, isRetryable: true },
  Unavailable: { status: 503, isRetryable: true },
  InsufficientCapacity: { status: 503, isRetryable: true },
} as const;

export type CloudErrorCode = keyof typeof CODES;

export const CLOUD_ERROR_CODES: readonly CloudErrorCode[] = (Object.keys(CODES) as CloudErrorCode[]).toSorted();

export const statusOfCode = (code: CloudErrorCode): number => CODES[code].status;

export interface CloudErrorOptions {
  /** The field that is wrong, or that names what is missing. */
  readonly target?: string;
  readonly details?: Readonly<Record<string, Json>>;
  /** Unless the code says it already. */
  readonly isRetryable?: boolean;
  readonly retryAfterSeconds?: number;
  /** For people who read the log; clients never see it. */
  readonly cause?: unknown;
}

/** A refusal that the client is told. Thrown within a transaction, nothing of the transaction happens. */
export class CloudError extends Error {
  readonly code: CloudErrorCode;
  readonly status: number;
  readonly isRetryable: boolean;
  readonly options: CloudErrorOptions;

  constructor(code: CloudErrorCode, message: string, options: CloudErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CloudError';
    this.code = code;
    this.status = CODES[code].status;
    this.isRetryable = options.isRetryable ?? CODES[code].isRetryable;
    this.options = options;
  }
}

export const invalidArgument = (target: string, message: string): CloudError =>
  new CloudError('InvalidArgument', message, { target });

/** `article` is part of the name: `volume vol-1`. */
export const notFound = (what: string, target?: string): CloudError =>
  new CloudError('NotFound', `there is no ${what}`, target === undefined ? {} : { target });
