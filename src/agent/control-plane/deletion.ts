import { CONTROL_PLANE_FINALIZER, OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { type Cluster, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../kube/controller/reconcile.ts';
import { imageSetNames, isImageSetOf } from '../cluster-deployment/image-set.ts';
import { isDeleting, ownedMachines } from '../machines/owned-machines.ts';
import type { Replicas } from '../machines/replicas.ts';
import { namesOf } from '../machines/scale-plan.ts';
import { DELETING } from './conditions.ts';
import { findOwnerCluster, hasSpec, isOfControlPlane, namespaceOf, ownerClusterName } from './ownership.ts';
import { clusterConfigs } from './release-facts.ts';
import type { StatusReport } from './status-report.ts';

/** Events bring the next step; this is for the one that was missed. */
const SAFETY_MS = 60_000;

interface Scope {
  readonly object: OpenshiftAssistedControlPlane;
  readonly context: ReconcileContext;
  readonly report: StatusReport;
}

/** What the next step waits for. */
interface Pending {
  readonly reason: string;
  readonly message: string;
}

/**
 * Takes a control plane apart (X17): its Machines, and when they are gone its ClusterDeployment, then its
 * ClusterImageSet, and at last the finalizer. Hosts are given back before assisted-service forgets the cluster.
 */
export async function takeApart(scope: Scope, replicas: Replicas): Promise<Result> {
  const { object, context, report } = scope;
  if (!(object.metadata.finalizers ?? []).includes(CONTROL_PLANE_FINALIZER)) return DONE;
  const pending = (await removeMachines(scope, replicas)) ?? (await removeClusterDeployment(scope));
  if (pending !== undefined) {
    report.say({ type: DELETING, status: 'True', ...pending });
    await report.write({ isDone: false });
    return after(SAFETY_MS);
  }
  await removeImageSets(scope);
  await context.client.removeFinalizer(OpenshiftAssistedControlPlane, object, CONTROL_PLANE_FINALIZER);
  return DONE;
}

async function removeMachines(scope: Scope, replicas: Replicas): Promise<Pending | undefined> {
  const { object, context, report } = scope;
  const machines = await ownedMachines(context.client, object);
  for (const { metadata } of machines.filter((machine) => !isDeleting(machine))) {
    const { name, uid } = metadata;
    const key = { namespace: namespaceOf(object), name };
    await context.client.delete(Machine, key, { ...(uid !== undefined && { preconditions: { uid } }) });
    context.events.normal(object, 'MachineDeleted', `Deleted Machine ${name}`);
  }
  if (machines.length > 0)
    return {
      reason: 'WaitingForMachineDeletion',
      message: `Machines that are not gone yet: ${namesOf(machines)}`,
    };
  const cluster = await knownCluster(scope);
  const configs = await clusterConfigs(context.client, object);
  if (cluster !== undefined && hasSpec(object))
    await replicas.discardLeftovers({ object, cluster, configs, context, report });
  return undefined;
}

/** The owner, or its name alone when it is gone already. */
async function knownCluster({ object, context: { client } }: Scope): Promise<Cluster | undefined> {
  const name = ownerClusterName(object);
  if (name === undefined) return undefined;
  const found = await findOwnerCluster(client, object);
  return found ?? { apiVersion: '', kind: '', metadata: { namespace: namespaceOf(object), name } };
}

async function removeClusterDeployment({ object, context: { client } }: Scope): Promise<Pending | undefined> {
  const key = { namespace: namespaceOf(object), name: object.metadata.name };
  const found = await client.find(ClusterDeployment, key);
  if (found === undefined || !isOfControlPlane(found, object)) return undefined;
  const { uid, deletionTimestamp, finalizers = [] } = found.metadata;
  if (deletionTimestamp === undefined)
    await client.delete(ClusterDeployment, key, { ...(uid !== undefined && { preconditions: { uid } }) });
  if ((await client.find(ClusterDeployment, key)) === undefined) return undefined;
  const held = finalizers.length === 0 ? '' : `; it is held by ${finalizers.join(', ')}`;
  return {
    reason: 'WaitingForClusterDeploymentDeletion',
    message: `ClusterDeployment ${key.name} is not gone yet${held}`,
  };
}

async function removeImageSets({ object, context: { client } }: Scope): Promise<void> {
  for (const name of imageSetNames(object)) {
    const found = await client.find(ClusterImageSet, { name });
    if (found === undefined || !isImageSetOf(found, object)) continue;
    const { uid } = found.metadata;
    await client.delete(ClusterImageSet, { name }, { ...(uid !== undefined && { preconditions: { uid } }) });
  }
}
