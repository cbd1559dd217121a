import type { KubeObject } from '../../api/object.ts';
import { behind } from './contract-state.ts';
import { deletingState, deletionText, generalState } from './general-state.ts';
import { numberAt, textAt } from './object-fields.ts';
import { hasProblem, isProblem, kubectl, labelOf, type Row, rowsIn, type State } from './row.ts';
import { conditionIn, saying, sinceTold } from './told-condition.ts';

/** The rows that a Machine is made of. Which there are depends on the providers. */
export interface MachineRows {
  readonly config: Row | undefined;
  readonly infraEnv: Row | undefined;
  readonly agent: Row | undefined;
  /** With the host below it. */
  readonly infrastructure: Row | undefined;
  readonly node: Row | undefined;
}

/** What a Machine is and, while it is not running, which of its parts it waits for. */
export function machineState(machine: KubeObject, rows: MachineRows, at: Date): State {
  const deleting = deletingState(machine, at, leavingText(machine, rows));
  const general = deleting ?? generalState(machine, at);
  if (general !== undefined) return general;
  const phase = textAt(machine, 'status', 'phase');
  const word = phase === '' ? 'new' : phase.toLowerCase();
  const since = sinceOf(machine, phase);
  const problem = partsIn(rows).flatMap(rowsIn).find(isProblem);
  if (problem !== undefined)
    return { health: 'attention', word, since, why: `${partText(machine, problem)}: ${problem.word}` };
  const unhealthy = remediationOf(machine);
  if (unhealthy !== undefined) return { ...unhealthy, word, since };
  if (phase === 'Failed') return { health: 'failed', word, since, next: kubectl(machine, 'describe') };
  if (phase === 'Running') return runningState(rows, since);
  return { since, ...waitingState(rows, word) };
}

function runningState({ node }: MachineRows, since: string | undefined): State {
  return node === undefined || node.health === 'done' || node.health === 'skipped'
    ? { health: 'done', word: 'running', since }
    : { health: 'working', word: 'running', since, why: `Node is ${node.word}: ${node.why ?? ''}` };
}

/** Parts mostly have the name of their Machine, which need not be said again. */
const partText = ({ metadata }: KubeObject, part: Row): string =>
  part.name === metadata.name ? part.kind : labelOf(part);

const partsIn = (rows: MachineRows): readonly Row[] =>
  [rows.config, rows.infraEnv, rows.agent, rows.infrastructure, rows.node].filter((row) => row !== undefined);

/** Since when a Machine is in its phase: when it became available, or when the last step was done. */
function sinceOf(machine: KubeObject, phase: string): string | undefined {
  const types = phase === 'Running' ? ['Available', 'NodeReady', 'Ready', 'NodeHealthy'] : ['Ready'];
  return textAt(machine, 'status', 'lastUpdated') || sinceTold(machine, ...types);
}

/** A health check has found it ill. */
function remediationOf(machine: KubeObject): State | undefined {
  const told = ['HealthCheckSucceeded', 'OwnerRemediated']
    .map((type) => conditionIn(machine, type))
    .find((condition) => condition?.status === 'False');
  if (told === undefined) return undefined;
  return { health: 'attention', word: '', why: `a health check found it ill: ${saying(told)}` };
}

/** What a Machine that goes waits for, where Cluster API does not say: its infrastructure goes first, with the host. */
function leavingText(machine: KubeObject, { infrastructure, config }: MachineRows): string {
  if (deletionText(machine) !== '') return '';
  const leaving = [infrastructure, config]
    .filter((row) => row !== undefined)
    .flatMap(rowsIn)
    .toReversed()
    .find(({ health }) => health === 'working');
  return leaving === undefined ? '' : `waits for ${labelOf(leaving)}: ${leaving.word}`;
}

const DEPLOYED: ReadonlySet<string> = new Set(['provisioned', 'externally provisioned']);

/** The first part that is not done, in the order in which a Machine comes to be. */
function waitingState({ config, agent, infrastructure, node }: MachineRows, word: string): State {
  const held = [config, agent].find((row) => row?.word === 'held');
  if (held !== undefined) return { health: 'waiting', word: 'held', why: held.why };
  if (isUnfinished(config)) return waits(word, 'its bootstrap data', config);
  const [host] = infrastructure?.children ?? [];
  if (isUnfinished(host) && !DEPLOYED.has(host.word)) return waits(word, 'its host', host);
  if (isUnfinished(agent)) return agentStep(agent, word);
  if (isUnfinished(infrastructure)) return waits(word, infrastructure.kind, infrastructure);
  return isUnfinished(node)
    ? waits(word, 'its Node', node)
    : { health: 'working', word, why: 'waiting for its Node' };
}

const agentStep = (agent: Row, word: string): State =>
  agent.name === ''
    ? { health: 'working', word, why: 'waiting for its Agent' }
    : { health: 'working', word: agent.word, why: agent.why ?? `Agent: ${agent.word}` };

const isUnfinished = (row: Row | undefined): row is Row =>
  row !== undefined && (row.health === 'working' || row.health === 'waiting');

const waits = (word: string, what: string, { why, word: state }: Row): State => ({
  health: 'working',
  word,
  why: `waiting for ${what}: ${why ?? state}`,
});

/** MachineDeployments and MachineSets. */
export function replicasState(object: KubeObject, at: Date, machines: readonly Row[]): State {
  const count = machines.length;
  const rest = count === 0 ? '' : `waits for ${count} Machine${count === 1 ? '' : 's'} to go`;
  const general = deletingState(object, at, rest) ?? generalState(object, at);
  if (general !== undefined) return general;
  const wanted = numberAt(object, 'spec', 'replicas') ?? 1;
  const available = numberAt(object, 'status', 'availableReplicas') ?? 0;
  const since = sinceTold(object, 'Available');
  const word = `${available}/${wanted} available`;
  if (machines.some(hasProblem)) return { health: 'attention', word, since };
  const failed = creationFailure(object);
  if (failed !== undefined)
    return { health: 'attention', word, since, why: saying(failed), next: kubectl(object, 'describe') };
  const surplus = count - wanted;
  const why = surplus > 0 ? `${surplus} more than wanted` : behind(object, wanted);
  return { health: available >= wanted && surplus <= 0 ? 'done' : 'working', word, since, why };
}

/** Machines that cannot be made, such as from a template that is not there. */
const creationFailure = (object: KubeObject) =>
  ['MachinesCreated', 'Available', 'ScalingUp']
    .map((type) => conditionIn(object, type))
    .find((told) => told !== undefined && /DoesNotExist|Failed|NotFound/.test(told.reason));
