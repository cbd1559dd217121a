import {
  bool,
  either,
  enumeration,
  int32,
  int64,
  int64Value,
  list,
  message,
  of,
  oneOfNames,
  secret,
  string,
  stringMap,
} from '../message.ts';
import { service, unary } from '../rpc-service.ts';
import {
  CapacityRange,
  Snapshot,
  Topology,
  TopologyRequirement,
  Volume,
  VolumeCapability,
  VolumeCondition,
  VolumeContentSource,
} from './volume.ts';

const CreateVolumeRequest = message('csi.v1.CreateVolumeRequest', {
  name: string(1),
  capacity_range: of(2, CapacityRange),
  volume_capabilities: list(of(3, VolumeCapability)),
  parameters: stringMap(4),
  secrets: secret(stringMap(5)),
  volume_content_source: of(6, VolumeContentSource),
  accessibility_requirements: of(7, TopologyRequirement),
  mutable_parameters: stringMap(8),
});
const CreateVolumeResponse = message('csi.v1.CreateVolumeResponse', { volume: of(1, Volume) });
const DeleteVolumeRequest = message('csi.v1.DeleteVolumeRequest', {
  volume_id: string(1),
  secrets: secret(stringMap(2)),
});
const DeleteVolumeResponse = message('csi.v1.DeleteVolumeResponse', {});

const ControllerPublishVolumeRequest = message('csi.v1.ControllerPublishVolumeRequest', {
  volume_id: string(1),
  node_id: string(2),
  volume_capability: of(3, VolumeCapability),
  readonly: bool(4),
  secrets: secret(stringMap(5)),
  volume_context: stringMap(6),
});
const ControllerPublishVolumeResponse = message('csi.v1.ControllerPublishVolumeResponse', {
  publish_context: stringMap(1),
});
const ControllerUnpublishVolumeRequest = message('csi.v1.ControllerUnpublishVolumeRequest', {
  volume_id: string(1),
  node_id: string(2),
  secrets: secret(stringMap(3)),
});
const ControllerUnpublishVolumeResponse = message('csi.v1.ControllerUnpublishVolumeResponse', {});

const ValidateVolumeCapabilitiesRequest = message('csi.v1.ValidateVolumeCapabilitiesRequest', {
  volume_id: string(1),
  volume_context: stringMap(2),
  volume_capabilities: list(of(3, VolumeCapability)),
  parameters: stringMap(4),
  secrets: secret(stringMap(5)),
  mutable_parameters: stringMap(6),
});
const Confirmed = message('csi.v1.ValidateVolumeCapabilitiesResponse.Confirmed', {
  volume_context: stringMap(1),
  volume_capabilities: list(of(2, VolumeCapability)),
  parameters: stringMap(3),
  mutable_parameters: stringMap(4),
});
const ValidateVolumeCapabilitiesResponse = message('csi.v1.ValidateVolumeCapabilitiesResponse', {
  confirmed: of(1, Confirmed),
  message: string(2),
});

const ListedVolumeStatus = message('csi.v1.ListVolumesResponse.VolumeStatus', {
  published_node_ids: list(string(1)),
  volume_condition: of(2, VolumeCondition),
});
const ListedVolume = message('csi.v1.ListVolumesResponse.Entry', {
  volume: of(1, Volume),
  status: of(2, ListedVolumeStatus),
});
const ListVolumesRequest = message('csi.v1.ListVolumesRequest', {
  max_entries: int32(1),
  starting_token: string(2),
});
const ListVolumesResponse = message('csi.v1.ListVolumesResponse', {
  entries: list(of(1, ListedVolume)),
  next_token: string(2),
});
const ControllerVolumeStatus = message('csi.v1.ControllerGetVolumeResponse.VolumeStatus', {
  published_node_ids: list(string(1)),
  volume_condition: of(2, VolumeCondition),
});
const ControllerGetVolumeRequest = message('csi.v1.ControllerGetVolumeRequest', { volume_id: string(1) });
const ControllerGetVolumeResponse = message('csi.v1.ControllerGetVolumeResponse', {
  volume: of(1, Volume),
  status: of(2, ControllerVolumeStatus),
});

const ControllerModifyVolumeRequest = message('csi.v1.ControllerModifyVolumeRequest', {
  volume_id: string(1),
  secrets: secret(stringMap(2)),
  mutable_parameters: stringMap(3),
});
const ControllerModifyVolumeResponse = message('csi.v1.ControllerModifyVolumeResponse', {});
const ControllerExpandVolumeRequest = message('csi.v1.ControllerExpandVolumeRequest', {
  volume_id: string(1),
  capacity_range: of(2, CapacityRange),
  secrets: secret(stringMap(3)),
  volume_capability: of(4, VolumeCapability),
});
const ControllerExpandVolumeResponse = message('csi.v1.ControllerExpandVolumeResponse', {
  capacity_bytes: int64(1),
  node_expansion_required: bool(2),
});

