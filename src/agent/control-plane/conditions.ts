import type { Condition } from '../../api/object.ts';
import { type ConditionFields, findCondition } from '../../object/conditions.ts';

/** The conditions of a control plane, by who writes them: nobody writes those of another. */
export const AVAILABLE = 'Available';
const READY = 'Ready';
export const ROLLING_OUT = 'RollingOut';
export const REMEDIATING = 'Remediating';
export const SCALING_DOWN = 'ScalingDown';
export const SCALING_UP = 'ScalingUp';
export const MACHINES_READY = 'MachinesReady';
export const MACHINES_CREATED = 'MachinesCreated';
export const KUBECONFIG_AVAILABLE = 'KubeconfigAvailable';
export const KUBERNETES_VERSION_AVAILABLE = 'KubernetesVersionAvailable';
export const UPGRADE_AVAILABLE = 'UpgradeAvailable';
export const UPGRADE_COMPLETED = 'UpgradeCompleted';
export const CLUSTER_INSTALL_CONFIGURED = 'ClusterInstallConfigured';
export const PAUSED = 'Paused';
export const DELETING = 'Deleting';

export const OF_CONTROL_PLANE_CONTROLLER: readonly string[] = [
  READY,
  ROLLING_OUT,
  REMEDIATING,
  SCALING_DOWN,
  SCALING_UP,
  MACHINES_READY,
  MACHINES_CREATED,
  KUBERNETES_VERSION_AVAILABLE,
  UPGRADE_AVAILABLE,
  UPGRADE_COMPLETED,
  PAUSED,
  DELETING,
];
export const OF_CLUSTER_DEPLOYMENT_CONTROLLER: readonly string[] = [CLUSTER_INSTALL_CONFIGURED];
export const OF_CLUSTER_INSTALL_CONTROLLER: readonly string[] = [KUBECONFIG_AVAILABLE, AVAILABLE];

/** True is something that goes on, and False the calm: nobody is told of the calm when it is there from the start. */
const ABOUT_OPERATIONS: ReadonlySet<string> = new Set([
  ROLLING_OUT,
  REMEDIATING,
  SCALING_DOWN,
  SCALING_UP,
  PAUSED,
  DELETING,
]);

export const isAboutOperation = (type: string): boolean => ABOUT_OPERATIONS.has(type);

/** A condition of ours that is True has its own name as its reason. */
export const isMet = (type: string, message = ''): ConditionFields => ({
  type,
  status: 'True',
  reason: type,
  message,
});

export const isUnmet = (type: string, reason: string, message: string): ConditionFields => ({
  type,
  status: 'False',
  reason,
  message,
});

const FIRST = [AVAILABLE, READY, ROLLING_OUT, REMEDIATING, SCALING_DOWN, SCALING_UP, MACHINES_READY];
const LAST = [PAUSED, DELETING];

/** The order in which core shows conditions of a control plane; those that it does not know by name. */
export const inOrder = (conditions: readonly Condition[]): readonly Condition[] =>
  conditions.toSorted((a, b) => rank(a.type) - rank(b.type) || (a.type < b.type ? -1 : Number(a.type > b.type)));

function rank(type: string): number {
  if (FIRST.includes(type)) return FIRST.indexOf(type) - FIRST.length;
  return LAST.indexOf(type) + 1;
}

const SUMMED_UP = [MACHINES_READY, KUBECONFIG_AVAILABLE, AVAILABLE, MACHINES_CREATED];

/** `Ready` as Cluster API sums up (C1): what is missing is unknown, and bad news comes before no news. */
export function readySummary(conditions: readonly Condition[]): ConditionFields {
  const all = SUMMED_UP.map((type) => findCondition(conditions, type) ?? notReported(type));
  const isBad = all.some(({ status }) => status === 'False');
  const isUnknown = all.some(({ status }) => status === 'Unknown');
  if (!isBad && !isUnknown) {
    const notes = all.filter(({ message }) => message !== '').map(line);
    return { type: READY, status: 'True', reason: 'InfoReported', message: notes.join('\n') };
  }
  return {
    type: READY,
    status: isBad ? 'False' : 'Unknown',
    reason: isBad ? 'IssuesReported' : 'UnknownReported',
    message: all
      .filter(({ status }) => status !== 'True')
      .map(line)
      .join('\n'),
  };
}

const notReported = (type: string): ConditionFields => ({
  type,
  status: 'Unknown',
  reason: 'NotYetReported',
  message: 'Condition not yet reported',
});

function line({ type, reason, message }: ConditionFields): string {
  const text = message === '' ? reason : message;
  return text.includes('\n') ? `* ${type}:\n  ${text.replaceAll('\n', '\n  ')}` : `* ${type}: ${text}`;
}
