import type { Notices } from '../../apiserver/admission/notices.ts';
import type { LabOptions, StandInName } from '../setup/lab-options.ts';

/** Parts of kube-controller-manager, which acts on more kinds than the lab does. */
const CONTROLLERS: readonly StandInName[] = ['deployment', 'replicaset', 'daemonset', 'job'];

const idleText = (kinds: string): string =>
  `the lab has no controller for ${kinds}: the object is kept, and nothing happens to it`;
const IDLE_KINDS: Notices = {
  'apps/statefulsets': idleText('StatefulSets'),
  'batch/cronjobs': idleText('CronJobs'),
  'autoscaling/horizontalpodautoscalers': idleText('HorizontalPodAutoscalers'),
};

/** Warnings of kinds that nobody acts on; none where a real kube-controller-manager may be at work. */
export const idleNotices = (replace: NonNullable<LabOptions['replace']>): Notices =>
  CONTROLLERS.some((name) => replace[name] === 'off') ? {} : IDLE_KINDS;
