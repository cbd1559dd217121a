import { Endpoints, Pod, Service } from '../../../api/generated/core-v1.ts';
import { keyOf, type ObjectKey } from '../../../api/object.ts';
import { type Controller, controllerOf } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { isNamespaceTerminating } from '../pods/pod-writes.ts';
import { servicesOfPod } from './controller.ts';
import { isSaid, legacySubsets } from './legacy-subsets.ts';
import { isManaged } from './pod-endpoint.ts';
import { LEGACY_MANAGED_BY, LEGACY_MANAGER, legacyLabels } from './service-labels.ts';

const itself: MapFunction<Service | Endpoints> = (object) => [keyOf(object)];

/** Stands in for the Endpoints controller of Kubernetes, for clients from before there were slices (W31). */
export const endpointsController = (): Controller =>
  controllerOf('endpoints')
    .watches(Service, itself)
    .watches(Endpoints, itself)
    .watches(Pod, servicesOfPod)
    .needs(needs(Endpoints, ['create', 'update', 'delete']))
    .reconcileKeys(reconcile);

async function reconcile(key: ObjectKey, context: ReconcileContext): Promise<Result> {
  const { client, signal } = context;
  const service = await client.find(Service, key, { signal });
  const found = await client.find(Endpoints, key, { signal });
  if (service === undefined) {
    // Others are their maker's: some write them before the service.
    const isOurs = found?.metadata.labels?.[LEGACY_MANAGED_BY] === LEGACY_MANAGER;
    if (isOurs) await client.delete(Endpoints, key, { signal });
  } else if (isManaged(service)) await write(service, found, context);
  return DONE;
}

async function write(
  service: Service,
  found: Endpoints | undefined,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { name, namespace = '' } = service.metadata;
  const { items: pods } = await client.list(Pod, { namespace, signal });
  const subsets = legacySubsets(
    service,
    // The same pods give the same subsets, in whatever order a cache or a server has them.
    pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
  );
  const labels = legacyLabels(service);
  if (found !== undefined) {
    if (isSaid(found, service, subsets)) return;
    const changed = { ...found, metadata: { ...found.metadata, labels }, subsets };
    await client.update(Endpoints, changed, { signal });
  } else if (service.metadata.deletionTimestamp === undefined) {
    const made = client.create(Endpoints, { metadata: { name, namespace, labels }, subsets }, { signal });
    await made.catch((error: unknown) => {
      if (!isNamespaceTerminating(error)) throw error;
    });
  }
}
