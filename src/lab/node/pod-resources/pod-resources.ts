import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { ContainerDevicesSent, PodResourcesSent } from '../../../rpc/kubelet/pod-resources.ts';
import type { DevicesOfResource } from '../devices/device-manager.ts';
import { isSidecar } from '../kubelet/container-seen.ts';

/** Pure: the containers of a pod that go on, and what each of them has. */
export const podResources = (
  { metadata: { name, namespace = '' }, spec }: Pod,
  assigned: (container: string) => readonly DevicesOfResource[],
): PodResourcesSent => ({
  name,
  namespace,
  containers: [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers].map((container) => ({
    name: container.name,
    devices: containerDevices(assigned(container.name)),
  })),
});

/** Pure: one entry for each device, and for each NUMA node that it is near to, as the kubelet has it. */
export const containerDevices = (devices: readonly DevicesOfResource[]): readonly ContainerDevicesSent[] =>
  devices.flatMap(({ resource, device, numaNodes }) => {
    const entry = { resourceName: resource, deviceIds: [device] };
    if (numaNodes.length === 0) return [entry];
    return numaNodes.map((node) => ({ ...entry, topology: { nodes: [{ ID: node }] } }));
  });
