import assert from 'node:assert/strict';
import { hubPhase } from '../../src/app/apiserver/hub-phase.ts';
import { failureWithCause } from '../../src/app/journey/cause.ts';
import type { Phase, PhaseContext, PhaseOutcome } from '../../src/app/journey/phase.ts';
import { LAB } from '../../src/app/lab/lab-handover.ts';
import { clusterPhase } from '../../src/app/metal/cluster-phase.ts';
import { definitionPhase } from '../../src/app/provider/definition-phase.ts';
import type { Clock } from '../../src/base/clock.ts';
import { TimeUp } from '../../src/lab/clock/auto-lab-clock.ts';
import type { Lab, Metal } from '../../src/lab/index.ts';
import { phaseContext } from './phase-context.ts';

/** Phases of a journey, one after the other, in this process; everything ends with it. */
export interface PhaseWorld extends AsyncDisposable, Omit<ReturnType<typeof phaseContext>, 'end'> {
  /** What the phases said that they wait for. */
  readonly waits: readonly string[];
  readonly lab: Lab;
  readonly metal: Metal;
}

export interface PhaseWorldOptions {
  /** Path of a definition; the example unless given. */
  readonly provider?: string | undefined;
  readonly clock?: Clock;
}

/** A journey that has come to the phase that installs a cluster. */
export async function beforeCluster(
  folder: string,
  { provider, clock }: PhaseWorldOptions = {},
): Promise<PhaseWorld> {
  const { end, ...world } = phaseContext(folder, clock);
  const waits: string[] = [];
  const context = { ...world.context, waitingFor: (predicate: string) => void waits.push(predicate) };
  for (const phase of [hubPhase, definitionPhase(provider)]) await done(phase, context);
  return {
    ...world,
    context,
    waits,
    get lab() {
      return LAB.get(context).lab;
    },
    get metal() {
      return LAB.get(context).metal ?? assert.fail('no metal was handed over');
    },
    [Symbol.asyncDispose]: end,
  };
}

/** One whose cluster is installed. */
export async function withCluster(folder: string, options?: PhaseWorldOptions): Promise<PhaseWorld> {
  const world = await beforeCluster(folder, options);
  try {
    await done(clusterPhase, world.context);
  } catch (error) {
    await world[Symbol.asyncDispose]();
    throw error;
  }
  return world;
}

async function done(phase: Phase, context: PhaseContext): Promise<void> {
  const outcome = await phase.run(context);
  assert.equal(outcome.health, 'done', JSON.stringify(outcome));
}

/** What the user reads of a failure. */
export function toldFailure(phase: Phase, outcome: PhaseOutcome, context: PhaseContext) {
  if (outcome.health !== 'failed') assert.fail(JSON.stringify(outcome));
  const circumstances = { warnings: [], waitingFor: undefined, log: 'journey.log', continuation: [] };
  return failureWithCause(phase, outcome, context, circumstances);
}

/** From now on, time is up for every wait once this is so. */
export function endWaits({ context, lab }: PhaseWorld, isOver: () => Promise<boolean>): void {
  const until: Lab['until'] = (check, options) =>
    lab.until(async () => {
      if (await isOver()) throw new TimeUp(0);
      return check();
    }, options);
  LAB.put(context, { ...LAB.get(context), lab: { ...lab, until, cluster: (name) => lab.cluster(name) } });
}
