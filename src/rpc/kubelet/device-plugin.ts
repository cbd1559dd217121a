import { bool, int32, int64, list, message, of, type Received, string, stringMap } from '../message.ts';
import { serverStream, service, unary } from '../rpc-service.ts';

/** The version of this protocol, as plugins name it. */
export const DEVICE_PLUGIN_VERSION = 'v1beta1';

const Empty = message('v1beta1.Empty', {});
const DevicePluginOptions = message('v1beta1.DevicePluginOptions', {
  pre_start_required: bool(1),
  get_preferred_allocation_available: bool(2),
});
const RegisterRequest = message('v1beta1.RegisterRequest', {
  version: string(1),
  endpoint: string(2),
  resource_name: string(3),
  options: of(4, DevicePluginOptions),
});

const NumaNode = message('v1beta1.NUMANode', { ID: int64(1) });
const TopologyInfo = message('v1beta1.TopologyInfo', { nodes: list(of(1, NumaNode)) });
const Device = message('v1beta1.Device', { ID: string(1), health: string(2), topology: of(3, TopologyInfo) });
const ListAndWatchResponse = message('v1beta1.ListAndWatchResponse', { devices: list(of(1, Device)) });

const ContainerPreferredRequest = message('v1beta1.ContainerPreferredAllocationRequest', {
  available_deviceIDs: list(string(1)),
  must_include_deviceIDs: list(string(2)),
  allocation_size: int32(3),
});
const PreferredAllocationRequest = message('v1beta1.PreferredAllocationRequest', {
  container_requests: list(of(1, ContainerPreferredRequest)),
});
const ContainerPreferredResponse = message('v1beta1.ContainerPreferredAllocationResponse', {
  deviceIDs: list(string(1)),
});
const PreferredAllocationResponse = message('v1beta1.PreferredAllocationResponse', {
  container_responses: list(of(1, ContainerPreferredResponse)),
});

const ContainerAllocateRequest = message('v1beta1.ContainerAllocateRequest', { devices_ids: list(string(1)) });
const AllocateRequest = message('v1beta1.AllocateRequest', {
  container_requests: list(of(1, ContainerAllocateRequest)),
});
const Mount = message('v1beta1.Mount', { container_path: string(1), host_path: string(2), read_only: bool(3) });
const DeviceSpec = message('v1beta1.DeviceSpec', {
  container_path: string(1),
  host_path: string(2),
  permissions: string(3),
});
const CdiDevice = message('v1beta1.CDIDevice', { name: string(1) });
/** What one container gets with its devices. */
export const ContainerAllocateResponse = message('v1beta1.ContainerAllocateResponse', {
  envs: stringMap(1),
  mounts: list(of(2, Mount)),
  devices: list(of(3, DeviceSpec)),
  annotations: stringMap(4),
  cdi_devices: list(of(5, CdiDevice)),
});
const AllocateResponse = message('v1beta1.AllocateResponse', {
  container_responses: list(of(1, ContainerAllocateResponse)),
});

const PreStartContainerRequest = message('v1beta1.PreStartContainerRequest', { devices_ids: list(string(1)) });
const PreStartContainerResponse = message('v1beta1.PreStartContainerResponse', {});

export type PluginDevice = Received<typeof Device>;
export type PluginOptions = Received<typeof DevicePluginOptions>;
export type AllocatedContainer = Received<typeof ContainerAllocateResponse>;

/** Served by the kubelet at `kubelet.sock`: plugins announce themselves. */
export const DeviceRegistration = service('v1beta1.Registration', { Register: unary(RegisterRequest, Empty) });

/** Served by device plugins. */
export const DevicePlugin = service('v1beta1.DevicePlugin', {
  GetDevicePluginOptions: unary(Empty, DevicePluginOptions),
  ListAndWatch: serverStream(Empty, ListAndWatchResponse),
  GetPreferredAllocation: unary(PreferredAllocationRequest, PreferredAllocationResponse),
  Allocate: unary(AllocateRequest, AllocateResponse),
  PreStartContainer: unary(PreStartContainerRequest, PreStartContainerResponse),
});
