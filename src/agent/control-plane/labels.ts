import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import {
  CLUSTER_NAME_LABEL,
  CONTROL_PLANE_LABEL,
  CONTROL_PLANE_NAME_LABEL,
} from '../../api/cluster-api/core-v1beta2.ts';
import { labelValueProblems } from '../../object/names.ts';

type Labels = Readonly<Record<string, string>>;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The name where a label can hold it, else what Cluster API writes in its place (C19). */
export function controlPlaneNameValue(name: string): string {
  if (labelValueProblems(name).length === 0) return name;
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(hash);
  return `hash_${bytes.toString('base64url')}_z`;
}

/** What every object of a control plane carries (C9). The name is always that of the Cluster (X2). */
export const controlPlaneLabels = (
  { metadata: { name }, spec: { machineTemplate } }: OpenshiftAssistedControlPlane,
  clusterName: string,
): Labels => ({
  ...machineTemplate.metadata?.labels,
  [CLUSTER_NAME_LABEL]: clusterName,
  [CONTROL_PLANE_LABEL]: '',
  [CONTROL_PLANE_NAME_LABEL]: controlPlaneNameValue(name),
});

/** What finds the Machines of a control plane, for whoever scales it (X7). */
export const machineSelector = (
  { metadata: { name } }: OpenshiftAssistedControlPlane,
  clusterName: string,
): string => `${CLUSTER_NAME_LABEL}=${clusterName},${CONTROL_PLANE_NAME_LABEL}=${controlPlaneNameValue(name)}`;
