import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { type ConditionFields, findCondition } from '../../object/conditions.ts';
import {
  isMet,
  isUnmet,
  MACHINES_CREATED,
  MACHINES_READY,
  REMEDIATING,
  ROLLING_OUT,
  SCALING_DOWN,
  SCALING_UP,
} from '../control-plane/conditions.ts';
import { isDeleting, isMachineAvailable, isMachineReady } from './owned-machines.ts';
import { namesOf, type ScaleStep } from './scale-plan.ts';

export interface ReplicaFacts {
  readonly desired: number;
  /** As they were before this reconcile did anything (C13). */
  readonly machines: readonly Machine[];
  readonly isUpToDate: (machine: Machine) => boolean;
  readonly step: ScaleStep;
}

export const replicaCounts = ({ machines, isUpToDate }: Pick<ReplicaFacts, 'machines' | 'isUpToDate'>) => ({
  replicas: machines.length,
  readyReplicas: machines.filter(isMachineReady).length,
  availableReplicas: machines.filter(isMachineAvailable).length,
  upToDateReplicas: machines.filter(isUpToDate).length,
});

/** What the Machines say about their control plane (C13, section 5). Pure. */
export function replicaConditions(facts: ReplicaFacts): readonly ConditionFields[] {
  return [
    ...machinesReady(facts),
    machinesCreated(facts),
    rollingOut(facts),
    remediating(facts),
    scalingUp(facts),
    scalingDown(facts),
  ];
}

function machinesReady({ desired, machines }: ReplicaFacts): readonly ConditionFields[] {
  const ready = machines.filter(isMachineReady).length;
  if (desired === 0) return [];
  if (ready === desired) return [isMet(MACHINES_READY)];
  return [isUnmet(MACHINES_READY, 'MachinesNotReady', `${ready} of ${desired} machines are ready`)];
}

function machinesCreated({ desired, machines }: ReplicaFacts): ConditionFields {
  const ready = machines.filter(isMachineReady).length;
  if (ready === desired) return isMet(MACHINES_CREATED);
  const message = `${machines.length} of ${desired} machines exist, ${ready} of them are ready`;
  return isUnmet(MACHINES_CREATED, 'WaitingForMachines', message);
}

/** Machines are upgraded where they are and never replaced, so nothing ever rolls out (C17). */
function rollingOut({ machines, isUpToDate }: ReplicaFacts): ConditionFields {
  const outdated = machines.filter((machine) => !isUpToDate(machine));
  const advice = 'Machines are not replaced by themselves: delete one to have it made anew';
  const message = outdated.length === 0 ? '' : `not up-to-date: ${namesOf(outdated)}; ${advice}`;
  return isUnmet(ROLLING_OUT, 'NotRollingOut', message);
}

function remediating({ machines }: ReplicaFacts): ConditionFields {
  const waiting = machines.filter((machine) => findCondition(machine, 'OwnerRemediated')?.status === 'False');
  const advice = 'this control plane does not remediate: repair the host, or delete the Machine';
  const message = waiting.length === 0 ? '' : `to be remediated: ${namesOf(waiting)}; ${advice}`;
  return isUnmet(REMEDIATING, 'NotRemediating', message);
}

function scalingUp({ desired, machines }: ReplicaFacts): ConditionFields {
  const staying = machines.filter((machine) => !isDeleting(machine)).length;
  return staying < desired
    ? isMet(SCALING_UP, `Scaling up from ${staying} to ${desired} replicas`)
    : isUnmet(SCALING_UP, 'NotScalingUp', '');
}

function scalingDown({ desired, machines, step }: ReplicaFacts): ConditionFields {
  if (machines.length <= desired) return isUnmet(SCALING_DOWN, 'NotScalingDown', '');
  const message = `Scaling down from ${machines.length} to ${desired} replicas`;
  return isMet(SCALING_DOWN, step.type === 'wait' ? `${message}; ${step.why}` : message);
}

export const desiredReplicas = ({ spec: { replicas = 0 } }: OpenshiftAssistedControlPlane): number => replicas;
