import type { Taint } from '../../../api/generated/core-v1-types.ts';
import type { NodeSettings } from '../../node/registration/node-object.ts';
import type { WorkloadNode, WorkloadWish } from './workload-clusters.ts';

const ROLE = 'node-role.kubernetes.io/';
const CONTROL_PLANE: Taint = { key: `${ROLE}master`, effect: 'NoSchedule' };
const ROLE_LABELS: Readonly<Record<WorkloadNode['role'], readonly string[]>> = {
  'control-plane': [`${ROLE}control-plane`, `${ROLE}master`],
  worker: [`${ROLE}worker`],
};
/** The minor version of Kubernetes that OpenShift 4.0 would have had. */
const FIRST_MINOR = 13;

/** Pure: what the kubelet of a machine is told by the installer of its cluster. */
export function nodeSettings(node: WorkloadNode, wish: WorkloadWish): NodeSettings {
  const { name, role, labels, providerId, hostId, architecture } = node;
  const { hasExternalCloudProvider, isSingleNode = false } = wish;
  // The only node there is takes pods of all kinds.
  const roles = isSingleNode ? Object.values(ROLE_LABELS).flat() : ROLE_LABELS[role];
  const isReserved = role === 'control-plane' && !isSingleNode;
  return {
    name,
    labels: { ...Object.fromEntries(roles.map((label) => [label, ''])), ...labels },
    ...(isReserved && { taints: [CONTROL_PLANE] }),
    ...(hasExternalCloudProvider && { cloudProvider: 'external' }),
    ...(providerId !== undefined && { providerId }),
    info: {
      architecture,
      systemUUID: hostId,
      kubeletVersion: kubeletVersionOf(wish.version),
      osImage: `Red Hat Enterprise Linux CoreOS ${wish.version} (Slipway lab)`,
    },
  };
}

/** Pure: of the Kubernetes that a release of OpenShift brings: 4.20 is 1.33. */
function kubeletVersionOf(version: string): string {
  const minor = Number(/^4\.(\d+)\./.exec(version)?.[1] ?? 0);
  return `v1.${minor + FIRST_MINOR}.0+slipway`;
}
