import type { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import { type ConditionNews, news } from './assisted-conditions.ts';

/** What the conditions of an Agent are made of. */
export interface AgentCircumstances {
  readonly agent: Agent;
  /** What it is told to be, which may not be written yet. */
  readonly state: string;
  readonly stateInfo: string;
}

const INSTALLING = new Set([
  'preparing-for-installation',
  'preparing-successful',
  'installing',
  'installing-in-progress',
  'installing-pending-user-action',
]);
const INSTALLED = new Set(['installed', 'added-to-existing-cluster']);
const STOPPED = new Set(['error', 'cancelled']);
const KNOWN = new Set(['known', 'known-unbound']);

export const isInstalling = (state: string): boolean => INSTALLING.has(state);
export const isInstalled = (state: string): boolean => INSTALLED.has(state);
export const isStopped = (state: string): boolean => STOPPED.has(state);
export const isKnown = (state: string): boolean => KNOWN.has(state);

/** Pure: all of them, in the order in which assisted-service has them (spec section 7). */
export const agentConditions = (facts: AgentCircumstances): readonly ConditionNews[] => [
  specSynced(facts),
  news('Connected', 'True', 'AgentIsConnected', 'The host talks to the service'),
  requirementsMet(facts),
  validated(facts),
  installed(facts),
  facts.agent.spec.clusterDeploymentName !== undefined
    ? news('Bound', 'True', 'Bound', 'The host belongs to a cluster')
    : news('Bound', 'False', 'Unbound', 'The host belongs to no cluster'),
];

function specSynced({ agent }: AgentCircumstances): ConditionNews {
  const problem = agentProblem(agent);
  return problem === undefined
    ? news('SpecSynced', 'True', 'SyncOK', 'The spec was applied')
    : news('SpecSynced', 'False', 'InputError', `The spec was not applied: ${problem}`);
}

function requirementsMet({ state, agent }: AgentCircumstances): ConditionNews {
  const type = 'RequirementsMet';
  if (isInstalling(state)) return news(type, 'True', 'AgentAlreadyInstalling', 'The installation has begun');
  if (isInstalled(state) || isStopped(state))
    return news(type, 'True', 'AgentInstallationStopped', 'The installation is over');
  if (!isKnown(state)) return news(type, 'False', 'AgentNotReady', 'The host is not ready to be installed');
  return agent.spec.approved === true
    ? news(type, 'True', 'AgentIsReady', 'The host is ready to be installed')
    : news(type, 'False', 'AgentIsNotApproved', 'Nobody has approved the host');
}

const validated = ({ state }: AgentCircumstances): ConditionNews =>
  state.startsWith('discovering')
    ? news('Validated', 'Unknown', 'ValidationsUnknown', 'The hardware is not known yet')
    : news('Validated', 'True', 'ValidationsPassing', 'The host passes all validations');

/** Its message moves with the state, and so does its time: that is since when a state lasts. */
function installed({ state, stateInfo }: AgentCircumstances): ConditionNews {
  const type = 'Installed';
  if (isInstalled(state))
    return news(type, 'True', 'InstallationCompleted', `The host is installed: ${stateInfo}`);
  if (isStopped(state)) return news(type, 'False', 'InstallationFailed', `The installation failed: ${stateInfo}`);
  if (isInstalling(state)) return news(type, 'False', 'InstallationInProgress', `${state}: ${stateInfo}`);
  return news(type, 'False', 'InstallationNotStarted', `${state}: ${stateInfo}`);
}

/** What is wrong with what people or programs want of the host; undefined when nothing is. */
export function agentProblem({ spec }: Agent): string | undefined {
  const { ignitionConfigOverrides = '', installerArgs = '' } = spec;
  if (ignitionConfigOverrides !== '' && !isIgnition(ignitionConfigOverrides))
    return 'spec.ignitionConfigOverrides is no ignition config; write JSON with ignition.version';
  if (installerArgs !== '' && !Array.isArray(parsed(installerArgs)))
    return 'spec.installerArgs is no list; write a JSON array of texts';
  return undefined;
}

function isIgnition(text: string): boolean {
  const config = parsed(text);
  const { version } = (config as { ignition?: { version?: unknown } } | null | undefined)?.ignition ?? {};
  return typeof version === 'string' && version.startsWith('3.');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
