import { Node, Pod } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { keyOf } from '../../../api/object.ts';
import { type Controller, controllerOf } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import type { Predicate } from '../../../kube/controller/predicates.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';
import { knownObjects } from '../pods/known-objects.ts';
import { noExecuteTaints } from './eviction-decision.ts';
import { TaintEviction } from './reconcile.ts';

const itself: MapFunction<Pod> = (pod) => [keyOf(pod)];

const podsOfNode: MapFunction<Node> = ({ metadata: { name } }, { cache }) =>
  knownObjects(cache, Pod)
    .filter(({ spec }) => spec.nodeName === name)
    .map(keyOf);

// Plain JSON that came from the server.
const jsonOf = (value: unknown) => (value ?? []) as JsonObject[];

/** Heartbeats, and taints that pods may stay with, are no news (A6). */
const isTaintNews: Predicate<Node> = ({ type, old, object }) =>
  type !== 'update' || !semanticEqual(jsonOf(noExecuteTaints(old)), jsonOf(noExecuteTaints(object)));

/** Nor is what a kubelet says of a pod. */
const isPodNews: Predicate<Pod> = ({ type, old, object }) =>
  type !== 'update' ||
  old?.metadata.uid !== object.metadata.uid ||
  old?.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
  old?.spec.nodeName !== object.spec.nodeName ||
  !semanticEqual(jsonOf(old?.spec.tolerations), jsonOf(object.spec.tolerations));

/** Stands in for the taint eviction controller of Kubernetes (W37). */
export const taintEvictionController = (): Controller => {
  const eviction = new TaintEviction();
  return controllerOf('taint-eviction')
    .watches(Pod, itself, [isPodNews])
    .watches(Node, podsOfNode, [isTaintNews])
    .needs(needs(Pod, ['delete']), needs(Pod, ['patch'], { subresource: 'status' }))
    .reconcileKeys((key, context) => eviction.reconcile(key, context));
};
