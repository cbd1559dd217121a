import type { Failure } from '../../api/journey.ts';
import { causeChain, messageOf, SlipwayError } from '../../base/errors.ts';
import { CommandError } from '../failures.ts';
import { onceAborted } from './abort-listener.ts';
import type { Phase, PhaseContext, PhaseFailure, Probe, ProbeAnswer } from './phase.ts';

/** Long enough for a busy machine; a probe that does not answer is evidence in itself. */
const PROBE_LIMIT_MS = 5000;
/** No further probe is asked after this time: the user waits for the cause. */
const ALL_PROBES_LIMIT_MS = 10_000;

/** What is known about a failure besides the probes. */
export interface Circumstances {
  /** The newest warnings of the phase. */
  readonly warnings: readonly string[];
  /** What the phase waited for last. */
  readonly waitingFor: string | undefined;
  /** The path of the log. */
  readonly log: string;
  /** How to go on after the cause is removed. */
  readonly continuation: readonly string[];
}

/** Says why `phase` failed: the first of its probes that is false, or that all are true (experience X31). */
export async function failureWithCause(
  phase: Phase,
  outcome: PhaseFailure,
  context: PhaseContext,
  circumstances: Circumstances,
): Promise<Failure> {
  const {
    evidence,
    look = [],
    next = [],
  } = outcome.cause === undefined
    ? await firstFalse(phase.probes, context, circumstances)
    : { evidence: outcome.cause };
  return {
    what: outcome.what ?? outcome.detail,
    cause: evidence,
    look: [...look, ...(outcome.look ?? []), circumstances.log],
    next: [...next, ...(outcome.next ?? []), ...circumstances.continuation],
    code: outcome.code,
  };
}

type FalseAnswer = Omit<Extract<ProbeAnswer, { isTrue: false }>, 'isTrue'>;

async function firstFalse(
  probes: readonly Probe[],
  context: PhaseContext,
  circumstances: Circumstances,
): Promise<FalseAnswer> {
  const { clock, signal } = context;
  const unknown = (why: string): FalseAnswer => ({ evidence: unknownCause(why, circumstances) });
  const endMs = clock.monotonicMs() + ALL_PROBES_LIMIT_MS;
  for (const [at, probe] of probes.entries()) {
    const hasTime = clock.monotonicMs() <= endMs;
    if (!hasTime)
      return unknown(`the first ${at} of ${probes.length} probes pass, the others were not asked in time`);
    const answer = await askedInTime(probe, context);
    if (signal.aborted) return unknown('interrupted while the probes were asked');
    if (!answer.isTrue) return answer;
  }
  return unknown(PASSED[probes.length] ?? `all ${probes.length} probes pass`);
}

const PASSED = ['this phase has no probes', 'its one probe passes'];

/** A probe that throws or is silent is false: it could not show that its predicate holds. */
async function askedInTime(probe: Probe, context: PhaseContext): Promise<ProbeAnswer> {
  const limit = new AbortController();
  const silence = Promise.withResolvers<ProbeAnswer>();
  const evidence = `${probe.predicate}: no answer within ${PROBE_LIMIT_MS / 1000} s`;
  const signal = AbortSignal.any([context.signal, limit.signal]);
  using _abort = onceAborted(signal, () => silence.resolve({ isTrue: false, evidence }));
  using _timer = context.clock.timer(PROBE_LIMIT_MS, () => limit.abort());
  try {
    return await Promise.race([probe.ask({ ...context, signal }), silence.promise]);
  } catch (error) {
    return { isTrue: false, evidence: `${probe.predicate}: ${innermost(error)}` };
  }
}

const innermost = (thrown: unknown): string => messageOf(causeChain(thrown).at(-1));

function unknownCause(why: string, { warnings, waitingFor }: Circumstances): string {
  const waited = waitingFor === undefined ? '' : `; it waited for: ${waitingFor}`;
  const told = warnings.length === 0 ? '' : `; last warnings: ${warnings.join('; ')}`;
  return `cause unknown: ${why}${waited}${told}`;
}

/**
 * What a phase that threw has to say. A failure we foresaw carries a sentence for people; of anything else the text may
 * hold internals, so it goes to the log only.
 */
export function thrownOutcome(thrown: unknown): PhaseFailure {
  if (thrown instanceof CommandError) return { health: 'failed', detail: thrown.message, code: thrown.code };
  if (thrown instanceof SlipwayError) return { health: 'failed', detail: thrown.message, code: 'SW1201' };
  return {
    health: 'failed',
    detail: 'stopped by an error nobody foresaw',
    what: 'the phase stopped with an error nobody foresaw: a bug of Slipway',
    code: 'SW9001',
  };
}
