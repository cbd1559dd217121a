import {
  bool,
  either,
  enumeration,
  int32,
  int64,
  list,
  message,
  of,
  oneOfNames,
  secret,
  string,
  stringMap,
} from '../message.ts';
import { serverStream, service, unary } from '../rpc-service.ts';
import { Snapshot, Timestamp } from './volume.ts';

const GroupCapabilityName = enumeration('csi.v1.GroupControllerServiceCapability.RPC.Type', {
  UNKNOWN: 0,
  CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT: 1,
});
const GroupRpc = message('csi.v1.GroupControllerServiceCapability.RPC', {
  type: oneOfNames(1, GroupCapabilityName),
});
const GroupCapability = message('csi.v1.GroupControllerServiceCapability', {
  rpc: either('type', of(1, GroupRpc)),
});
const GroupControllerGetCapabilitiesRequest = message('csi.v1.GroupControllerGetCapabilitiesRequest', {});
const GroupControllerGetCapabilitiesResponse = message('csi.v1.GroupControllerGetCapabilitiesResponse', {
  capabilities: list(of(1, GroupCapability)),
});

const VolumeGroupSnapshot = message('csi.v1.VolumeGroupSnapshot', {
  group_snapshot_id: string(1),
  snapshots: list(of(2, Snapshot)),
  creation_time: of(3, Timestamp),
  ready_to_use: bool(4),
});
const CreateVolumeGroupSnapshotRequest = message('csi.v1.CreateVolumeGroupSnapshotRequest', {
  name: string(1),
  source_volume_ids: list(string(2)),
  secrets: secret(stringMap(3)),
  parameters: stringMap(4),
});
const CreateVolumeGroupSnapshotResponse = message('csi.v1.CreateVolumeGroupSnapshotResponse', {
  group_snapshot: of(1, VolumeGroupSnapshot),
});
const DeleteVolumeGroupSnapshotRequest = message('csi.v1.DeleteVolumeGroupSnapshotRequest', {
  group_snapshot_id: string(1),
  snapshot_ids: list(string(2)),
  secrets: secret(stringMap(3)),
});
const DeleteVolumeGroupSnapshotResponse = message('csi.v1.DeleteVolumeGroupSnapshotResponse', {});
const GetVolumeGroupSnapshotRequest = message('csi.v1.GetVolumeGroupSnapshotRequest', {
  group_snapshot_id: string(1),
  snapshot_ids: list(string(2)),
  secrets: secret(stringMap(3)),
});
const GetVolumeGroupSnapshotResponse = message('csi.v1.GetVolumeGroupSnapshotResponse', {
  group_snapshot: of(1, VolumeGroupSnapshot),
});

/** Snapshots of several volumes at one moment. */
export const CsiGroupController = service('csi.v1.GroupController', {
  GroupControllerGetCapabilities: unary(
    GroupControllerGetCapabilitiesRequest,
    GroupControllerGetCapabilitiesResponse,
  ),
  CreateVolumeGroupSnapshot: unary(CreateVolumeGroupSnapshotRequest, CreateVolumeGroupSnapshotResponse),
  DeleteVolumeGroupSnapshot: unary(DeleteVolumeGroupSnapshotRequest, DeleteVolumeGroupSnapshotResponse),
  GetVolumeGroupSnapshot: unary(GetVolumeGroupSnapshotRequest, GetVolumeGroupSnapshotResponse),
});

const BlockMetadataType = enumeration('csi.v1.BlockMetadataType', {
  UNKNOWN: 0,
  FIXED_LENGTH: 1,
  VARIABLE_LENGTH: 2,
});
const BlockMetadata = message('csi.v1.BlockMetadata', { byte_offset: int64(1), size_bytes: int64(2) });
const GetMetadataAllocatedRequest = message('csi.v1.GetMetadataAllocatedRequest', {
  snapshot_id: string(1),
  starting_offset: int64(2),
  max_results: int32(3),
  secrets: secret(stringMap(4)),
});
const GetMetadataAllocatedResponse = message('csi.v1.GetMetadataAllocatedResponse', {
  block_metadata_type: oneOfNames(1, BlockMetadataType),
  volume_capacity_bytes: int64(2),
  block_metadata: list(of(3, BlockMetadata)),
});
const GetMetadataDeltaRequest = message('csi.v1.GetMetadataDeltaRequest', {
  base_snapshot_id: string(1),
  target_snapshot_id: string(2),
  starting_offset: int64(3),
  max_results: int32(4),
  secrets: secret(stringMap(5)),
});
const GetMetadataDeltaResponse = message('csi.v1.GetMetadataDeltaResponse', {
  block_metadata_type: oneOfNames(1, BlockMetadataType),
  volume_capacity_bytes: int64(2),
  block_metadata: list(of(3, BlockMetadata)),
});

/** Which parts of a snapshot hold data, and which differ from another one. */
export const CsiSnapshotMetadata = service('csi.v1.SnapshotMetadata', {
  GetMetadataAllocated: serverStream(GetMetadataAllocatedRequest, GetMetadataAllocatedResponse),
  GetMetadataDelta: serverStream(GetMetadataDeltaRequest, GetMetadataDeltaResponse),
});
