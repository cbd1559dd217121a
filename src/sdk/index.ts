/**
 * What authors of provider and hardware definitions import (`slipway/sdk`): how a cloud is described, what its
 * capabilities are asked and may answer, and how to say what a failure means.
 */
export type { Clock } from '../base/clock.ts';
export { type Disposition, retryError, SlipwayError, terminalError, userError } from '../base/errors.ts';
export type { Log, LogFields } from '../base/log.ts';
export type {
  Absent,
  Call,
  CallContext,
  Creation,
  ListQuery,
  Page,
  Pending,
  Tags,
} from './capabilities/call.ts';
export {
  CAPABILITY_METHODS,
  CAPABILITY_NAMES,
  type Capabilities,
  type CapabilityName,
} from './capabilities/capabilities.ts';
export type { Credentials, CredentialsFacts, CredentialsRequest, SecretData } from './capabilities/credentials.ts';
export type { Dns, DnsFacts, DnsZone, RecordSet, RecordType } from './capabilities/dns.ts';
export type { Image, Images, ImagesFacts, NewImage } from './capabilities/images.ts';
export type {
  InstanceObservation,
  InstanceRef,
  Instances,
  InstancesFacts,
  NodeAddress,
  NodeAddressType,
  PresentInstance,
  UnmanagedInstance,
} from './capabilities/instances.ts';
export type {
  Backend,
  BalancerElsewhere,
  BalancerIngress,
  BalancerOutcome,
  BalancerPlan,
  BalancerPort,
  BalancerProtocol,
  BalancerRef,
  BalancerScope,
  LoadBalancers,
  LoadBalancersFacts,
  ReadyBalancer,
} from './capabilities/load-balancers.ts';
export type { Metadata, MetadataFacts } from './capabilities/metadata.ts';
export type { Network, Networks, NetworksFacts, NewNetwork } from './capabilities/networks.ts';
export type { Bucket, ObjectStore, ObjectStoreFacts } from './capabilities/object-store.ts';
export type { CloudRoute, RouteCreation, Routes, RoutesFacts } from './capabilities/routes.ts';
export type { NewSnapshot, Snapshot, Snapshots, SnapshotsFacts } from './capabilities/snapshots.ts';
export type {
  Attachment,
  DeviceHint,
  NewVolume,
  Volume,
  VolumeSource,
  Volumes,
  VolumesFacts,
} from './capabilities/volumes.ts';
export type { Zone, Zones, ZonesFacts } from './capabilities/zones.ts';
export {
  type ContractCase,
  type ContractOptions,
  type ContractResult,
  type ContractSuite,
  runContract,
} from './conformance/contract.ts';
export { type ProviderSubject } from './conformance/contract-subject.ts';
export {
  type InstancesSubject,
  instancesConformance,
  instancesSuite,
  type MadeInstance,
} from './conformance/instances-contract.ts';
export { loadBalancersConformance, loadBalancersSuite } from './conformance/load-balancers-contract.ts';
export { type LoadBalancersSubject, type ObservedBalancer } from './conformance/planned-balancer.ts';
export {
  type ForeignRoute,
  type RoutesSubject,
  type RouteTarget,
  routesConformance,
  routesSuite,
} from './conformance/routes-contract.ts';
export { type CaseContext, type ConformanceOptions, type TestFramework } from './conformance/test-framework.ts';
export { type ZonesSubject, zonesConformance, zonesSuite } from './conformance/zones-contract.ts';
export {
  type ConnectOptions,
  connectProvider,
  offlineProvider,
  type ProviderCall,
} from './provider/connect-provider.ts';
export type { ConnectedProvider } from './provider/connected-provider.ts';
export { defineProvider } from './provider/define-provider.ts';
export { DefinitionError, type DefinitionProblem, problemsOf } from './provider/definition-error.ts';
export {
  type CloudControllerFacts,
  type ConnectContext,
  type ConnectedClient,
  type ControllerAlias,
  isProviderDefinition,
  type ProviderDefinition,
  type ProviderIdFormat,
  type ProviderInput,
  type TagRules,
} from './provider/provider-definition.ts';
export {
  isProviderError,
  PROVIDER_ERRORS,
  ProviderError,
  type ProviderErrorKind,
  type ProviderErrorOptions,
  providerErrorKind,
} from './provider/provider-error.ts';
