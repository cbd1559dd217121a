import {
  bool,
  either,
  enumeration,
  int64,
  list,
  message,
  of,
  oneOfNames,
  type Received,
  secret,
  string,
  stringMap,
} from '../message.ts';
import { service, unary } from '../rpc-service.ts';
import { CapacityRange, Topology, VolumeCapability, VolumeCondition } from './volume.ts';

const NodeStageVolumeRequest = message('csi.v1.NodeStageVolumeRequest', {
  volume_id: string(1),
  publish_context: stringMap(2),
  staging_target_path: string(3),
  volume_capability: of(4, VolumeCapability),
  secrets: secret(stringMap(5)),
  volume_context: stringMap(6),
});
const NodeStageVolumeResponse = message('csi.v1.NodeStageVolumeResponse', {});
const NodeUnstageVolumeRequest = message('csi.v1.NodeUnstageVolumeRequest', {
  volume_id: string(1),
  staging_target_path: string(2),
});
const NodeUnstageVolumeResponse = message('csi.v1.NodeUnstageVolumeResponse', {});

const NodePublishVolumeRequest = message('csi.v1.NodePublishVolumeRequest', {
  volume_id: string(1),
  publish_context: stringMap(2),
  staging_target_path: string(3),
  target_path: string(4),
  volume_capability: of(5, VolumeCapability),
  readonly: bool(6),
  secrets: secret(stringMap(7)),
  volume_context: stringMap(8),
});
const NodePublishVolumeResponse = message('csi.v1.NodePublishVolumeResponse', {});
const NodeUnpublishVolumeRequest = message('csi.v1.NodeUnpublishVolumeRequest', {
  volume_id: string(1),
  target_path: string(2),
});
const NodeUnpublishVolumeResponse = message('csi.v1.NodeUnpublishVolumeResponse', {});

const UsageUnit = enumeration('csi.v1.VolumeUsage.Unit', { UNKNOWN: 0, BYTES: 1, INODES: 2 });
const VolumeUsage = message('csi.v1.VolumeUsage', {
  available: int64(1),
  total: int64(2),
  used: int64(3),
  unit: oneOfNames(4, UsageUnit),
});
const NodeGetVolumeStatsRequest = message('csi.v1.NodeGetVolumeStatsRequest', {
  volume_id: string(1),
  volume_path: string(2),
  staging_target_path: string(3),
});
const NodeGetVolumeStatsResponse = message('csi.v1.NodeGetVolumeStatsResponse', {
  usage: list(of(1, VolumeUsage)),
  volume_condition: of(2, VolumeCondition),
});

const NodeExpandVolumeRequest = message('csi.v1.NodeExpandVolumeRequest', {
  volume_id: string(1),
  volume_path: string(2),
  capacity_range: of(3, CapacityRange),
  staging_target_path: string(4),
  volume_capability: of(5, VolumeCapability),
  secrets: secret(stringMap(6)),
});
const NodeExpandVolumeResponse = message('csi.v1.NodeExpandVolumeResponse', { capacity_bytes: int64(1) });

const NodeCapabilityName = enumeration('csi.v1.NodeServiceCapability.RPC.Type', {
  UNKNOWN: 0,
  STAGE_UNSTAGE_VOLUME: 1,
  GET_VOLUME_STATS: 2,
  EXPAND_VOLUME: 3,
  VOLUME_CONDITION: 4,
  SINGLE_NODE_MULTI_WRITER: 5,
  VOLUME_MOUNT_GROUP: 6,
});
const NodeRpc = message('csi.v1.NodeServiceCapability.RPC', { type: oneOfNames(1, NodeCapabilityName) });
const NodeServiceCapability = message('csi.v1.NodeServiceCapability', { rpc: either('type', of(1, NodeRpc)) });
const NodeGetCapabilitiesRequest = message('csi.v1.NodeGetCapabilitiesRequest', {});
const NodeGetCapabilitiesResponse = message('csi.v1.NodeGetCapabilitiesResponse', {
  capabilities: list(of(1, NodeServiceCapability)),
});

const NodeGetInfoRequest = message('csi.v1.NodeGetInfoRequest', {});
const NodeGetInfoResponse = message('csi.v1.NodeGetInfoResponse', {
  node_id: string(1),
  max_volumes_per_node: int64(2),
  accessible_topology: of(3, Topology),
});
export type NodeInfo = Received<typeof NodeGetInfoResponse>;

/** What a CSI driver does on a node. */
export const CsiNode = service('csi.v1.Node', {
  NodeStageVolume: unary(NodeStageVolumeRequest, NodeStageVolumeResponse),
  NodeUnstageVolume: unary(NodeUnstageVolumeRequest, NodeUnstageVolumeResponse),
  NodePublishVolume: unary(NodePublishVolumeRequest, NodePublishVolumeResponse),
  NodeUnpublishVolume: unary(NodeUnpublishVolumeRequest, NodeUnpublishVolumeResponse),
  NodeGetVolumeStats: unary(NodeGetVolumeStatsRequest, NodeGetVolumeStatsResponse),
  NodeExpandVolume: unary(NodeExpandVolumeRequest, NodeExpandVolumeResponse),
  NodeGetCapabilities: unary(NodeGetCapabilitiesRequest, NodeGetCapabilitiesResponse),
  NodeGetInfo: unary(NodeGetInfoRequest, NodeGetInfoResponse),
});
