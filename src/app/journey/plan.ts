import type { JourneyPlan, PlannedPhase } from '../../api/journey.ts';
import type { Bootstrap } from './bootstrap.ts';
import type { TypicalTimes } from './history.ts';
import { PHASE_IDS, type Phase, type PhaseId } from './phase.ts';

interface PhaseText {
  readonly title: string;
  readonly promise: string;
}

const TEXTS: Readonly<Record<PhaseId, PhaseText>> = {
  hub: {
    title: 'hub',
    promise: 'A Kubernetes API of our own starts in under a second, and kubectl works with it.',
  },
  definition: {
    title: 'definition',
    promise: 'Your definition of a cloud or of hardware, written in TypeScript, is loaded and checked.',
  },
  cluster: {
    title: 'cluster on bare metal',
    promise: 'Three control-plane hosts and two workers become a cluster, with the progress of each host.',
  },
  cloud: {
    title: 'cloud',
    promise: 'The cloud controller manager runs for real: nodes are initialised, a load balancer answers.',
  },
  storage: {
    title: 'storage and machines',
    promise: 'A volume is written and snapshotted, a machine is added by scaling, names resolve.',
  },
  hardware: {
    title: 'hardware',
    promise: 'A device is discovered and advertised, and a pod gets exactly what it asked for.',
  },
  onboarding: {
    title: 'onboarding',
    promise: 'A board shows which of the 15 steps have evidence, and one next action for each of the others.',
  },
};

/** What works before the first phase exists. */
const COMMANDS: JourneyPlan['commands'] = [
  { command: 'npx slipway doctor', does: 'checks this machine' },
  { command: 'npx slipway version', does: 'prints the versions a bug report needs' },
  { command: 'npx slipway explain SW1101', does: 'says what an error code means and how to fix it' },
  { command: 'npx slipway up', does: 'runs this journey; phases join it as they are built' },
];
const CLONE_COMMANDS: JourneyPlan['commands'] = [
  { command: 'npm run oracles', does: 'builds the real etcd, kube-apiserver and kubectl to compare with' },
];

export interface PlanFacts {
  readonly version: string;
  readonly bootstrap: Bootstrap;
  readonly typical: TypicalTimes;
  readonly isOnce: boolean;
  /** The path of the log as the user would write it. */
  readonly log: string;
}

/** All seven phases, whether registered or not, and what the header shows. Throws when two have the same id. */
export function journeyPlan(phases: readonly Phase[], facts: PlanFacts): JourneyPlan {
  const { version, bootstrap, typical, isOnce, log } = facts;
  const ids = phases.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new Error(`two components register the phase "${twice}"`);
  const registered = new Map(phases.map((phase) => [phase.id, phase]));
  return {
    version,
    phases: PHASE_IDS.map((id) => plannedPhase(id, registered.get(id), typical.phasesMs[id])),
    node: bootstrap.node,
    isOnce,
    log,
    commands: bootstrap.isClone ? [...COMMANDS, ...CLONE_COMMANDS] : COMMANDS,
    ...(bootstrap.installed !== undefined && { installed: bootstrap.installed }),
    ...(typical.totalMs !== undefined && { typicalMs: typical.totalMs }),
  };
}

const plannedPhase = (id: PhaseId, phase: Phase | undefined, typicalMs: number | undefined): PlannedPhase => ({
  id,
  ...TEXTS[id],
  ...phase?.provisional,
  isRegistered: phase !== undefined,
  ...(typicalMs !== undefined && { typicalMs }),
});

/** The phases before `from`, except those that something from there on needs: their work is in no process otherwise. */
export function phasesLeftOut(phases: readonly Phase[], from: PhaseId | undefined): ReadonlySet<PhaseId> {
  if (from === undefined) return new Set();
  const start = PHASE_IDS.indexOf(from);
  const wanted = new Set<PhaseId>(PHASE_IDS.slice(start));
  // Needs point to earlier phases, so one pass from the end reaches all of them.
  for (const id of PHASE_IDS.toReversed()) {
    const needs = wanted.has(id) ? (phases.find((phase) => phase.id === id)?.needs ?? []) : [];
    for (const need of needs) wanted.add(need);
  }
  return new Set(PHASE_IDS.filter((id) => !wanted.has(id)));
}

/** The given phases and all that need them, directly or not, in the order of the journey. */
export function dependants(phases: readonly Phase[], given: readonly string[]): readonly PhaseId[] {
  const found = new Set<string>(given);
  // Needs point to earlier phases, so one pass from the start reaches all of them.
  for (const id of PHASE_IDS) {
    const needs = phases.find((phase) => phase.id === id)?.needs ?? [];
    if (needs.some((need) => found.has(need))) found.add(id);
  }
  return PHASE_IDS.filter((id) => found.has(id));
}
