import { type Verdict, verdictOn } from './compare.ts';
import { masked, type Place } from './mask.ts';
import type { Recorded } from './recorded-answer.ts';

/** What was compared at one step of a case. */
export interface StepResult {
  readonly label: string;
  readonly verdict: Verdict;
  /** What upstream answered, masked: the fact that the step established. */
  readonly fact: unknown;
}

// Documents such as those of OpenAPI would make the report unreadable.
const LONGEST_FACT = 20_000;

export interface Side {
  readonly answers: readonly Recorded[];
  readonly place: Place;
}

/** Compares what two servers answered to the same steps. */
export function compareSides(upstream: Side, ours: Side, isControl: boolean): readonly StepResult[] {
  const left = masked(upstream.answers, upstream.place);
  const right = masked(ours.answers, ours.place);
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
    stepResult(left[index], right[index], isControl),
  );
}

function stepResult(upstream: Recorded | undefined, ours: Recorded | undefined, isControl: boolean): StepResult {
  const label = ours?.label ?? upstream?.label ?? '';
  const fact = factOf(upstream);
  if (upstream !== undefined && ours !== undefined) {
    return { label, fact, verdict: verdictOn(upstream, ours, isControl) };
  }
  const reached = (answer: Recorded | undefined) => (answer === undefined ? 'not reached' : 'reached');
  const difference = { path: '', upstream: reached(upstream), ours: reached(ours) };
  return { label, fact, verdict: { kind: 'different', differences: [difference] } };
}

function factOf(answer: Recorded | undefined): unknown {
  if (answer === undefined) return undefined;
  const { status, headers, body } = answer;
  const isLong = (JSON.stringify(body) ?? '').length > LONGEST_FACT;
  return { status, headers, body: isLong ? '(long)' : body };
}
