import { type Disposition, SlipwayError } from '../../base/errors.ts';
import { hasBrand, PROVIDER_ERROR } from './brand.ts';

/**
 * Why a cloud did not do what it was asked to: a closed set, so that every component can say what each means. Anything
 * else that a provider throws counts as `unknown`.
 */
export const PROVIDER_ERRORS = {
  'not-found': {
    disposition: 'retry',
    reason: 'CloudNotFound',
    meaning: 'something that the call needs is not there',
  },
  conflict: {
    disposition: 'retry',
    reason: 'CloudConflict',
    meaning: 'somebody else changed or made it meanwhile',
  },
  'in-use': { disposition: 'retry', reason: 'CloudInUse', meaning: 'something else still uses it' },
  quota: { disposition: 'retry', reason: 'CloudQuotaReached', meaning: 'the account may have no more of it' },
  'no-capacity': { disposition: 'retry', reason: 'CloudNoCapacity', meaning: 'the cloud has none left' },
  'out-of-range': {
    disposition: 'user',
    reason: 'CloudOutOfRange',
    meaning: 'a value is beyond what the cloud offers',
  },
  invalid: { disposition: 'user', reason: 'CloudInvalid', meaning: 'the cloud refuses the request as it is' },
  unsupported: { disposition: 'terminal', reason: 'CloudUnsupported', meaning: 'the cloud cannot do that at all' },
  denied: { disposition: 'retry', reason: 'CloudDenied', meaning: 'the credentials do not allow it' },
  unauthenticated: {
    disposition: 'retry',
    reason: 'CloudUnauthenticated',
    meaning: 'the credentials are not accepted',
  },
  throttled: { disposition: 'retry', reason: 'CloudThrottled', meaning: 'too many requests; come back later' },
  unavailable: {
    disposition: 'retry',
    reason: 'CloudUnavailable',
    meaning: 'the cloud does not answer, or says so',
  },
  uncertain: {
    disposition: 'retry',
    reason: 'CloudUncertain',
    meaning: 'the answer was lost or did not come in time: it may have happened',
  },
  unknown: { disposition: 'retry', reason: 'CloudUnknown', meaning: 'the provider threw something of its own' },
} as const satisfies Readonly<
  Record<string, { readonly disposition: Disposition; readonly reason: string; readonly meaning: string }>
>;

/** What went wrong, as a key of the table above. */
export type ProviderErrorKind = keyof typeof PROVIDER_ERRORS;

/** What else is known about a failure. */
export interface ProviderErrorOptions {
  readonly cause?: unknown;
  /** When the cloud said so. */
  readonly retryAfterMs?: number;
}

/** What a capability throws. Whatever its kind, a thrown error means "unknown" and never deletes anything. */
export class ProviderError extends SlipwayError {
  readonly kind: ProviderErrorKind;
  readonly [PROVIDER_ERROR] = true;

  constructor(kind: ProviderErrorKind, message: string, options: ProviderErrorOptions = {}) {
    const { disposition, reason } = PROVIDER_ERRORS[kind];
    super(disposition, reason, message, options);
    this.name = 'ProviderError';
    this.kind = kind;
  }
}

/** Whether a provider said what its failure means; also with an error of another copy of this package. */
export const isProviderError = (thrown: unknown): thrown is ProviderError => {
  if (!hasBrand(thrown, PROVIDER_ERROR)) return false;
  const kind: unknown = Reflect.get(thrown, 'kind');
  return typeof kind === 'string' && Object.hasOwn(PROVIDER_ERRORS, kind);
};

/** The kind of anything that a provider threw. */
export const providerErrorKind = (thrown: unknown): ProviderErrorKind =>
  isProviderError(thrown) ? thrown.kind : 'unknown';
