import { SystemClock } from '../../base/clock.ts';
import { dispositionOf, messageOf } from '../../base/errors.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { CallContext } from '../capabilities/call.ts';
import type { Capabilities, CapabilityName } from '../capabilities/capabilities.ts';
import type { ConnectedProvider } from '../provider/connected-provider.ts';
import { isProviderError, providerErrorKind } from '../provider/provider-error.ts';
import { unguardedOf } from '../provider/unguarded.ts';
import { broken } from './contract.ts';

/** A provider and its cloud, as every suite needs them. Disposing it must remove what was made. */
export interface ProviderSubject extends AsyncDisposable {
  readonly provider: ConnectedProvider;
  /** Lets time pass; real time unless given. */
  wait?(ms: number): Promise<void>;
  /** Longest time that the cloud takes for anything; 5 min unless given. */
  readonly settleMs?: number;
  /** From now on every request fails, until disposed. */
  breakCloud?(): Promise<Disposable | AsyncDisposable>;
  /** From now on requests are taken and never answered, until disposed. */
  silenceCloud?(): Promise<Disposable | AsyncDisposable>;
}

const SETTLE_MS = 300_000;
const STEP_MS = 1000;
/** Whoever is told that nobody waits has so long to notice. */
const PROMPT_MS = 5000;
const NOBODY = new Error('nobody waits for this call');

/** A call that nobody gives up, unless a signal is given. */
export const callWith = (signal: AbortSignal = new AbortController().signal): CallContext => ({
  signal,
  log: SILENT_LOG,
});

/** The capability that a suite is about. */
export function capabilityOf<Name extends CapabilityName>(
  { provider }: Pick<ProviderSubject, 'provider'>,
  name: Name,
): NonNullable<Capabilities[Name]> {
  const capability = provider.capabilities[name];
  if (capability === undefined) throw broken(`the provider ${provider.name} has no capability ${name}`);
  return capability;
}

/** The same as its author wrote it, for promises that a guard around it would keep in its place. */
export const bareCapabilityOf = <Name extends CapabilityName>(
  { provider }: ProviderSubject,
  name: Name,
): NonNullable<Capabilities[Name]> =>
  capabilityOf({ provider: { ...provider, capabilities: unguardedOf(provider.capabilities) } }, name);

export const wait = async (subject: ProviderSubject, ms: number): Promise<void> =>
  subject.wait === undefined ? await new SystemClock().sleep(ms) : await subject.wait(ms);

/**
 * Asks again until there is an answer. Errors that may go away by themselves count as none: that is what they are for.
 * `what` completes "… did not happen": `the machine is running`.
 */
export async function eventually<T>(
  subject: ProviderSubject,
  what: string,
  ask: () => Promise<{ readonly got: T } | { readonly yet: string }>,
): Promise<T> {
  const { settleMs = SETTLE_MS } = subject;
  for (let passedMs = 0; ; passedMs += STEP_MS) {
    const answer = await unlessRetryable(ask);
    if ('got' in answer) return answer.got;
    if (passedMs >= settleMs) throw broken(`${what}: not after ${settleMs / 1000} s; at last ${answer.yet}`);
    await wait(subject, STEP_MS);
  }
}

async function unlessRetryable<T>(
  ask: () => Promise<{ readonly got: T } | { readonly yet: string }>,
): Promise<{ readonly got: T } | { readonly yet: string }> {
  try {
    return await ask();
  } catch (error) {
    if (!isProviderError(error) || dispositionOf(error) !== 'retry') throw error;
    return { yet: `it threw ${thrownText(error)}` };
  }
}

export const thrownText = (thrown: unknown): string =>
  isProviderError(thrown) ? `${providerErrorKind(thrown)} ("${messageOf(thrown)}")` : `"${messageOf(thrown)}"`;

type Calls = Readonly<Record<string, (call: CallContext) => Promise<unknown>>>;

/** Each call throws a ProviderError; `when` completes "it answered … ": `while the cloud was down`. */
export async function requireThrown(calls: Calls, when: string): Promise<void> {
  for (const [method, call] of Object.entries(calls)) {
    const { answer, thrown } = await outcomeOf(() => call(callWith()));
    if (thrown === undefined) throw broken(`${method}() answered ${answer} ${when}`);
    if (!isProviderError(thrown.error))
      throw broken(`${method}() threw ${thrownText(thrown.error)} ${when}, which is no ProviderError`);
  }
}

/** Calls, those of a bare capability, do not answer when their signal has aborted before, and end soon when it does. */
export async function requireAbort(subject: ProviderSubject, calls: Calls): Promise<void> {
  for (const [method, call] of Object.entries(calls)) {
    const { answer, thrown } = await outcomeOf(() => call(callWith(AbortSignal.abort(NOBODY))));
    if (thrown === undefined) throw broken(`${method}() answered ${answer} though its signal had aborted before`);
  }
  if (subject.silenceCloud === undefined) return;
  await using _silence = await subject.silenceCloud();
  for (const [method, call] of Object.entries(calls)) {
    const nobody = new AbortController();
    const ended = outcomeOf(() => call(callWith(nobody.signal)));
    // Until it is under way: who looks at the signal only before that would be believed.
    await wait(subject, STEP_MS);
    nobody.abort(NOBODY);
    const isOver = await Promise.race([ended.then(() => true), wait(subject, PROMPT_MS).then(() => false)]);
    if (!isOver) throw broken(`${method}() went on for ${PROMPT_MS / 1000} s after its signal had aborted`);
  }
}

/** Calls take inputs that cannot be changed; `frozen` makes them so. */
export async function requireReadOnly(calls: Calls): Promise<void> {
  for (const [method, call] of Object.entries(calls)) {
    const { thrown } = await outcomeOf(() => call(callWith()));
    // Who writes to something frozen gets a TypeError; a guard around the provider calls that unknown.
    const isWrite =
      thrown !== undefined && /read only|not extensible|Cannot (delete|redefine)/.test(messageOf(thrown.error));
    if (isWrite) throw broken(`${method}() changes what it is given: ${thrownText(thrown.error)}`);
  }
}

/** A copy that cannot be changed, at any depth. */
export function frozen<T>(value: T): T {
  const copy = structuredClone(value);
  freeze(copy);
  return copy;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

interface CallOutcome {
  /** As text. */
  readonly answer: string;
  readonly thrown: { readonly error: unknown } | undefined;
}

async function outcomeOf(call: () => Promise<unknown>): Promise<CallOutcome> {
  try {
    return { answer: answerText(await call()), thrown: undefined };
  } catch (error) {
    return { answer: '', thrown: { error } };
  }
}

/** Short enough for a message. */
export const answerText = (answer: unknown): string =>
  answer instanceof Map ? `a Map of ${answer.size}` : (JSON.stringify(answer) ?? 'undefined').slice(0, 300);
