/** The controller runtime, for users of the package (`slipway/kube`). Inside the project, files are imported by name. */
export { type Clock, SystemClock } from '../base/clock.ts';
export { retryError, SlipwayError, terminalError, userError } from '../base/errors.ts';
export { createLog, type Log, type LogFields, type LogLevel, type LogOptions, SILENT_LOG } from '../base/log.ts';
export {
  mirrorCondition,
  orderV1beta2,
  setOperatorConditions,
  setV1beta1Condition,
  summarizeConditions,
  summarizeOperator,
} from '../object/condition-dialects.ts';
export {
  type ConditionFields,
  findCondition,
  isReady,
  isTrue,
  readyFalse,
  readyTrue,
  readyUnknown,
  removeCondition,
  setCondition,
  stamp,
} from '../object/conditions.ts';
export { type FieldError, invalid as invalidField, required as requiredField } from '../object/field-error.ts';
export { mutable } from '../object/mutable.ts';
export { childName, nameHash } from '../object/name-hash.ts';
export {
  controllerReferenceOf,
  hasControllerReference,
  isControlledBy,
  ownedBy,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from '../object/owner-references.ts';
export { semanticEqual } from '../object/semantic-equality.ts';
export { applyObject } from './apply/apply-object.ts';
export { type ApplySetOptions, type ApplySetResult, applySet } from './apply/apply-set.ts';
export { mixedOwnership } from './apply/mixed-ownership.ts';
export { onceEvery } from './apply/once-every.ts';
export { type Patcher, patcher } from './apply/patcher.ts';
export { until, untilCached } from './apply/until.ts';
export { withFinalizer } from './apply/with-finalizer.ts';
export type { Cache, Informer, KindCacheOptions, ObjectEvent, ObjectHandler } from './cache/cache.ts';
export { createCache } from './cache/create-cache.ts';
export {
  ApiError,
  isAlreadyExists,
  isApplyConflict,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isLeadershipLost,
  isNetwork,
  isNoMatch,
  isNotFound,
  isServiceUnavailable,
  isTimeout,
  isTooManyRequests,
  isUnauthorized,
  LeadershipLost,
  NetworkError,
} from './client/api-error.ts';
export { dryRunClient, namespacedClient, strictClient } from './client/client-wrappers.ts';
export { retryOnConflict } from './client/conflict-retry.ts';
export { type ClientOptions, createClient } from './client/create-client.ts';
export { createOrPatch, createOrUpdate } from './client/create-or-update.ts';
export type { KubeClient, LiveReader, Patch, WatchEvent } from './client/kube-client.ts';
export { jsonPatch, mergeFrom } from './client/patches.ts';
export { createRestMapper, type RestMapper } from './client/rest-mapper.ts';
export { fromClientNode } from './config/client-node-access.ts';
export type { ClusterAccess, Credentials } from './config/cluster-access.ts';
export { credentialsOf } from './config/credential-parts.ts';
export { accessFromObject, type ExplicitAccess } from './config/explicit-access.ts';
export { type KubeconfigOptions, loadKubeconfig } from './config/kubeconfig.ts';
export { rateLimited } from './config/rate-limit.ts';
export type { LeaderElectionConfig, RuntimeConfig } from './config/runtime-config.ts';
export { Channel, type ChannelSource } from './controller/channel.ts';
export { type Controller, controllerFor, controllerOf } from './controller/controller.ts';
export {
  and,
  annotationChanged,
  byType,
  generationChanged,
  labelChanged,
  labelMatches,
  not,
  or,
  type Predicate,
  resourceVersionChanged,
} from './controller/predicates.ts';
export {
  after,
  DONE,
  type ReconcileContext,
  type ReconcileKey,
  type Reconciler,
  type Result,
} from './controller/reconcile.ts';
export { LEADER_PROFILES } from './election/election-timing.ts';
export { createEventRecorder, type EventRecorderOptions } from './events/create-event-recorder.ts';
export type { EventRecorder } from './events/event-recorder.ts';
export { createCluster } from './manager/cluster.ts';
export { createManager, type Manager, type ManagerOptions } from './manager/create-manager.ts';
export { ofProcess } from './manager/node-process.ts';
export { type Program, runProgram } from './manager/run-program.ts';
export type { Runnable } from './manager/runnable.ts';
export { type Metrics, PrometheusMetrics } from './metrics/metrics.ts';
export { findTracer, openTelemetryTracer, type Tracer } from './metrics/tracing.ts';
export { AuditLog, audited, compareWithRules } from './rbac/audit.ts';
export { roleFor } from './rbac/component-roles.ts';
export { type ManifestOptions, manifests, printManifests } from './rbac/manifests.ts';
export { type Need, needs } from './rbac/need.ts';
export { certificateNeeds } from './rbac/runtime-needs.ts';
export { certificateDirectory, selfSignedCertificate } from './serving/certificate-source.ts';
export { connect } from './transport/connection.ts';
export { retrying } from './transport/retrying.ts';
export type { Connection, Transport, TransportRequest, TransportResponse } from './transport/transport.ts';
export { addWebhooks } from './webhook/add-webhooks.ts';
export { allowed, denied, invalid, patched } from './webhook/admission-result.ts';
export { CertificateRotation } from './webhook/certificate-rotation.ts';
export { spoke } from './webhook/conversion.ts';
export { SecretCertificates } from './webhook/secret-certificates.ts';
export { webhookConfigurations, withConversion } from './webhook/webhook-configurations.ts';
export { WebhookServer } from './webhook/webhook-server.ts';
export { Webhooks } from './webhook/webhooks.ts';
