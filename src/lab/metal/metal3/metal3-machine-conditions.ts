import type { Metal3Machine } from '../../../api/metal3/infrastructure-v1beta2.ts';
import {
  condition,
  paused,
  summary,
  type Told,
  type ToldStatus,
  toldStatus,
  v1beta1,
} from '../core/told-conditions.ts';

/** How far a machine has come. */
export type MachineStep =
  | { readonly step: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly step: 'provisioning'; readonly host: string; readonly message: string }
  | { readonly step: 'done'; readonly host: string }
  | { readonly step: 'deleting'; readonly message: string };

/** What Metal3 says of a Metal3Machine, in both spellings. Pure. */
export const machineStatus = (machine: Metal3Machine, step: MachineStep, now: Date): ToldStatus =>
  toldStatus(machine, toldOf(step), now);

function toldOf(step: MachineStep): Told {
  const isAssociated = step.step === 'provisioning' || step.step === 'done';
  const isDone = step.step === 'done';
  const message = step.step === 'done' ? '' : step.message;
  const reason = { waiting: '', provisioning: 'WaitingForNode', deleting: 'Deleting', done: '' }[step.step];
  const associated = isAssociated
    ? condition('AssociateBareMetalHost', { status: 'True', reason: 'AssociateBareMetalHostSuccess' })
    : condition('AssociateBareMetalHost', {
        status: 'False',
        reason: step.step === 'waiting' ? step.reason : 'Deleting',
        message,
      });
  const node = isDone
    ? condition('KubernetesNodeReady', { status: 'True', reason: 'KubernetesNodeReady' })
    : condition('KubernetesNodeReady', { status: 'False', reason: reason || 'WaitingForHost', message });
  return {
    conditions: [summary('Ready', [associated, node]), associated, node, paused(false)],
    v1beta1: [
      v1beta1('Ready', isDone, associated.status === 'True' ? node.reason : associated.reason, message),
      v1beta1('AssociateBMH', isAssociated, associated.reason, message),
      v1beta1('KubernetesNodeReady', isDone, node.reason, message),
    ],
  };
}
