import type { JourneyEvent } from '../../src/api/journey.ts';
import type { Component } from '../../src/app/components.ts';
import type { Phase, PhaseContext, PhaseOutcome, Probe, Running } from '../../src/app/journey/phase.ts';
import { type JourneyFixture, journeyOf, recordingClock } from './recorded-journey.ts';

export const DONE: PhaseOutcome = { health: 'done', detail: 'all is well' };
export const FAILED: PhaseOutcome = { health: 'failed', detail: 'it did not work', code: 'SW1201' };

/** A phase that does nothing and is done, unless told otherwise. */
export const phase = (overrides: Partial<Phase> = {}): Phase => ({
  id: 'hub',
  needs: [],
  probes: [],
  run: async () => DONE,
  ...overrides,
});

export const component = (...phases: readonly Phase[]): readonly Component[] => [{ name: 'test', phases }];

export const probe = (predicate: string, isTrue: boolean): Probe => ({
  predicate,
  ask: async () => (isTrue ? { isTrue } : { isTrue, evidence: `${predicate} is false` }),
});

/** `hub done`, `cloud skipped (needs hub)` … of every phase that ended and is registered. */
export const ends = (events: readonly JourneyEvent[]): readonly string[] =>
  events
    .filter(
      ({ kind, phase: id, detail }) =>
        kind === 'end' && id !== 'journey' && detail !== 'not part of this version yet',
    )
    .map(({ phase: id, health, detail }) => `${id} ${health}${health === 'skipped' ? ` (${detail})` : ''}`);

export const failureOf = (events: readonly JourneyEvent[]) =>
  events.findLast(({ failure }) => failure !== undefined)?.failure;

/** A journey that is run step by step, with everything it said. */
export function running(phases: readonly Phase[], fixture: JourneyFixture = {}) {
  const clock = recordingClock();
  const journey = journeyOf(component(...phases), clock, fixture);
  const stop = new AbortController();
  const events: JourneyEvent[] = [];
  journey.subscribe((event) => events.push(event));
  const details = () => events.map(({ detail }) => detail);
  // What is under way gets its turn first, or it would begin to wait only when the time has passed.
  const pass = async (ms: number) => clock.advance(0).then(() => clock.advance(ms));
  return { clock, pass, journey, stop, events, details, end: journey.run(stop.signal) };
}

/** Leaves something running that stops at once, unless told otherwise. */
export const kept = (
  context: PhaseContext,
  name: string,
  onStop: () => unknown = () => {},
  more: Partial<Running> = {},
): void => context.keep(name, { [Symbol.asyncDispose]: async () => void (await onStop()), ...more });

export const never = (): Promise<never> => new Promise(() => {});
