import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { CLUSTER_NAME_LABEL, type Cluster, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { Reader } from '../../kube/client/kube-client.ts';
import { isTrue } from '../../object/conditions.ts';
import { isOfControlPlane, namespaceOf } from '../control-plane/ownership.ts';

/** Machines of a control plane in the order of their names (C12). */
export async function ownedMachines(
  client: Pick<Reader, 'list'>,
  object: OpenshiftAssistedControlPlane,
  cluster?: Cluster,
): Promise<readonly Machine[]> {
  const { items } = await client.list(Machine, {
    namespace: namespaceOf(object),
    ...(cluster !== undefined && { labels: { [CLUSTER_NAME_LABEL]: cluster.metadata.name } }),
  });
  return items.filter((machine) => isOfControlPlane(machine, object)).toSorted(byName);
}

const byName = (a: Machine, b: Machine): number => (a.metadata.name < b.metadata.name ? -1 : 1);

export const isDeleting = ({ metadata }: Machine): boolean => metadata.deletionTimestamp !== undefined;
export const isMachineReady = (machine: Machine): boolean => isTrue(machine, 'Ready');
export const isMachineAvailable = (machine: Machine): boolean => isTrue(machine, 'Available');
