import { isRecord } from '../../object/record.ts';
import { ProviderError, type ProviderErrorKind } from '../../sdk/provider/provider-error.ts';

/** What each code of the lab cloud means (lab/C3). */
export const KIND_OF_CODE: Readonly<Record<string, ProviderErrorKind>> = {
  InvalidArgument: 'invalid',
  UnknownField: 'invalid',
  Unauthenticated: 'unauthenticated',
  TokenExpired: 'unauthenticated',
  Forbidden: 'denied',
  NotFound: 'not-found',
  AlreadyExists: 'conflict',
  IncorrectState: 'conflict',
  InUse: 'in-use',
  IdempotencyMismatch: 'conflict',
  PreconditionFailed: 'conflict',
  QuotaExceeded: 'quota',
  RateLimited: 'throttled',
  Internal: 'unavailable',
  Unavailable: 'unavailable',
  InsufficientCapacity: 'no-capacity',
};

/** A cloud that says "next year" is asked again within this. */
const LONGEST_RETRY_MS = 300_000;

/** A refusal of the cloud, with what only this provider understands. */
export class LabError extends ProviderError {
  /** Empty when something else than the cloud answered. */
  readonly code: string;
  /** Of something that is in the way, such as the one that has the name already. */
  readonly otherId: string | undefined;
  /** The field of the request that is wrong, or that names what is missing. */
  readonly target: string | undefined;
  /** The same request may work later. */
  readonly isTemporary: boolean;

  constructor(kind: ProviderErrorKind, message: string, facts: LabErrorFacts) {
    super(kind, message, facts.retryAfterMs === undefined ? {} : { retryAfterMs: facts.retryAfterMs });
    this.name = 'LabError';
    this.code = facts.code;
    this.otherId = facts.otherId;
    this.target = facts.target;
    this.isTemporary = facts.isTemporary;
  }
}

interface LabErrorFacts {
  readonly code: string;
  readonly otherId: string | undefined;
  readonly target: string | undefined;
  readonly isTemporary: boolean;
  readonly retryAfterMs: number | undefined;
}

export interface Refusal {
  /** Method and path, for people. */
  readonly request: string;
  readonly status: number;
  readonly retryAfter: string | null;
  /** Whatever came. */
  readonly body: unknown;
}

/** Pure: the error that an answer stands for. Only the cloud's own words count: a proxy that says 404 knows nothing. */
export function refusalError({ request, status, retryAfter, body }: Refusal): LabError {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  const { code, message, requestId, retryable, details, target } = error;
  const known = typeof code === 'string' ? code : '';
  const kind = (Object.hasOwn(KIND_OF_CODE, known) ? KIND_OF_CODE[known] : undefined) ?? kindOfStatus(status);
  const said = typeof message === 'string' ? message : 'something else than the cloud answered';
  const reference = typeof requestId === 'string' ? `, ${requestId}` : '';
  const otherId = isRecord(details) ? details['id'] : undefined;
  return new LabError(
    kind,
    `${request}: ${said} (${known === '' ? '' : `${known}, `}HTTP ${status}${reference})`,
    {
      code: known,
      otherId: typeof otherId === 'string' ? otherId : undefined,
      target: typeof target === 'string' ? target : undefined,
      isTemporary: retryable === true,
      retryAfterMs: retryAfterMs(retryAfter),
    },
  );
}

const kindOfStatus = (status: number): ProviderErrorKind => {
  if (status === 429) return 'throttled';
  return status >= 500 || status === 404 ? 'unavailable' : 'unknown';
};

/** Whole seconds; dates are nothing that the lab writes. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null || !/^\d{1,9}$/.test(header)) return undefined;
  return Math.min(Number(header) * 1000, LONGEST_RETRY_MS);
}

/** Of connections that never came about: nothing can have happened. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** What a connection that failed means: whoever wrote does not know whether it happened (lab/C11). */
export function transportError(thrown: unknown, method: string, request: string): ProviderError {
  const code = codeOf(thrown);
  const isHarmless = method === 'GET' || NEVER_SENT.has(code);
  const [kind, meaning] = isHarmless
    ? (['unavailable', 'the cloud does not answer'] as const)
    : (['uncertain', 'the connection broke, so it may have happened'] as const);
  return new ProviderError(kind, `${request}: ${meaning}${code === '' ? '' : ` (${code})`}`, { cause: thrown });
}

/** `fetch` hides the reason in the cause. */
function codeOf(thrown: unknown): string {
  const inner = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  const code: unknown = inner instanceof Error && 'code' in inner ? inner.code : undefined;
  return typeof code === 'string' ? code : '';
}

export const isCode = (thrown: unknown, code: string): thrown is LabError =>
  thrown instanceof LabError && thrown.code === code;

/** The object of the request is not there; something that the request only mentions may be missing, too. */
export const isGone = (thrown: unknown): thrown is LabError =>
  isCode(thrown, 'NotFound') && thrown.target === undefined;
