import type { Failure } from '../../api/journey.ts';
import type { Clock } from '../../base/clock.ts';
import { causeChain, messageOf, SlipwayError } from '../../base/errors.ts';
import { CommandError } from '../failures.ts';
import type { Phase, PhaseFailure, Probe, ProbeAnswer } from './phase.ts';

/** Long enough for a busy machine; a probe that does not answer is evidence in itself. */
const PROBE_LIMIT_MS = 5000;

/** Says why `phase` failed: the first of its probes that is false, or that all are true (experience X31). */
export async function failureWithCause(
  phase: Phase,
  outcome: PhaseFailure,
  warnings: readonly string[],
  clock: Clock,
): Promise<Failure> {
  const falseProbe = await firstFalse(phase.probes, clock);
  return {
    what: outcome.what ?? outcome.detail,
    cause: falseProbe?.evidence ?? unknownCause(phase.probes.length, warnings),
    look: [...(falseProbe?.look ?? []), ...(outcome.look ?? [])],
    next: [...(falseProbe?.next ?? []), ...(outcome.next ?? []), `npx slipway up --from ${phase.id}`],
    code: outcome.code,
  };
}

type FalseAnswer = Extract<ProbeAnswer, { isTrue: false }>;

async function firstFalse(probes: readonly Probe[], clock: Clock): Promise<FalseAnswer | undefined> {
  for (const probe of probes) {
    const answer = await askedInTime(probe, clock);
    if (!answer.isTrue) return answer;
  }
  return undefined;
}

/** A probe that throws or is silent is false: it could not show that its predicate holds. */
async function askedInTime(probe: Probe, clock: Clock): Promise<ProbeAnswer> {
  const limit = new AbortController();
  const silence = Promise.withResolvers<ProbeAnswer>();
  using _timer = clock.timer(PROBE_LIMIT_MS, () => {
    limit.abort();
    silence.resolve({
      isTrue: false,
      evidence: `${probe.predicate}: no answer within ${PROBE_LIMIT_MS / 1000} s`,
    });
  });
  try {
    return await Promise.race([probe.ask(limit.signal), silence.promise]);
  } catch (error) {
    return { isTrue: false, evidence: `${probe.predicate}: ${innermost(error)}` };
  }
}

const innermost = (thrown: unknown): string => messageOf(causeChain(thrown).at(-1));

function unknownCause(probes: number, warnings: readonly string[]): string {
  const told = warnings.length === 0 ? '' : `; last warnings: ${warnings.join('; ')}`;
  const asked = probes === 0 ? 'this phase has no probes' : `all ${probes} probes pass`;
  return `cause unknown: ${asked}${told}`;
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
