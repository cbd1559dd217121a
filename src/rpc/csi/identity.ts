import { boolValue, either, enumeration, list, message, of, oneOfNames, string, stringMap } from '../message.ts';
import { service, unary } from '../rpc-service.ts';

const GetPluginInfoRequest = message('csi.v1.GetPluginInfoRequest', {});
const GetPluginInfoResponse = message('csi.v1.GetPluginInfoResponse', {
  name: string(1),
  vendor_version: string(2),
  manifest: stringMap(3),
});

const ServiceName = enumeration('csi.v1.PluginCapability.Service.Type', {
  UNKNOWN: 0,
  CONTROLLER_SERVICE: 1,
  VOLUME_ACCESSIBILITY_CONSTRAINTS: 2,
  GROUP_CONTROLLER_SERVICE: 3,
  SNAPSHOT_METADATA_SERVICE: 4,
});
const ExpansionName = enumeration('csi.v1.PluginCapability.VolumeExpansion.Type', {
  UNKNOWN: 0,
  ONLINE: 1,
  OFFLINE: 2,
});
const ServiceCapability = message('csi.v1.PluginCapability.Service', { type: oneOfNames(1, ServiceName) });
const ExpansionCapability = message('csi.v1.PluginCapability.VolumeExpansion', {
  type: oneOfNames(1, ExpansionName),
});
const PluginCapability = message('csi.v1.PluginCapability', {
  service: either('type', of(1, ServiceCapability)),
  volume_expansion: either('type', of(2, ExpansionCapability)),
});
const GetPluginCapabilitiesRequest = message('csi.v1.GetPluginCapabilitiesRequest', {});
const GetPluginCapabilitiesResponse = message('csi.v1.GetPluginCapabilitiesResponse', {
  capabilities: list(of(1, PluginCapability)),
});

const ProbeRequest = message('csi.v1.ProbeRequest', {});
const ProbeResponse = message('csi.v1.ProbeResponse', { ready: boolValue(1) });

/** Who a CSI driver is; served by every driver. */
export const CsiIdentity = service('csi.v1.Identity', {
  GetPluginInfo: unary(GetPluginInfoRequest, GetPluginInfoResponse),
  GetPluginCapabilities: unary(GetPluginCapabilitiesRequest, GetPluginCapabilitiesResponse),
  Probe: unary(ProbeRequest, ProbeResponse),
});
