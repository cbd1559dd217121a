import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { type Controller, controllerOf } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import type { Predicate } from '../../../kube/controller/predicates.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { isOutOfService } from './orphan-rules.ts';
import { PodGc } from './reconcile.ts';

/** The node of a pod; the pod itself when it has none. */
const placeOfPod: MapFunction<Pod> = (pod) => {
  const { nodeName = '' } = pod.spec;
  return [nodeName === '' ? keyOf(pod) : { name: nodeName }];
};

const nodeItself: MapFunction<Node> = ({ metadata: { name } }) => [{ name }];

/** What runs on its node is no news (A6). */
const isPodNews: Predicate<Pod> = ({ type, old, object }) =>
  type !== 'update' ||
  old?.spec.nodeName !== object.spec.nodeName ||
  old?.metadata.deletionTimestamp !== object.metadata.deletionTimestamp;

/** Nor are the heartbeats of one. */
const isNodeNews: Predicate<Node> = ({ type, old, object }) =>
  type !== 'update' || old === undefined || isOutOfService(old) !== isOutOfService(object);

/** Stands in for the pod garbage collector of Kubernetes (W38). */
export const podGcController = (): Controller => {
  const collector = new PodGc();
  return controllerOf('pod-gc')
    .watches(Pod, placeOfPod, [isPodNews])
    .watches(Node, nodeItself, [isNodeNews])
    .needs(needs(Pod, ['delete']), needs(Pod, ['patch'], { subresource: 'status' }))
    .reconcileKeys((key, context) => collector.reconcile(key, context));
};