const GetCapacityRequest = message('csi.v1.GetCapacityRequest', {
  volume_capabilities: list(of(1, VolumeCapability)),
  parameters: stringMap(2),
  accessible_topology: of(3, Topology),
});
const GetCapacityResponse = message('csi.v1.GetCapacityResponse', {
  available_capacity: int64(1),
  maximum_volume_size: int64Value(2),
  minimum_volume_size: int64Value(3),
});

const ControllerCapabilityName = enumeration('csi.v1.ControllerServiceCapability.RPC.Type', {
  UNKNOWN: 0,
  CREATE_DELETE_VOLUME: 1,
  PUBLISH_UNPUBLISH_VOLUME: 2,
  LIST_VOLUMES: 3,
  GET_CAPACITY: 4,
  CREATE_DELETE_SNAPSHOT: 5,
  LIST_SNAPSHOTS: 6,
  CLONE_VOLUME: 7,
  PUBLISH_READONLY: 8,
  EXPAND_VOLUME: 9,
  LIST_VOLUMES_PUBLISHED_NODES: 10,
  VOLUME_CONDITION: 11,
  GET_VOLUME: 12,
  SINGLE_NODE_MULTI_WRITER: 13,
  MODIFY_VOLUME: 14,
  GET_SNAPSHOT: 15,
});
const ControllerRpc = message('csi.v1.ControllerServiceCapability.RPC', {
  type: oneOfNames(1, ControllerCapabilityName),
});
const ControllerServiceCapability = message('csi.v1.ControllerServiceCapability', {
  rpc: either('type', of(1, ControllerRpc)),
});
const ControllerGetCapabilitiesRequest = message('csi.v1.ControllerGetCapabilitiesRequest', {});
const ControllerGetCapabilitiesResponse = message('csi.v1.ControllerGetCapabilitiesResponse', {
  capabilities: list(of(1, ControllerServiceCapability)),
});

const CreateSnapshotRequest = message('csi.v1.CreateSnapshotRequest', {
  source_volume_id: string(1),
  name: string(2),
  secrets: secret(stringMap(3)),
  parameters: stringMap(4),
});
const CreateSnapshotResponse = message('csi.v1.CreateSnapshotResponse', { snapshot: of(1, Snapshot) });
const DeleteSnapshotRequest = message('csi.v1.DeleteSnapshotRequest', {
  snapshot_id: string(1),
  secrets: secret(stringMap(2)),
});
const DeleteSnapshotResponse = message('csi.v1.DeleteSnapshotResponse', {});
const ListSnapshotsRequest = message('csi.v1.ListSnapshotsRequest', {
  max_entries: int32(1),
  starting_token: string(2),
  source_volume_id: string(3),
  snapshot_id: string(4),
  secrets: secret(stringMap(5)),
});
const ListedSnapshot = message('csi.v1.ListSnapshotsResponse.Entry', { snapshot: of(1, Snapshot) });
const ListSnapshotsResponse = message('csi.v1.ListSnapshotsResponse', {
  entries: list(of(1, ListedSnapshot)),
  next_token: string(2),
});
const GetSnapshotRequest = message('csi.v1.GetSnapshotRequest', {
  snapshot_id: string(1),
  secrets: secret(stringMap(2)),
});
const GetSnapshotResponse = message('csi.v1.GetSnapshotResponse', { snapshot: of(1, Snapshot) });

/** What a CSI driver does for the cluster as a whole. */
export const CsiController = service('csi.v1.Controller', {
  CreateVolume: unary(CreateVolumeRequest, CreateVolumeResponse),
  DeleteVolume: unary(DeleteVolumeRequest, DeleteVolumeResponse),
  ControllerPublishVolume: unary(ControllerPublishVolumeRequest, ControllerPublishVolumeResponse),
  ControllerUnpublishVolume: unary(ControllerUnpublishVolumeRequest, ControllerUnpublishVolumeResponse),
  ValidateVolumeCapabilities: unary(ValidateVolumeCapabilitiesRequest, ValidateVolumeCapabilitiesResponse),
  ListVolumes: unary(ListVolumesRequest, ListVolumesResponse),
  GetCapacity: unary(GetCapacityRequest, GetCapacityResponse),
  ControllerGetCapabilities: unary(ControllerGetCapabilitiesRequest, ControllerGetCapabilitiesResponse),
  CreateSnapshot: unary(CreateSnapshotRequest, CreateSnapshotResponse),
  DeleteSnapshot: unary(DeleteSnapshotRequest, DeleteSnapshotResponse),
  ListSnapshots: unary(ListSnapshotsRequest, ListSnapshotsResponse),
  GetSnapshot: unary(GetSnapshotRequest, GetSnapshotResponse),
  ControllerExpandVolume: unary(ControllerExpandVolumeRequest, ControllerExpandVolumeResponse),
  ControllerGetVolume: unary(ControllerGetVolumeRequest, ControllerGetVolumeResponse),
  ControllerModifyVolume: unary(ControllerModifyVolumeRequest, ControllerModifyVolumeResponse),
});
