import type { KubeObject } from '../../api/object.ts';
import { deletingState, generalState, pausedState } from './general-state.ts';
import { isTrueAt } from './object-fields.ts';
import { causesIn, hasProblem, labelOf, type Row, rowsIn, type State } from './row.ts';
import { conditionIn, isTold, saying, sinceTold } from './told-condition.ts';

/** The Cluster itself, in view of everything below it. */
export function clusterState(cluster: KubeObject, below: readonly Row[], at: Date): State {
  const deleting = deletingState(cluster, at, remaining(below));
  const general = deleting ?? pausedState(cluster) ?? generalState(cluster, at);
  if (general !== undefined) return general;
  const since = sinceTold(cluster, 'Available', 'Ready');
  const isAvailable = isClusterAvailable(cluster);
  const word = wordOf(cluster, isAvailable);
  if (below.some(hasProblem)) return { health: 'attention', word, since, why: whyOf(cluster, below) };
  if (isAvailable) return { health: 'done', word, since };
  const isMoving = below.flatMap(rowsIn).some(({ health }) => health === 'working' || health === 'waiting');
  return { health: isMoving ? 'working' : 'attention', word, since, why: whyOf(cluster, below) };
}

/** The newer contract says it with one condition, the older one with another. */
function isClusterAvailable(cluster: KubeObject): boolean {
  const available = conditionIn(cluster, 'Available');
  return available === undefined ? isTold(cluster, 'Ready', 'True') : available.status === 'True';
}

const whyOf = (cluster: KubeObject, below: readonly Row[]): string | undefined => summary(below) ?? told(cluster);

function wordOf(cluster: KubeObject, isAvailable: boolean): string {
  if (isAvailable) return 'available';
  const isStarted =
    isTrueAt(cluster, 'status', 'initialization', 'controlPlaneInitialized') ||
    isTold(cluster, 'ControlPlaneInitialized', 'True');
  if (isStarted) return 'not available';
  const isProvisioned =
    isTrueAt(cluster, 'status', 'initialization', 'infrastructureProvisioned') ||
    isTrueAt(cluster, 'status', 'infrastructureReady');
  return isProvisioned ? 'installing' : 'provisioning';
}

const isMachine = ({ kind }: Row): boolean => kind === 'Machine';

/** In a few words: how many Machines are not there, or what else is in the way. */
function summary(below: readonly Row[]): string | undefined {
  const [workers, masters] = [unready(below, false), unready(below, true)];
  const parts = [
    ...(masters > 0 ? [`${masters} control-plane Machine${masters === 1 ? '' : 's'} not ready`] : []),
    ...(workers > 0 ? [`${workers} worker${workers === 1 ? '' : 's'} not ready`] : []),
  ];
  if (parts.length > 0) return parts.join(', ');
  const [cause] = below.flatMap(causesIn);
  return cause === undefined ? undefined : `${labelOf(cause)}: ${cause.word}`;
}

/** A control plane has its Machines right below it; those of others are workers. */
function unready(below: readonly Row[], isControlPlane: boolean): number {
  const parents = below.filter(({ kind }) => kind.endsWith('ControlPlane') === isControlPlane);
  return parents.flatMap(rowsIn).filter((row) => isMachine(row) && row.health !== 'done').length;
}

function told(cluster: KubeObject): string | undefined {
  const types = ['InfrastructureReady', 'ControlPlaneInitialized', 'ControlPlaneAvailable', 'Available', 'Ready'];
  const bad = types
    .map((type) => conditionIn(cluster, type))
    .find((one) => one !== undefined && one.status !== 'True');
  return bad === undefined ? undefined : saying(bad);
}

/** What a deleted Cluster waits for, in the order in which Cluster API takes it apart. */
function remaining(below: readonly Row[]): string {
  const rows = below.flatMap(rowsIn).filter(({ health, word }) => health !== 'skipped' && word !== 'missing');
  const machines = rows.filter(isMachine);
  if (machines.length > 0) {
    const names = machines.slice(0, MOST_NAMES).map(({ name }) => name);
    const more = machines.length > MOST_NAMES ? ' …' : '';
    return `waits for ${machines.length} Machine${machines.length === 1 ? '' : 's'} to go: ${names.join(', ')}${more}`;
  }
  const [first] = below.filter(
    ({ health, word, kind }) => health !== 'skipped' && word !== 'missing' && kind !== 'Nodes',
  );
  return first === undefined ? '' : `waits for ${labelOf(first)} to go`;
}

const MOST_NAMES = 5;
