import type { JsonObject } from '../../object/json.ts';
import type { Strategy, WriteContext } from '../registry/resource.ts';
import { copyKey, has, numberAt, objectAt, objectsAt, specOf, statusOf, textAt, timestampOf } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { addTolerations, admitPod, type FindPriority, qosClassOf } from './pod-admission.ts';
import { podDefaults, podSpecDefaults } from './pod-defaults.ts';
import { checkPodChange } from './pod-updates.ts';
import { checkPodSpec } from './pod-validation.ts';

/** Pods; deleted with the grace of their spec (DE5). */
export const podStrategy = (findPriority: FindPriority): Strategy =>
  kindStrategy({
    type: 'core.v1.Pod',
    tracksGeneration: true,
    returnsDeletedObject: true,
    selectableFields: {
      'spec.nodeName': (pod) => textAt(specOf(pod), 'nodeName'),
      'spec.restartPolicy': (pod) => textAt(specOf(pod), 'restartPolicy'),
      'spec.schedulerName': (pod) => textAt(specOf(pod), 'schedulerName'),
      'spec.serviceAccountName': (pod) => textAt(specOf(pod), 'serviceAccountName'),
      'spec.hostNetwork': (pod) => String(specOf(pod)['hostNetwork'] === true),
      'status.phase': (pod) => textAt(statusOf(pod), 'phase'),
      'status.podIP': (pod) => podIpOf(pod),
      'status.nominatedNodeName': (pod) => textAt(statusOf(pod), 'nominatedNodeName'),
    },
    newStatus: () => ({ phase: 'Pending' }),
    setDefaults(pod) {
      podSpecDefaults(specOf(pod));
      podDefaults(specOf(pod));
    },
    onCreate(pod, context) {
      admitPod(pod, findPriority);
      fillStatus(pod, context);
    },
    onUpdate(pod, old) {
      const spec = specOf(pod);
      addTolerations(spec);
      // A client that knows nothing of these fields must not be refused for leaving them out.
      for (const key of ['priority', 'preemptionPolicy']) if (!has(spec, key)) copyKey(spec, specOf(old), key);
    },
    onSubresource: keepForSubresource,
    gracePeriod,
    validate: (pod) => checkPodSpec(specOf(pod), 'spec'),
    validateChange: (pod, old, context) =>
      context.subresource === '' ? checkPodChange(specOf(pod), specOf(old)) : [],
  });

function podIpOf(pod: JsonObject): string {
  const status = statusOf(pod);
  const [first] = objectsAt(status, 'podIPs');
  return first === undefined ? textAt(status, 'podIP') : textAt(first, 'ip');
}

function fillStatus(pod: JsonObject, { now }: WriteContext): void {
  const status = statusOf(pod);
  status['qosClass'] = qosClassOf(pod);
  if (objectsAt(specOf(pod), 'schedulingGates').length === 0) return;
  status['conditions'] = [
    {
      type: 'PodScheduled',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: timestampOf(now),
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    },
  ];
}

function keepForSubresource(pod: JsonObject, old: JsonObject, { subresource }: WriteContext): void {
  if (subresource === 'status') {
    copyKey(objectAt(pod, 'metadata'), objectAt(old, 'metadata'), 'ownerReferences');
    const status = statusOf(pod);
    if (textAt(status, 'qosClass') === '') copyKey(status, statusOf(old), 'qosClass');
    return;
  }
  const spec = specOf(pod);
  const containers = spec['ephemeralContainers'];
  pod['spec'] = subresource === 'ephemeralcontainers' ? { ...specOf(old) } : spec;
  if (subresource === 'ephemeralcontainers' && containers !== undefined)
    specOf(pod)['ephemeralContainers'] = containers;
  copyKey(pod, old, 'status');
}

/** apiserver/DE5: a pod no node knows of, or that has ended, goes at once. */
function gracePeriod(pod: JsonObject, asked: number | undefined): number {
  const spec = specOf(pod);
  const phase = textAt(statusOf(pod), 'phase');
  if (textAt(spec, 'nodeName') === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  const seconds = asked ?? numberAt(spec, 'terminationGracePeriodSeconds') ?? 0;
  return seconds < 0 ? 1 : seconds;
}
