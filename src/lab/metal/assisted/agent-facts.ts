import type { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import { isInstalled, isInstalling, isStopped } from './agent-conditions.ts';
import type { AgentFault } from './assisted-faults.ts';
import type { Delays } from './delays.ts';
import type { HostPart, Stage } from './stages.ts';

export type AgentStatus = NonNullable<Agent['status']>;

/** Everything that decides what becomes of a host. */
export interface AgentFacts {
  readonly agent: Agent;
  /** State of the cluster that it is bound to; empty when there is none, or it is not known yet. */
  readonly clusterState: string;
  /** All Agents that are bound to the same cluster, this one included. */
  readonly siblings: readonly Agent[];
  readonly fault: AgentFault | undefined;
  /** Whether the machine is on. One that is off does not come back from a reboot. */
  readonly isOn: boolean;
  readonly delays: Delays;
  readonly now: Date;
}

/** A state with what goes with it. */
export interface Move {
  readonly state: string;
  readonly info: string;
  readonly stage?: Stage;
}

export const DAY_2 = 'AddToExistingClusterHost';

export const stateOf = ({ status }: Agent): string => status?.debugInfo?.state ?? '';

/** Part of the installation of the cluster, and not added to it later. */
export const isDayOne = ({ status }: Agent): boolean => status?.kind !== DAY_2;

/** Part of the installation of its cluster, and not merely waiting beside it. */
export function takesPart(agent: Agent): boolean {
  const state = stateOf(agent);
  return isDayOne(agent) && (isInstalling(state) || isInstalled(state) || isStopped(state));
}

/** What it is, or will be, in its cluster. */
export function partOf(agent: Agent): HostPart {
  if (agent.status?.bootstrap === true) return 'bootstrap';
  return agent.spec.role === 'master' ? 'master' : 'worker';
}

export const isBound = ({ spec }: Agent): boolean => spec.clusterDeploymentName !== undefined;
export const isSame = (a: Agent, b: Agent): boolean => a.metadata.name === b.metadata.name;
