import type { JourneyEvent } from '../../src/api/journey.ts';
import type { Component } from '../../src/app/components.ts';
import { Journey } from '../../src/app/journey/journey.ts';
import type { PhaseId } from '../../src/app/journey/phase.ts';
import { journeyPlan, phasesLeftOut } from '../../src/app/journey/plan.ts';
import { VirtualClock } from '../../src/base/clock.ts';

export interface JourneyFixture {
  readonly isOnce?: boolean;
  readonly from?: PhaseId;
  readonly typicalMs?: number;
  readonly recordError?: (phase: PhaseId, thrown: unknown) => void;
}

/** A journey of the given components in virtual time, with the facts of one particular machine. */
export function journeyOf(
  components: readonly Component[],
  clock: VirtualClock,
  fixture: JourneyFixture = {},
): Journey {
  const phases = components.flatMap((component) => component.phases);
  const { isOnce = true, from, typicalMs, recordError = () => {} } = fixture;
  return new Journey({
    plan: journeyPlan(phases, {
      version: '0.1.0',
      bootstrap: { node: { found: '20.20.2', using: '24.21.0' }, installed: { packages: 152, ms: 14_800 } },
      typical: { totalMs: typicalMs, phasesMs: {} },
    }),
    phases,
    leftOut: phasesLeftOut(phases, from),
    from,
    isOnce,
    clock,
    folder: '/home/ada/clone',
    data: '/home/ada/clone/.slipway',
    port: undefined,
    recordError,
  });
}

export const recordingClock = (): VirtualClock =>
  new VirtualClock({ start: new Date('2026-01-02T09:14:02.113Z') });

/** Lets virtual time run until `task` is done. */
export async function inVirtualTime<Value>(clock: VirtualClock, task: Promise<Value>): Promise<Value> {
  let isDone = false;
  const end = task.finally(() => {
    isDone = true;
  });
  for (let step = 0; !isDone && step < 10_000; step++) await clock.advance(50);
  return end;
}

/** Everything a journey of these components publishes when it runs once. */
export async function recordedEvents(
  components: readonly Component[],
  fixture: JourneyFixture = {},
): Promise<readonly JourneyEvent[]> {
  const clock = recordingClock();
  const journey = journeyOf(components, clock, fixture);
  const events: JourneyEvent[] = [];
  journey.subscribe((event) => events.push(event));
  await inVirtualTime(clock, journey.run(new AbortController().signal));
  return events;
}
