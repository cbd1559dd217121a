import { Node, Pod, type Service } from '../../../api/generated/core-v1.ts';
import { EndpointSlice } from '../../../api/generated/discovery-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { DONE, type ReconcileContext, type Reconciler, type Result } from '../../../kube/controller/reconcile.ts';
import { isNamespaceTerminating } from '../pods/pod-writes.ts';
import { isManaged } from './pod-endpoint.ts';
import { SERVICE_NAME, SLICE_MANAGED_BY, SLICE_MANAGER } from './service-labels.ts';
import { changedSlice, newSlice, type SliceFacts, slicePlan } from './slice-plan.ts';

/** Keeps in slices where the pods of a service are (W31). */
export class EndpointSliceReconciler implements Reconciler<Service> {
  async reconcile(service: Service, context: ReconcileContext): Promise<Result> {
    if (!isManaged(service)) return DONE;
    const { client, signal } = context;
    const { create, update, remove } = slicePlan(await factsOf(service, context));
    // One that is going gets no new ones: they would come back after they were collected.
    for (const content of service.metadata.deletionTimestamp === undefined ? create : []) {
      const slice = newSlice(service, content);
      await client.create(EndpointSlice, slice, { signal }).catch((error: unknown) => {
        if (!isNamespaceTerminating(error)) throw error;
      });
    }
    for (const { slice, content } of update) {
      await client.update(EndpointSlice, changedSlice(slice, content), { signal });
    }
    for (const slice of remove) {
      const { uid } = slice.metadata;
      await client.delete(EndpointSlice, keyOf(slice), {
        signal,
        ...(uid !== undefined && { preconditions: { uid } }),
      });
    }
    return DONE;
  }
}

async function factsOf(service: Service, { client, signal }: ReconcileContext): Promise<SliceFacts> {
  const { name, namespace = '' } = service.metadata;
  const labels = { [SERVICE_NAME]: name, [SLICE_MANAGED_BY]: SLICE_MANAGER };
  const { items: pods } = await client.list(Pod, { namespace, signal });
  const { items: nodes } = await client.list(Node, { signal });
  const { items: slices } = await client.list(EndpointSlice, { namespace, labels, signal });
  return {
    service,
    nodes,
    // The same pods give the same slices, in whatever order a cache or a server has them.
    pods: pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
    slices: slices
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
  };
}
