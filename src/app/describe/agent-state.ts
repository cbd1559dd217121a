import type { KubeObject } from '../../api/object.ts';
import { ageMs, ageText } from './age.ts';
import { generalState } from './general-state.ts';
import { isTrueAt, numberAt, textAt } from './object-fields.ts';
import { kubectl, type Row, type State } from './row.ts';
import { conditionIn, oneLine, saying, sinceTold } from './told-condition.ts';

const DONE: ReadonlySet<string> = new Set(['installed', 'added-to-existing-cluster']);
const STOPPED: ReadonlySet<string> = new Set(['error', 'cancelled']);
/** States in which nothing goes on until somebody does something at the host or its network. */
const STUCK: ReadonlySet<string> = new Set([
  'insufficient',
  'insufficient-unbound',
  'disconnected',
  'disconnected-unbound',
  'disabled',
  'disabled-unbound',
  'installing-pending-user-action',
  'reclaiming-rebooting',
]);

/** What of its surroundings decides what an Agent waits for. */
export interface AgentSurroundings {
  /** Empty: it belongs to none. */
  readonly machine: string;
  /** An installation runs that takes no more hosts. */
  readonly isInstalling: boolean;
}

export function agentState(agent: KubeObject, at: Date, around: AgentSurroundings): State {
  const general = generalState(agent, at);
  if (general !== undefined) return general;
  const state = textAt(agent, 'status', 'debugInfo', 'state');
  const since = sinceTold(agent, 'Installed');
  if (DONE.has(state)) return { health: 'done', word: 'installed', since };
  const trouble = troubleOf(agent, state);
  if (trouble !== undefined) return { since, ...trouble };
  if (state.startsWith('installing') || state.startsWith('preparing')) return installing(agent, state, since);
  if (!isTrueAt(agent, 'spec', 'approved')) return { since, ...unapproved(agent, around) };
  if (state.startsWith('known'))
    return { health: 'waiting', word: 'known', since, why: 'waits for the installation to begin' };
  return { health: 'working', word: state || 'registering', since };
}

function troubleOf(agent: KubeObject, state: string): State | undefined {
  const info = oneLine(textAt(agent, 'status', 'debugInfo', 'stateInfo'));
  const inspect = kubectl(agent, 'describe');
  if (STOPPED.has(state))
    return {
      health: 'failed',
      word: state === 'error' ? 'failed' : state,
      why: info || 'assisted-service gives no cause',
      next: inspect,
    };
  const synced = conditionIn(agent, 'SpecSynced');
  if (synced?.status === 'False')
    return { health: 'attention', word: 'spec refused', since: synced.since, why: saying(synced), next: inspect };
  if (!STUCK.has(state)) return undefined;
  const validated = conditionIn(agent, 'Validated');
  const why = validated?.status === 'False' ? saying(validated) : info;
  return {
    health: 'attention',
    word: state.replace('-unbound', '').replaceAll('-', ' '),
    why: why || 'assisted-service gives no cause',
    next: state.startsWith('disconnected')
      ? `see at the console of the host of Agent ${agent.metadata.name} whether it is on and reaches assisted-service`
      : inspect,
  };
}

function installing(agent: KubeObject, state: string, since: string | undefined): State {
  const stage = textAt(agent, 'status', 'progress', 'currentStage');
  const percent = numberAt(agent, 'status', 'progress', 'installationPercentage');
  const began = textAt(agent, 'status', 'progress', 'stageStartTime');
  const why = [stage, percent === undefined ? '' : `${percent} %`].filter((text) => text !== '').join(', ');
  return {
    health: 'working',
    word: state.startsWith('preparing') ? 'preparing' : 'installing',
    since: began || since,
    why: why === '' ? undefined : why,
  };
}

function unapproved(agent: KubeObject, { machine, isInstalling }: AgentSurroundings): State {
  const word = 'not approved';
  if (machine === '')
    return {
      health: 'attention',
      word,
      why: 'it belongs to no Machine, so it is not installed',
      next: `switch the host of Agent ${agent.metadata.name} off and delete the Agent, or make a Machine for it`,
    };
  if (isInstalling)
    return {
      health: 'waiting',
      word: 'held',
      why: 'an installation is in progress; the host is added when it is over',
    };
  return {
    health: 'attention',
    word,
    why: 'nobody has approved it; agent-bootstrap does when its Machine is known',
    next: `see whether agent-bootstrap runs, or approve it: ${kubectl(agent, 'patch', `--type merge -p '{"spec":{"approved":true}}'`)}`,
  };
}

/** Registration after the boot takes about so long. */
const BOOT_TEXT = 'expected ≤ 90 s after boot';
const LONG_BOOT_MS = 10 * 60_000;

/** The place of an Agent that has not registered: when to expect it, or why it does not come. */
export function missingAgentState(config: Row | undefined, host: Row | undefined, at: Date): State {
  const word = 'none yet';
  if (config !== undefined && config.health !== 'done')
    return { health: 'waiting', word, why: 'the host boots when there is bootstrap data' };
  const bootedMs = host?.health === 'done' ? ageMs(host.since, at) : undefined;
  if (bootedMs === undefined || bootedMs < LONG_BOOT_MS) return { health: 'waiting', word, why: BOOT_TEXT };
  return {
    health: 'attention',
    word,
    why: `its host was provisioned ${ageText(bootedMs)} ago and has not registered with assisted-service`,
    next: `see at the console of ${host?.name ?? 'the host'} whether it boots and reaches assisted-service`,
  };
}
