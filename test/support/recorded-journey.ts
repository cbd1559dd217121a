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
  /** The usual time of each phase here. */
  readonly phasesMs?: Readonly<Record<string, number>>;
  /** What the user does while it stays up, one every two minutes. */
  readonly acts?: readonly ('retry' | 'stop')[];
  readonly recordError?: (subject: string, thrown: unknown) => void;
}

/** A journey of the given components in virtual time, with the facts of one particular machine. */
export function journeyOf(
  components: readonly Component[],
  clock: VirtualClock,
  fixture: JourneyFixture = {},
): Journey {
  const phases = components.flatMap((component) => component.phases);
  const { isOnce = true, from, typicalMs, phasesMs = {}, recordError = () => {} } = fixture;
  return new Journey({
    plan: journeyPlan(phases, {
      version: '0.1.0',
      bootstrap: {
        isClone: true,
        node: { found: '20.20.2', using: '24.21.0' },
        installed: { packages: 152, ms: 14_800 },
      },
      typical: { totalMs: typicalMs, phasesMs },
      isOnce,
      log: '.slipway/journey.log',
    }),
    phases,
    leftOut: phasesLeftOut(phases, from),
    from,
    clock,
    folder: '/home/ada/clone',
    data: '/home/ada/clone/.slipway',
    port: undefined,
    continueCommand: (phase) => `npx slipway up --from ${phase}`,
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
  // It is looked at below, when time has passed.
  end.catch(() => {});
  for (let step = 0; !isDone && step < 10_000; step++) await clock.advance(50);
  return end;
}

const ACT_EVERY_MS = 120_000;

/** Everything a journey of these components publishes when it runs, by default once. */
export async function recordedEvents(
  components: readonly Component[],
  fixture: JourneyFixture = {},
): Promise<readonly JourneyEvent[]> {
  const clock = recordingClock();
  const journey = journeyOf(components, clock, fixture);
  const events: JourneyEvent[] = [];
  journey.subscribe((event) => events.push(event));
  const stop = new AbortController();
  const end = journey.run(stop.signal);
  for (const act of fixture.acts ?? []) {
    await clock.advance(0);
    await clock.advance(ACT_EVERY_MS);
    if (act === 'retry') journey.retry();
    else stop.abort();
  }
  await inVirtualTime(clock, end);
  return events;
}
