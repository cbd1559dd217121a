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
  type Sent,
  string,
  stringMap,
} from '../message.ts';

/** What several services of CSI speak of (package `csi.v1`, version 1.13.0). */

export const CapacityRange = message('csi.v1.CapacityRange', { required_bytes: int64(1), limit_bytes: int64(2) });

export const Topology = message('csi.v1.Topology', { segments: stringMap(1) });

export const TopologyRequirement = message('csi.v1.TopologyRequirement', {
  requisite: list(of(1, Topology)),
  preferred: list(of(2, Topology)),
});

const AccessModeName = enumeration('csi.v1.VolumeCapability.AccessMode.Mode', {
  UNKNOWN: 0,
  SINGLE_NODE_WRITER: 1,
  SINGLE_NODE_READER_ONLY: 2,
  MULTI_NODE_READER_ONLY: 3,
  MULTI_NODE_SINGLE_WRITER: 4,
  MULTI_NODE_MULTI_WRITER: 5,
  SINGLE_NODE_SINGLE_WRITER: 6,
  SINGLE_NODE_MULTI_WRITER: 7,
});
const AccessMode = message('csi.v1.VolumeCapability.AccessMode', { mode: oneOfNames(1, AccessModeName) });
const BlockVolume = message('csi.v1.VolumeCapability.BlockVolume', {});
const MountVolume = message('csi.v1.VolumeCapability.MountVolume', {
  fs_type: string(1),
  mount_flags: list(string(2)),
  volume_mount_group: string(3),
});

/** How a volume is to be used: as a block device or mounted, by how many. */
export const VolumeCapability = message('csi.v1.VolumeCapability', {
  block: either('access_type', of(1, BlockVolume)),
  mount: either('access_type', of(2, MountVolume)),
  access_mode: of(3, AccessMode),
});
export type VolumeCapabilitySent = Sent<typeof VolumeCapability>;

const SnapshotSource = message('csi.v1.VolumeContentSource.SnapshotSource', { snapshot_id: string(1) });
const VolumeSource = message('csi.v1.VolumeContentSource.VolumeSource', { volume_id: string(1) });
export const VolumeContentSource = message('csi.v1.VolumeContentSource', {
  snapshot: either('type', of(1, SnapshotSource)),
  volume: either('type', of(2, VolumeSource)),
});

export const Volume = message('csi.v1.Volume', {
  capacity_bytes: int64(1),
  volume_id: string(2),
  volume_context: stringMap(3),
  content_source: of(4, VolumeContentSource),
  accessible_topology: list(of(5, Topology)),
});

export const VolumeCondition = message('csi.v1.VolumeCondition', { abnormal: bool(1), message: string(2) });

/** When something happened (`google.protobuf.Timestamp`). */
export const Timestamp = message('google.protobuf.Timestamp', { seconds: int64(1), nanos: int32(2) });

export const Snapshot = message('csi.v1.Snapshot', {
  size_bytes: int64(1),
  snapshot_id: string(2),
  source_volume_id: string(3),
  creation_time: of(4, Timestamp),
  ready_to_use: bool(5),
  group_snapshot_id: string(6),
});
