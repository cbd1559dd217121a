import {
  CLUSTER_GROUP,
  CLUSTER_NAME_LABEL,
  Cluster,
  MACHINE_FINALIZER,
  Machine,
} from '../../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject, OwnerReference } from '../../../api/object.ts';
import type { Unstructured } from '../../../api/unstructured.ts';
import {
  controllerReferenceOf,
  hasControllerReference,
  setControllerReference,
  setOwnerReference,
} from '../../../object/owner-references.ts';

const DELETION_SECONDS = 10;

/** A Machine with what core and its webhook give every Machine (S5, S28). Pure. */
export function adoptedMachine(machine: Machine, cluster: Cluster): Machine {
  const { finalizers = [], labels = {} } = machine.metadata;
  const { nodeDeletionTimeoutSeconds = DELETION_SECONDS } = machine.spec.deletion ?? {};
  const owned = hasControllerReference(machine) ? machine : setOwnerReference(cluster, machine, { kind: Cluster });
  return {
    ...owned,
    metadata: {
      ...owned.metadata,
      labels: { ...labels, [CLUSTER_NAME_LABEL]: machine.spec.clusterName },
      finalizers: finalizers.includes(MACHINE_FINALIZER) ? finalizers : [...finalizers, MACHINE_FINALIZER],
    },
    spec: { ...machine.spec, deletion: { ...machine.spec.deletion, nodeDeletionTimeoutSeconds } },
  };
}

/**
 * An object of a provider as one of the Machine: whoever made both, a MachineSet or a control plane, owns only the
 * Machine from now on (S5).
 */
export function claimedByMachine(object: Unstructured, machine: Machine): Unstructured {
  const maker = controllerReferenceOf(machine);
  const kept = (object.metadata.ownerReferences ?? []).filter(
    (reference) => reference.uid !== maker?.uid && !isMachineSet(reference),
  );
  const released = { ...object, metadata: { ...object.metadata, ownerReferences: kept } };
  return labelled(setControllerReference(machine, released, Machine), machine.spec.clusterName);
}

const isMachineSet = ({ apiVersion, kind }: OwnerReference): boolean =>
  kind === 'MachineSet' && apiVersion.startsWith(`${CLUSTER_GROUP}/`);

/** An object of a provider as one of the Cluster (S1). */
export const claimedByCluster = (object: Unstructured, cluster: Cluster): Unstructured =>
  labelled(setControllerReference(cluster, object, Cluster), cluster.metadata.name);

const labelled = <T extends KubeObject>(object: T, clusterName: string): T => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, [CLUSTER_NAME_LABEL]: clusterName } },
});
