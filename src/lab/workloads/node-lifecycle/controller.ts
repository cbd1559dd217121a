import { Lease } from '../../../api/generated/coordination-v1.ts';
import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import type { Predicate } from '../../../kube/controller/predicates.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { LEASE_NAMESPACE, type NodeLifecycleOptions, NodeLifecycleReconciler } from './reconcile.ts';

const nodeOfLease: MapFunction<Lease> = ({ metadata: { namespace, name } }) =>
  namespace === LEASE_NAMESPACE ? [{ name }] : [];

const nodeOfPod: MapFunction<Pod> = ({ spec: { nodeName } }) => [{ name: nodeName }];

/** What a kubelet says of its pods shows that it lives, and it says so itself. */
const isPlaced: Predicate<Pod> = ({ old, object }) => old?.spec.nodeName !== object.spec.nodeName;

/** Stands in for the node lifecycle controller of Kubernetes (W35, W36). */
export const nodeLifecycleController = (options: NodeLifecycleOptions = {}): Controller =>
  controllerFor(Node, { name: 'node-lifecycle' })
    .watches(Lease, nodeOfLease)
    .watches(Pod, nodeOfPod, [isPlaced])
    .needs(
      needs(Node, ['patch']),
      needs(Node, ['update'], { subresource: 'status' }),
      needs(Pod, ['patch'], { subresource: 'status' }),
    )
    .reconcile(new NodeLifecycleReconciler(options));
