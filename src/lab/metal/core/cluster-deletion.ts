import {
  CLUSTER_NAME_LABEL,
  type Cluster,
  CONTROL_PLANE_LABEL,
  Machine,
  MachineDeployment,
  MachineSet,
} from '../../../api/cluster-api/core-v1beta2.ts';
import { type Kind, type KubeObject, keyOf } from '../../../api/object.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { hasControllerReference } from '../../../object/owner-references.ts';
import type { ExternalObjects } from './external-objects.ts';

/** Where a deletion is; undefined when nothing is left. */
export interface PendingDeletion {
  readonly reason: string;
  readonly message: string;
}

export const isControlPlane = ({ metadata: { labels = {} } }: KubeObject): boolean =>
  Object.hasOwn(labels, CONTROL_PLANE_LABEL);

/** Workers first, then the control plane, then the infrastructure: each waits until the one before is gone (S10). */
export async function deleteInOrder(
  cluster: Cluster,
  externals: ExternalObjects,
  context: ReconcileContext,
): Promise<PendingDeletion | undefined> {
  const workers = await deleteWorkers(cluster, context);
  if (workers > 0)
    return { reason: 'WaitingForWorkersDeletion', message: `${workers} objects of workers are being deleted` };
  const { controlPlaneRef, infrastructureRef } = cluster.spec ?? {};
  return (
    (await deleteReferenced('ControlPlane', controlPlaneRef)) ??
    (await deleteReferenced('Infrastructure', infrastructureRef))
  );

  async function deleteReferenced(
    what: 'ControlPlane' | 'Infrastructure',
    reference: typeof controlPlaneRef,
  ): Promise<PendingDeletion | undefined> {
    if (reference === undefined) return undefined;
    const found = await externals.find(reference, cluster.metadata.namespace ?? '', context);
    if (found === undefined) return undefined;
    await externals.remove(found, context);
    return {
      reason: `WaitingFor${what}Deletion`,
      message: `${reference.kind} ${reference.name} is being deleted`,
    };
  }
}

/** How many are still there. What another object controls goes with that. */
async function deleteWorkers(cluster: Cluster, context: ReconcileContext): Promise<number> {
  const { namespace = '', name } = cluster.metadata;
  const { client } = context;
  const options = { namespace, labels: { [CLUSTER_NAME_LABEL]: name } };
  const deployments = (await client.list(MachineDeployment, options)).items;
  const sets = (await client.list(MachineSet, options)).items;
  const { items } = await client.list(Machine, options);
  const hasControlPlane = cluster.spec?.controlPlaneRef !== undefined;
  const machines = items.filter((machine) => !hasControlPlane || !isControlPlane(machine));
  await removeAll(MachineDeployment, deployments, context);
  await removeAll(MachineSet, sets, context);
  await removeAll(Machine, machines, context);
  return deployments.length + sets.length + machines.length;
}

async function removeAll<T extends KubeObject>(
  kind: Kind<T>,
  objects: readonly T[],
  { client, signal }: ReconcileContext,
): Promise<void> {
  const own = objects.filter((object) => !hasControllerReference(object));
  for (const object of own)
    if (object.metadata.deletionTimestamp === undefined) await client.delete(kind, keyOf(object), { signal });
}
