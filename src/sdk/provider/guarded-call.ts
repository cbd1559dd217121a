import type { Clock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { causeChain } from '../../base/errors.ts';
import { REDACTED, redactedText } from '../../base/redaction.ts';
import type { CapabilityName } from '../capabilities/capabilities.ts';
import { isProviderError, ProviderError, type ProviderErrorKind } from './provider-error.ts';

/** Shorter values are too common in other text to be cut out of it. */
const SHORTEST_SECRET = 4;

/** A call of a provider that has ended, for metrics and logs. */
export interface ProviderCall {
  readonly capability: CapabilityName;
  readonly method: string;
  readonly result: 'success' | 'error';
  /** Of the error; absent when it was the caller who gave up. */
  readonly kind?: ProviderErrorKind;
  readonly durationMs: number;
}

/** How long a call of a provider may take, and who waits for it. */
export interface Deadline {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** What is called, for the message: `acme.instances.describe`. */
  readonly what: string;
  /** It may change something: then nobody knows, when it gives no answer, whether it did. */
  readonly isChange?: boolean;
  /** Of the caller. */
  readonly signal?: AbortSignal;
}

/**
 * Runs work of a provider with a signal that aborts when the time is over or the caller gives up. Ends then, whatever the
 * provider makes of the signal: with `unavailable`, with `uncertain` when it may have changed something, or with the
 * reason of the caller's signal.
 */
export async function withinDeadline<T>(
  { clock, timeoutMs, what, isChange = false, signal }: Deadline,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    reject(reason);
    controller.abort(reason);
  };
  const onAbort = (): void => end(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  using _timer = clock.timer(timeoutMs, () => {
    const silence = `${what} gave no answer within ${goDuration(timeoutMs)}`;
    end(
      isChange
        ? new ProviderError('uncertain', `${silence}: it may have happened`)
        : new ProviderError('unavailable', silence),
    );
  });
  try {
    // A provider may throw before it has made a promise.
    return await Promise.race([Promise.resolve().then(() => work(controller.signal)), promise]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

const longEnough = (secrets: readonly string[]): readonly string[] =>
  secrets.filter((value) => value.length >= SHORTEST_SECRET);

/** Text of a provider that people will read, without secrets. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // The longest first: one that is the beginning of another would leave the rest of that.
  const values = longEnough(secrets).toSorted((one, other) => other.length - one.length);
  return redactedText(values.reduce((clean, value) => clean.replaceAll(value, REDACTED), text));
}

/** Anything that a provider threw, as an error of ours that says what it means and holds no secret. */
export function providerErrorOf(thrown: unknown, secrets: readonly string[]): ProviderError {
  const values = longEnough(secrets);
  const clean = withoutSecrets(textOf(thrown), secrets);
  const isTold = causeChain(thrown).every((one) =>
    values.every((value) => !`${textOf(one)}${stackOf(one)}`.includes(value)),
  );
  const retryAfterMs = isProviderError(thrown) ? thrown.retryAfterMs : undefined;
  const isTime = typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && retryAfterMs >= 0;
  return new ProviderError(isProviderError(thrown) ? thrown.kind : 'unknown', clean, {
    // The log prints causes as they are.
    ...(isTold && { cause: thrown }),
    ...(isTime && { retryAfterMs }),
  });
}

/** The message of anything that was thrown, whatever it is made of. */
function textOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    const message: unknown = Reflect.get(Object(thrown), 'message');
    return typeof message === 'string' && message !== ''
      ? message
      : `it threw ${nameOf(thrown)} without a message`;
  } catch {
    return 'it threw something that cannot be read';
  }
}

const nameOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.name : thrown === undefined || thrown === null ? String(thrown) : typeof thrown;

const stackOf = (thrown: unknown): string => (thrown instanceof Error ? String(thrown.stack) : '');
