import type { KubeObject } from '../../api/object.ts';
import { bootstrapState } from './contract-state.ts';
import { generalState } from './general-state.ts';
import { isTrueAt, numberAt, textAt } from './object-fields.ts';
import { kubectl, type State, secretCommand } from './row.ts';
import { conditionIn, isTold, oneLine, saying, sinceTold, type ToldCondition } from './told-condition.ts';

/** What a config says while there is no bootstrap data: how bad it is, and what it waits for when it does not say. */
const DATA_REASONS: Readonly<Record<string, Pick<State, 'health' | 'word' | 'why'>>> = {
  WaitingForClusterInfrastructure: {
    health: 'waiting',
    word: 'no data yet',
    why: 'waits for the infrastructure of the Cluster to be provisioned',
  },
  WaitingForAssistedInstaller: {
    health: 'waiting',
    word: 'no data yet',
    why: 'waits for the installation to be registered with assisted-service',
  },
  WaitingForInstallComplete: {
    health: 'waiting',
    word: 'held',
    why: 'an installation is in progress; the machine is added when it is over',
  },
  WaitingForInfraEnvToBeReady: {
    health: 'waiting',
    word: 'no data yet',
    why: 'waits for its InfraEnv to be ready',
  },
  WaitingForLiveISOURL: {
    health: 'waiting',
    word: 'no data yet',
    why: 'waits for the address of the ISO of its InfraEnv',
  },
  WaitingForInfrastructureMachine: {
    health: 'waiting',
    word: 'no data yet',
    why: 'waits for its infrastructure machine',
  },
  InfraEnvFailed: { health: 'failed', word: 'failed', why: 'its InfraEnv cannot be made' },
  CreatingSecretFailed: { health: 'failed', word: 'failed', why: 'the bootstrap Secret cannot be made' },
};

/** OpenshiftAssistedConfig: what Cluster API reads, and what it says of its Agents. */
export function assistedConfigState(config: KubeObject, at: Date): State {
  const state = bootstrapState(config, at);
  if (state.word === 'deleting' || state.word === 'paused' || state.word === 'not looked at') return state;
  const agents = conditionIn(config, 'AgentsMatched');
  if (state.health === 'done') return agents?.status === 'False' ? agentsState(config, agents) : state;
  const data = conditionIn(config, 'DataSecretAvailable');
  return data === undefined || data.status === 'True' ? state : dataState(config, data, state);
}

function dataState(config: KubeObject, data: ToldCondition, state: State): State {
  const known = DATA_REASONS[data.reason];
  if (known === undefined) return { ...state, why: saying(data) };
  // The data was to be had, and could not be fetched: that is more than waiting.
  const isRefused = known.health === 'waiting' && data.message.startsWith('failed ');
  const health = isRefused ? 'attention' : known.health;
  const why = saying({ ...data, reason: known.why ?? '' });
  const isBad = health !== 'waiting';
  return {
    health,
    word: isRefused ? 'no data' : known.word,
    since: data.since,
    why: isBad || data.message !== '' ? why : known.why,
    ...(isBad && { next: kubectl(config, 'describe') }),
  };
}

function agentsState(config: KubeObject, agents: ToldCondition): State {
  const isHeld = agents.reason === 'AgentHeld';
  return {
    health: isHeld ? 'waiting' : 'attention',
    word: isHeld ? 'held' : 'secret ready',
    since: agents.since,
    why: saying(agents),
    ...(!isHeld && { next: kubectl(config, 'describe') }),
  };
}

export function infraEnvState(infraEnv: KubeObject, at: Date): State {
  const general = generalState(infraEnv, at);
  if (general !== undefined) return general;
  const image = conditionIn(infraEnv, 'ImageCreated');
  if (image?.status === 'True') return { health: 'done', word: 'image created', since: image.since };
  const since = sinceTold(infraEnv, 'ImageCreated');
  if (image === undefined) return { health: 'working', word: 'creating image', since };
  if (image.status === 'Unknown') return { health: 'waiting', word: 'no image yet', since, why: saying(image) };
  const secret = textAt(infraEnv, 'spec', 'pullSecretRef', 'name');
  const isAboutSecret = /pull.?secret/i.test(image.message) && secret !== '';
  return {
    health: 'failed',
    word: 'no image',
    since,
    why: saying(image),
    next: isAboutSecret ? secretCommand(infraEnv, secret) : kubectl(infraEnv, 'edit'),
  };
}

