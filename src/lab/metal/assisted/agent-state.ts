import type { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import { agentProblem, isInstalled, isInstalling } from './agent-conditions.ts';
import {
  type AgentFacts,
  type AgentStatus,
  isBound,
  isDayOne,
  isSame,
  type Move,
  partOf,
  stateOf,
  takesPart,
} from './agent-facts.ts';
import { statusAfter } from './agent-status.ts';
import { saidSince } from './assisted-conditions.ts';
import { isStage, type Stage, stageAfter, stagesOf } from './stages.ts';

/** What a host is next. */
export interface AgentStep {
  readonly status: AgentStatus;
  /** The machine becomes a node before this is written. */
  readonly isJoining: boolean;
  /** When to look again, if nothing happens before. */
  readonly waitMs?: number;
}

/** What follows, or for how long nothing does. */
type Decision = Move | { readonly waitMs: number } | undefined;

/** Pure: one step of the life of a host (S17, S19–S22), or the status as it should be where it stays as it is. */
export function agentStep(facts: AgentFacts): AgentStep {
  const decision = decided(facts);
  const move = decision !== undefined && 'state' in decision ? decision : undefined;
  const waitMs = decision !== undefined && 'waitMs' in decision ? decision.waitMs : undefined;
  return {
    status: statusAfter(facts, move),
    isJoining: move?.stage === 'Joined',
    ...(waitMs !== undefined && { waitMs }),
  };
}

/** What follows from each state; from the others nothing does. */
const NEXT: Readonly<Record<string, (facts: AgentFacts) => Decision>> = {
  '': ({ agent }) => ({ state: discovering(agent), info: 'The host has registered' }),
  discovering: (facts) => whenDue(facts, facts.delays.inventoryMs, { state: 'known', info: KNOWN_INFO }),
  'discovering-unbound': (facts) =>
    whenDue(facts, facts.delays.inventoryMs, { state: 'known-unbound', info: KNOWN_INFO }),
  known: (facts) => start(facts),
  'preparing-for-installation': (facts) =>
    whenDue(facts, facts.delays.preparationMs / 2, {
      state: 'preparing-successful',
      info: 'The host is prepared',
    }),
  'preparing-successful': ({ clusterState }) =>
    clusterState === 'installing' ? { state: 'installing', info: 'The installation begins' } : undefined,
  installing: () => ({
    state: 'installing-in-progress',
    info: 'Starting installation',
    stage: 'Starting installation',
  }),
  'installing-pending-user-action': ({ agent }) => ({
    state: 'installing-in-progress',
    info: agent.status?.progress?.currentStage ?? '',
  }),
  'installing-in-progress': (facts) => progress(facts),
};
const KNOWN_INFO = 'The hardware is known';

function decided(facts: AgentFacts): Decision {
  const state = stateOf(facts.agent);
  return accidentOf(facts, state) ?? NEXT[state]?.(facts);
}

/** What somebody asked to go wrong, at its time. */
function accidentOf({ agent, fault, clusterState }: AgentFacts, state: string): Decision {
  if (!isInstalling(state)) return undefined;
  if (clusterState === 'cancelled')
    return { state: 'cancelled', info: 'The installation of the cluster was cancelled' };
  if (fault === undefined || !hasReached(agent, fault.at)) return undefined;
  const { kind, message: info } = fault;
  if (kind !== 'pending-user-action') return { state: kind, info };
  const pending = 'installing-pending-user-action';
  if (state === 'installing-in-progress') return { state: pending, info };
  return state === pending ? { waitMs: 0 } : undefined;
}

function hasReached(agent: Agent, at: Stage | undefined): boolean {
  if (at === undefined) return true;
  const { currentStage } = agent.status?.progress ?? {};
  const stages = stagesOf(partOf(agent));
  return isStage(currentStage) && stages.indexOf(currentStage) >= stages.indexOf(at);
}

const discovering = (agent: Agent): string => (isBound(agent) ? 'discovering' : 'discovering-unbound');

/** When the state has lasted so long. */
function whenDue({ agent, now }: AgentFacts, afterMs: number, move: Move): Decision {
  const { conditions } = agent.status ?? {};
  const since = saidSince(conditions, 'Installed') ?? new Date(agent.metadata.creationTimestamp ?? now);
  const leftMs = since.getTime() + afterMs - now.getTime();
  return leftMs > 0 ? { waitMs: leftMs } : move;
}

function start({ agent, clusterState }: AgentFacts): Decision {
  if (agent.spec.approved !== true || agentProblem(agent) !== undefined) return undefined;
  if (clusterState === 'preparing-for-installation')
    return { state: 'preparing-for-installation', info: 'The installation is prepared' };
  // Each by itself, whatever the others do (S22).
  return clusterState === 'adding-hosts' ? { state: 'installing', info: 'The installation begins' } : undefined;
}

function progress(facts: AgentFacts): Decision {
  const { agent, now, delays } = facts;
  const { currentStage, stageStartTime } = agent.status?.progress ?? {};
  if (!isStage(currentStage)) return undefined;
  const agedByMs = now.getTime() - new Date(stageStartTime ?? now).getTime();
  const leftMs = delays.stageMs(currentStage) - agedByMs;
  if (leftMs > 0) return { waitMs: leftMs };
  if (isHeld(facts, currentStage)) return { waitMs: delays.pollMs };
  const stage = stageAfter(partOf(agent), currentStage);
  if (stage === undefined) return undefined;
  if (stage !== 'Done') return { state: 'installing-in-progress', info: stage, stage };
  return isDayOne(agent)
    ? { state: 'installed', info: 'Done', stage }
    : { state: 'added-to-existing-cluster', info: 'Done', stage };
}

/** Whether others have to come first. */
function isHeld({ agent, siblings, clusterState, isOn }: AgentFacts, stage: Stage): boolean {
  if (stage === 'Rebooting') return !isOn;
  if (stage !== 'Waiting for control plane' || !isDayOne(agent)) return false;
  // Nodes that only work come when the control plane is there (S21) …
  if (partOf(agent) === 'worker') return clusterState !== 'finalizing';
  // … and the host that bootstraps becomes the last node of it.
  const others = siblings.filter((one) => one.spec.role === 'master' && takesPart(one) && !isSame(one, agent));
  return !others.every((one) => isInstalled(stateOf(one)) || one.status?.progress?.currentStage === 'Joined');
}
