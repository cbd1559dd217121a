import { Node, Pod, Service } from '../../../api/generated/core-v1.ts';
import { EndpointSlice } from '../../../api/generated/discovery-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { labelChanged } from '../../../kube/controller/predicates.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { knownObjects } from '../pods/known-objects.ts';
import { selects } from './pod-endpoint.ts';
import { EndpointSliceReconciler } from './reconcile.ts';
import { SERVICE_NAME, SLICE_MANAGED_BY, SLICE_MANAGER } from './service-labels.ts';

/** The services that are for a pod. */
export const servicesOfPod: MapFunction<Pod> = (pod, { cache }) => {
  const { namespace = '' } = pod.metadata;
  const services = knownObjects(cache, Service, { namespace });
  return services.filter((service) => selects(service, pod)).map(keyOf);
};

/** The services that are for a pod of a node. */
const servicesOfNode: MapFunction<Node> = (node, tools) => {
  const pods = knownObjects(tools.cache, Pod);
  return pods
    .filter(({ spec }) => spec.nodeName === node.metadata.name)
    .flatMap((pod) => servicesOfPod(pod, tools));
};

const serviceOfSlice: MapFunction<EndpointSlice> = ({ metadata: { namespace, labels = {} } }) =>
  labels[SLICE_MANAGED_BY] === SLICE_MANAGER ? [{ namespace, name: labels[SERVICE_NAME] }] : [];

/** Stands in for the EndpointSlice controller of Kubernetes (W31). */
export const endpointSliceController = (): Controller =>
  controllerFor(Service, { name: 'endpointslice' })
    .watches(EndpointSlice, serviceOfSlice)
    .watches(Pod, servicesOfPod)
    // Where a node is stands in its labels; its heartbeats are no news (A6).
    .watches(Node, servicesOfNode, [labelChanged])
    .needs(
      needs(EndpointSlice, ['create', 'update', 'delete']),
      // Slices hold back the deletion of their service: OpenShift asks for this right when they are made.
      needs(Service, ['update'], { subresource: 'finalizers' }),
    )
    .reconcile(new EndpointSliceReconciler());