const INSTALLED: ReadonlySet<string> = new Set(['installed', 'adding-hosts']);
const STOPPED: ReadonlySet<string> = new Set(['error', 'cancelled']);

/** AgentClusterInstall. */
export function installState(install: KubeObject, at: Date): State {
  const general = generalState(install, at);
  if (general !== undefined) return general;
  const state = textAt(install, 'status', 'debugInfo', 'state');
  const since = sinceTold(install, 'Completed');
  if (isTold(install, 'Failed', 'True') || STOPPED.has(state)) return stoppedInstall(install, state);
  if (INSTALLED.has(state) || isTold(install, 'Completed', 'True'))
    return { health: 'done', word: state || 'installed', since };
  return unfinishedInstall(install, { state, since });
}

function stoppedInstall(install: KubeObject, state: string): State {
  const failed = conditionIn(install, 'Failed');
  const info = oneLine(textAt(install, 'status', 'debugInfo', 'stateInfo'));
  return {
    health: 'failed',
    word: state === 'cancelled' ? 'cancelled' : 'failed',
    since: sinceTold(install, 'Failed', 'Completed'),
    why: failed?.status === 'True' ? saying(failed) : info || 'assisted-service gives no cause',
    next: 'look at the Agents below and their hosts, then delete the Cluster and create it again',
  };
}

function unfinishedInstall(
  install: KubeObject,
  { state, since }: { readonly state: string; readonly since: string | undefined },
): State {
  const synced = conditionIn(install, 'SpecSynced');
  if (synced?.status === 'False')
    return {
      health: 'failed',
      word: 'spec refused',
      since: synced.since,
      why: saying(synced),
      next: `correct the control plane that makes it; the message is that of assisted-service`,
    };
  if (isTrueAt(install, 'spec', 'holdInstallation') && (state === 'ready' || state === ''))
    return {
      health: 'attention',
      word: 'on hold',
      since,
      why: 'spec.holdInstallation is true',
      next: kubectl(install, 'patch', `--type merge -p '{"spec":{"holdInstallation":false}}'`),
    };
  const requirements = conditionIn(install, 'RequirementsMet');
  if (state === '')
    return { health: 'waiting', word: 'not registered', since, why: 'assisted-service has not looked at it' };
  if (state === 'insufficient' || state === 'pending-for-input' || state === 'ready')
    return { health: 'waiting', word: state, since, ...waitsForHosts(install, requirements) };
  const percent = numberAt(install, 'status', 'progress', 'totalPercentage');
  return { health: 'working', word: state, since, why: percent === undefined ? undefined : `${percent} %` };
}

/** Why an installation that could begin does not. */
function waitsForHosts(
  install: KubeObject,
  requirements: ToldCondition | undefined,
): Pick<State, 'why'> & Partial<State> {
  const validated = conditionIn(install, 'Validated');
  const told =
    requirements?.status === 'False' && requirements.reason !== 'ClusterNotReady' ? requirements : validated;
  if (told === undefined || told.status === 'True') return {};
  if (told.reason !== 'AdditionalAgents') return { why: saying(told) };
  return {
    health: 'attention',
    why: saying(told),
    next: 'switch off the hosts that are too many, and delete their Agents',
  };
}

/** ClusterDeployment. */
export function clusterDeploymentState(deployment: KubeObject, at: Date): State {
  const deleting = generalState(deployment, at);
  // It gets a status only from Hive: none is nothing to worry about.
  if (deleting !== undefined && deleting.word !== 'not looked at') return deleting;
  const since = deployment.metadata.creationTimestamp ?? undefined;
  return isTrueAt(deployment, 'spec', 'installed')
    ? { health: 'done', word: 'installed', since }
    : { health: 'working', word: 'not installed', since };
}

/** ClusterImageSet. */
export const imageSetState = (set: KubeObject): State => ({
  health: 'done',
  word: 'there',
  since: set.metadata.creationTimestamp ?? undefined,
  why: textAt(set, 'spec', 'releaseImage'),
});
