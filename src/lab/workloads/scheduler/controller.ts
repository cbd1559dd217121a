import { Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import { CSINode, StorageClass } from '../../../api/generated/storage-v1.ts';
import { type Controller, controllerOf } from '../../../kube/controller/controller.ts';
import { labelChanged, type Predicate } from '../../../kube/controller/predicates.ts';
import { ItemBackoff } from '../../../kube/queue/rate-limiter.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { nodeCures } from './cures.ts';
import { isPodNews } from './pod-news.ts';
import { CYCLE, Scheduler } from './scheduler.ts';

export interface SchedulerOptions {
  /** Pods name it in `spec.schedulerName`; `default-scheduler` unless told otherwise. */
  readonly schedulerName?: string;
}

/** Pods that are bound or told something at once, while the next ones are decided on. */
const MOST_AT_ONCE = 16;
const BACKOFF = { baseMs: 1000, maxMs: 10_000 };

const toCycle = () => [CYCLE];

/** Heartbeats are no news (A6). What takes something away must be known too: it is no cure, but a limit. */
const isNodeNews: Predicate<Node> = ({ type, old, object }) =>
  type !== 'update' || old === undefined || nodeCures(old, object).length + nodeCures(object, old).length > 0;

/** Stands in for kube-scheduler (K1–K8). */
export function schedulerController({ schedulerName = 'default-scheduler' }: SchedulerOptions = {}): Controller {
  const scheduler = new Scheduler(schedulerName);
  const limiter = () => new ItemBackoff(BACKOFF);
  return controllerOf('scheduler', { maxConcurrent: MOST_AT_ONCE, limiter })
    .watches(Pod, toCycle, [isPodNews])
    .watches(Node, toCycle, [isNodeNews])
    .watches(Namespace, toCycle, [labelChanged])
    .watches(PersistentVolumeClaim, toCycle)
    .watches(PersistentVolume, toCycle)
    .watches(StorageClass, toCycle)
    .watches(CSINode, toCycle)
    .watchesChannel(scheduler.channel)
    .needs(
      needs(Pod, ['create'], { subresource: 'binding' }),
      needs(Pod, ['patch'], { subresource: 'status' }),
      needs(PersistentVolumeClaim, ['patch']),
    )
    .reconcileKeys((key, context) => scheduler.reconcile(key, context));
}
