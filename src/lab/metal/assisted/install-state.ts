import type { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import type { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import { agentProblem, isInstalled, isKnown } from './agent-conditions.ts';
import { stateOf, takesPart } from './agent-facts.ts';
import { saidSince, withConditions } from './assisted-conditions.ts';
import type { InstallFault } from './assisted-faults.ts';
import type { Delays } from './delays.ts';
import {
  areRequirementsMet,
  type HostCounts,
  hasStarted,
  installConditions,
  isCompleted,
} from './install-conditions.ts';

export type InstallStatus = NonNullable<AgentClusterInstall['status']>;

/** Everything that decides what becomes of an installation. */
export interface InstallFacts {
  readonly install: AgentClusterInstall;
  /** What keeps the service from applying the spec; undefined when nothing does. */
  readonly problem: string | undefined;
  /** All Agents that are bound to the cluster. */
  readonly agents: readonly Agent[];
  readonly fault: InstallFault | undefined;
  readonly eventsUrl: string;
  readonly delays: Delays;
  readonly now: Date;
}

export interface InstallStep {
  readonly status: InstallStatus;
  /** When to look again, if nothing happens before. */
  readonly waitMs?: number;
}

interface Move {
  readonly state: string;
  readonly info: string;
}
type Decision = Move | { readonly waitMs: number } | undefined;

export const installStateOf = ({ status }: AgentClusterInstall): string => status?.debugInfo?.state ?? '';

/** Pure: one step of an installation (S18–S21), or the status as it should be where it stays as it is. */
export function installStep(facts: InstallFacts): InstallStep {
  const decision = NEXT[installStateOf(facts.install)]?.(facts);
  const move = decision !== undefined && 'state' in decision ? decision : undefined;
  const waitMs = decision !== undefined && 'waitMs' in decision ? decision.waitMs : undefined;
  return { status: statusAfter(facts, move), ...(waitMs !== undefined && { waitMs }) };
}

/** What follows from each state; from the others nothing does. */
const NEXT: Readonly<Record<string, (facts: InstallFacts) => Decision>> = {
  '': ({ problem }) =>
    problem === undefined ? { state: 'insufficient', info: 'There are not enough hosts' } : undefined,
  insufficient: (facts) =>
    isSufficient(facts) ? { state: 'ready', info: 'The cluster is ready to be installed' } : undefined,
  ready: (facts) => started(facts),
  'preparing-for-installation': (facts) => failureOf(facts) ?? prepared(facts),
  installing: (facts) => failureOf(facts) ?? installing(facts),
  'installing-pending-user-action': (facts) => failureOf(facts) ?? installing(facts),
  finalizing: (facts) => failureOf(facts) ?? finalizing(facts),
  installed: (facts) =>
    whenDue(facts, facts.delays.handoverMs, { state: 'adding-hosts', info: 'Hosts may be added' }),
};

function failureOf({ agents, fault }: InstallFacts): Move | undefined {
  if (fault !== undefined) return { state: fault.kind, info: fault.message };
  const broken = agents.filter(takesPart).find((agent) => stateOf(agent) === 'error');
  if (broken === undefined) return undefined;
  return { state: 'error', info: `host ${hostOf(broken)}: ${broken.status?.debugInfo?.stateInfo ?? ''}` };
}

const hostOf = ({ metadata, status }: Agent): string => status?.inventory?.hostname ?? metadata.name;

/** As many masters as are needed, and no host that is not ready. */
function isSufficient({ install, agents }: InstallFacts): boolean {
  const masters = agents.filter(({ spec }) => spec.role === 'master').length;
  return (
    masters >= (install.spec?.provisionRequirements?.controlPlaneAgents ?? 0) &&
    agents.length > 0 &&
    agents.every((agent) => isKnown(stateOf(agent)))
  );
}

function started(facts: InstallFacts): Decision {
  if (!isSufficient(facts)) return { state: 'insufficient', info: 'There are not enough hosts that are ready' };
  const { install, agents, problem } = facts;
  const isHeld = install.spec?.holdInstallation === true || problem !== undefined;
  if (isHeld || !areRequirementsMet(hostCounts(install, agents))) return undefined;
  return { state: 'preparing-for-installation', info: 'The installation is prepared' };
}

function prepared(facts: InstallFacts): Decision {
  const { expectedMasters, expectedWorkers } = hostCounts(facts.install, facts.agents);
  const ready = facts.agents.filter((agent) => stateOf(agent) === 'preparing-successful');
  if (ready.length < expectedMasters + expectedWorkers) return undefined;
  return whenDue(facts, facts.delays.preparationMs, {
    state: 'installing',
    info: 'The installation is in progress',
  });
}

function installing({ install, agents }: InstallFacts): Decision {
  const state = installStateOf(install);
  const hosts = agents.filter(takesPart);
  const pending = 'installing-pending-user-action';
  const waiting = hosts.filter((agent) => stateOf(agent) === pending);
  if (waiting.length > 0 && state !== pending)
    return { state: pending, info: `${waiting.map(hostOf).join(', ')}: somebody has to do something` };
  if (waiting.length === 0 && state === pending)
    return { state: 'installing', info: 'The installation is in progress' };
  const masters = hosts.filter(({ spec }) => spec.role === 'master');
  return masters.length > 0 && masters.every((agent) => isInstalled(stateOf(agent)))
    ? { state: 'finalizing', info: 'The control plane is there' }
    : undefined;
}

function finalizing(facts: InstallFacts): Decision {
  const isDone = facts.agents.filter(takesPart).every((agent) => isInstalled(stateOf(agent)));
  if (!isDone) return undefined;
  return whenDue(facts, facts.delays.finalizingMs, { state: 'installed', info: 'The cluster is installed' });
}

function whenDue({ install, now }: InstallFacts, afterMs: number, move: Move): Decision {
  const since = saidSince(install.status?.conditions, 'Completed') ?? now;
  const leftMs = since.getTime() + afterMs - now.getTime();
  return leftMs > 0 ? { waitMs: leftMs } : move;
}

function hostCounts({ spec }: AgentClusterInstall, agents: readonly Agent[]): HostCounts {
  const { controlPlaneAgents = 0, workerAgents = 0, arbiterAgents = 0 } = spec?.provisionRequirements ?? {};
  const registered = agents.filter((agent) => isKnown(stateOf(agent)));
  const approved = registered.filter((agent) => agent.spec.approved === true);
  const masters = approved.filter((agent) => agent.spec.role === 'master').length;
  return {
    expectedMasters: controlPlaneAgents,
    expectedWorkers: workerAgents + arbiterAgents,
    registered: registered.length,
    approved: approved.length,
    unsynced: registered.filter((agent) => agentProblem(agent) !== undefined).length,
    masters,
    workers: approved.length - masters,
  };
}

function statusAfter(facts: InstallFacts, move: Move | undefined): InstallStatus {
  const { install, problem, agents, eventsUrl, now } = facts;
  const { status = {}, spec = {} } = install;
  const { state, info: stateInfo } = move ?? currentMove(install);
  const counts = hostCounts(install, agents);
  const circumstances = { state, stateInfo, problem, counts, isOnHold: spec.holdInstallation === true };
  const conditions = withConditions(status.conditions ?? [], installConditions(circumstances), now);
  if (state === '') return { ...status, conditions };
  return {
    ...status,
    conditions,
    debugInfo: { ...status.debugInfo, state, stateInfo, eventsURL: eventsUrl },
    platformType: platformOf(spec),
    progress: { totalPercentage: percentage(state, agents, status.progress?.totalPercentage ?? 0) },
  };
}

const currentMove = (install: AgentClusterInstall): Move => ({
  state: installStateOf(install),
  info: install.status?.debugInfo?.stateInfo ?? '',
});

/** As assisted-service takes it when nobody says: bare metal where both addresses are given. */
export function platformOf(spec: NonNullable<AgentClusterInstall['spec']>): string {
  const { platformType = '', apiVIPs = [], ingressVIPs = [] } = spec;
  if (platformType !== '') return platformType;
  return apiVIPs.length > 0 && ingressVIPs.length > 0 ? 'BareMetal' : 'None';
}

/** Hosts are nine tenths of it. It never goes back while an installation goes on. */
function percentage(state: string, agents: readonly Agent[], before: number): number {
  if (isCompleted(state)) return 100;
  if (!hasStarted(state)) return 0;
  const hosts = agents.filter(takesPart);
  const sum = hosts.reduce((all, { status }) => all + (status?.progress?.installationPercentage ?? 0), 0);
  return Math.max(before, Math.floor((0.9 * sum) / Math.max(1, hosts.length)));
}
