import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import type { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { ProgressRow } from '../../api/journey.ts';
import type { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import { findCondition } from '../../object/conditions.ts';
import { CONTROL_PLANE_HOSTS, JOURNEY_CLUSTER, WORKER_HOSTS, WORKERS } from './journey-cluster.ts';

/** What there is of the hosts of a cluster. */
export interface HostFacts {
  readonly hosts: readonly BareMetalHost[];
  readonly agents: readonly Agent[];
  readonly machines: readonly Machine[];
  readonly configs: readonly OpenshiftAssistedConfig[];
}

const DONE = 'Done';
const CONTROL_PLANE_WORD = `OpenshiftAssistedControlPlane ${JOURNEY_CLUSTER.name}`;
const WORKERS_WORD = `MachineDeployment ${WORKERS}`;

/**
 * A line for each host, in the words of assisted-service; before there is an Agent, in those of Metal3, or why its machine
 * waits (experience X22). Each is below the line of what it is a machine of. Pure.
 */
export const hostRows = (facts: HostFacts): readonly ProgressRow[] => [
  ...groupRows({ group: 'control plane', word: CONTROL_PLANE_WORD, hosts: CONTROL_PLANE_HOSTS }, facts),
  ...groupRows({ group: 'workers', word: WORKERS_WORD, hosts: WORKER_HOSTS }, facts),
];

interface HostGroup {
  readonly group: string;
  readonly word: string;
  readonly hosts: readonly string[];
}

function groupRows({ group, word, hosts }: HostGroup, facts: HostFacts): readonly ProgressRow[] {
  const rows = hosts.map((host) => rowOf([group, host], host, facts));
  const ready = rows.filter(({ health }) => health === 'done').length;
  return [{ path: [group], health: groupHealth(rows), word, note: `${ready}/${rows.length} ready` }, ...rows];
}

function groupHealth(rows: readonly ProgressRow[]): ProgressRow['health'] {
  const healths = rows.map(({ health }) => health);
  if (healths.includes('failed')) return 'failed';
  const [first = 'waiting'] = healths;
  return healths.every((health) => health === first) ? first : 'working';
}

export const installedHosts = ({ agents }: Pick<HostFacts, 'agents'>): number => agents.filter(isInstalled).length;

const isInstalled = ({ status }: Agent): boolean => status?.progress?.currentStage === DONE;

function rowOf(path: readonly string[], name: string, facts: HostFacts): ProgressRow {
  const host = facts.hosts.find(({ metadata }) => metadata.name === name);
  const agent = facts.agents.find(({ status }) => status?.inventory?.hostname === name);
  if (agent !== undefined) return agentRow(path, agent);
  const state = host?.status?.provisioning?.state ?? '';
  const { errorMessage = '' } = host?.status ?? {};
  if (errorMessage !== '') return { path, health: 'failed', word: state, note: errorMessage };
  const why = waitOf(host, facts);
  return { path, health: 'waiting', word: state || 'new', ...(why !== undefined && { note: why }) };
}

function agentRow(path: readonly string[], agent: Agent): ProgressRow {
  const { progress = {}, debugInfo = {} } = agent.status ?? {};
  const { currentStage = '', installationPercentage: percent, stageStartTime: since } = progress;
  const note = noteOf(agent);
  return {
    path,
    health: healthOf(agent),
    word: currentStage || (debugInfo.state ?? 'discovering'),
    ...(percent !== undefined && currentStage !== '' && { percent }),
    ...(note !== undefined && { note }),
    ...(since !== undefined && { since }),
  };
}

const hasFailed = ({ status }: Agent): boolean => ['error', 'cancelled'].includes(status?.debugInfo?.state ?? '');

function healthOf(agent: Agent): ProgressRow['health'] {
  if (hasFailed(agent)) return 'failed';
  if (isInstalled(agent)) return 'done';
  return (agent.status?.progress?.currentStage ?? '') === '' ? 'waiting' : 'working';
}

/** What went wrong, or that this one bootstraps the others. */
function noteOf(agent: Agent): string | undefined {
  if (hasFailed(agent)) return agent.status?.debugInfo?.stateInfo;
  return agent.status?.bootstrap === true ? 'bootstrap' : undefined;
}

/** Why the machine that has the host does not go on. */
function waitOf(host: BareMetalHost | undefined, { machines, configs }: HostFacts): string | undefined {
  const consumer = host?.spec?.consumerRef?.name;
  const machine = machines.find(({ spec }) => spec.infrastructureRef.name === consumer);
  const config = configs.find(({ metadata }) => metadata.name === machine?.spec.bootstrap.configRef?.name);
  const available = findCondition(config, 'DataSecretAvailable');
  return available === undefined || available.status === 'True' ? undefined : available.reason;
}
