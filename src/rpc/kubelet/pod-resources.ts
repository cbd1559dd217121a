import { int64, list, message, of, optional, type Sent, string, uint64 } from '../message.ts';
import { service, unary } from '../rpc-service.ts';

const NumaNode = message('v1.NUMANode', { ID: int64(1) });
const TopologyInfo = message('v1.TopologyInfo', { nodes: list(of(1, NumaNode)) });
const ContainerMemory = message('v1.ContainerMemory', {
  memory_type: string(1),
  size: uint64(2),
  topology: of(3, TopologyInfo),
});
const ContainerDevices = message('v1.ContainerDevices', {
  resource_name: string(1),
  device_ids: list(string(2)),
  topology: of(3, TopologyInfo),
});
const CdiDevice = message('v1.CDIDevice', { name: string(1) });
const ClaimResource = message('v1.ClaimResource', {
  cdi_devices: list(of(1, CdiDevice)),
  driver_name: string(2),
  pool_name: string(3),
  device_name: string(4),
  share_id: optional(string(5)),
});
const DynamicResource = message('v1.DynamicResource', {
  claim_name: string(2),
  claim_namespace: string(3),
  claim_resources: list(of(4, ClaimResource)),
});
const ContainerResources = message('v1.ContainerResources', {
  name: string(1),
  devices: list(of(2, ContainerDevices)),
  cpu_ids: list(int64(3)),
  memory: list(of(4, ContainerMemory)),
  dynamic_resources: list(of(5, DynamicResource)),
});
const PodResources = message('v1.PodResources', {
  name: string(1),
  namespace: string(2),
  containers: list(of(3, ContainerResources)),
});
const AllocatableResourcesRequest = message('v1.AllocatableResourcesRequest', {});
const AllocatableResourcesResponse = message('v1.AllocatableResourcesResponse', {
  devices: list(of(1, ContainerDevices)),
  cpu_ids: list(int64(2)),
  memory: list(of(3, ContainerMemory)),
});
const ListPodResourcesRequest = message('v1.ListPodResourcesRequest', {});
const ListPodResourcesResponse = message('v1.ListPodResourcesResponse', {
  pod_resources: list(of(1, PodResources)),
});
const GetPodResourcesRequest = message('v1.GetPodResourcesRequest', {
  pod_name: string(1),
  pod_namespace: string(2),
});
const GetPodResourcesResponse = message('v1.GetPodResourcesResponse', { pod_resources: of(1, PodResources) });

export type PodResourcesSent = Sent<typeof PodResources>;
export type ContainerDevicesSent = Sent<typeof ContainerDevices>;

/** Served by the kubelet: which container has which devices. */
export const PodResourcesLister = service('v1.PodResourcesLister', {
  List: unary(ListPodResourcesRequest, ListPodResourcesResponse),
  GetAllocatableResources: unary(AllocatableResourcesRequest, AllocatableResourcesResponse),
  Get: unary(GetPodResourcesRequest, GetPodResourcesResponse),
});
