import type { Strategy } from '../registry/resource.ts';
import { admissionPolicyStrategy } from './admission-policies.ts';
import { autoscalerStrategy, autoscalerV1Strategy } from './autoscaling.ts';
import { certificateRequestStrategy } from './certificates.ts';
import { configMapStrategy, secretStrategy, serviceAccountStrategy } from './configuration.ts';
import { endpointSliceStrategy, endpointsStrategy } from './endpoints.ts';
import { coreEventStrategy, newEventStrategy } from './events.ts';
import { cronJobStrategy, jobStrategy } from './jobs.ts';
import { namespaceStrategy } from './namespaces.ts';
import { ingressClassStrategy, ingressStrategy, networkPolicyStrategy } from './networking.ts';
import { nodeStrategy } from './nodes.ts';
import type { FindPriority } from './pod-admission.ts';
import { podStrategy } from './pods.ts';
import { limitRangeStrategy, resourceQuotaStrategy } from './quotas.ts';
import { clusterRoleBindingStrategy, clusterRoleStrategy, roleBindingStrategy, roleStrategy } from './rbac.ts';
import type { ServicePools } from './service-addresses.ts';
import { serviceStrategy } from './services.ts';
import {
  apiServiceStrategy,
  flowSchemaStrategy,
  leaseStrategy,
  podDisruptionBudgetStrategy,
  priorityClassStrategy,
  priorityLevelStrategy,
  runtimeClassStrategy,
} from './small-kinds.ts';
import { statefulSetStrategy } from './stateful-sets.ts';
import {
  csiDriverStrategy,
  csiNodeStrategy,
  csiStorageCapacityStrategy,
  storageClassStrategy,
  volumeAttachmentStrategy,
  volumeAttributesClassStrategy,
} from './storage.ts';
import { persistentVolumeClaimStrategy, persistentVolumeStrategy } from './volumes.ts';
import { webhookStrategy } from './webhooks.ts';
import {
  controllerRevisionStrategy,
  daemonSetStrategy,
  deploymentStrategy,
  podTemplateStrategy,
  replicaSetStrategy,
  replicationControllerStrategy,
} from './workloads.ts';

/** What strategies need from the server around them. */
export interface StrategyDeps extends ServicePools {
  /** Looks up PriorityClasses; left out, only those of the system are known. */
  readonly findPriority?: FindPriority;
}

const ADMISSION = 'admissionregistration.k8s.io';

type MakeStrategy = (deps: StrategyDeps) => Strategy;

const STRATEGIES: ReadonlyMap<string, MakeStrategy> = new Map<string, MakeStrategy>([
  ['/Namespace', namespaceStrategy],
  ['/ConfigMap', configMapStrategy],
  ['/Secret', secretStrategy],
  ['/ServiceAccount', serviceAccountStrategy],
  ['/Event', coreEventStrategy],
  ['/Node', nodeStrategy],
  ['/Pod', ({ findPriority }) => podStrategy(findPriority ?? (() => undefined))],
  ['/Service', serviceStrategy],
  ['/Endpoints', endpointsStrategy],
  ['/PersistentVolume', persistentVolumeStrategy],
  ['/PersistentVolumeClaim', persistentVolumeClaimStrategy],
  ['/LimitRange', limitRangeStrategy],
  ['/ResourceQuota', resourceQuotaStrategy],
  ['/ReplicationController', replicationControllerStrategy],
  ['/PodTemplate', podTemplateStrategy],
  ['apps/Deployment', deploymentStrategy],
  ['apps/DaemonSet', daemonSetStrategy],
  ['apps/StatefulSet', statefulSetStrategy],
  ['apps/ReplicaSet', replicaSetStrategy],
  ['apps/ControllerRevision', controllerRevisionStrategy],
  ['batch/Job', jobStrategy],
  ['batch/CronJob', cronJobStrategy],
  ['coordination.k8s.io/Lease', leaseStrategy],
  ['events.k8s.io/Event', newEventStrategy],
  ['rbac.authorization.k8s.io/Role', roleStrategy],
  ['rbac.authorization.k8s.io/ClusterRole', clusterRoleStrategy],
  ['rbac.authorization.k8s.io/RoleBinding', roleBindingStrategy],
  ['rbac.authorization.k8s.io/ClusterRoleBinding', clusterRoleBindingStrategy],
  ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map(
    (kind) => [`${ADMISSION}/${kind}`, () => webhookStrategy(`admissionregistration.v1.${kind}`)] as const,
  ),
  ...[
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
  ].map((kind) => [`${ADMISSION}/${kind}`, () => admissionPolicyStrategy(kind)] as const),
  ['storage.k8s.io/StorageClass', storageClassStrategy],
  ['storage.k8s.io/CSIDriver', csiDriverStrategy],
  ['storage.k8s.io/CSINode', csiNodeStrategy],
  ['storage.k8s.io/VolumeAttachment', volumeAttachmentStrategy],
  ['storage.k8s.io/CSIStorageCapacity', csiStorageCapacityStrategy],
  ['storage.k8s.io/VolumeAttributesClass', volumeAttributesClassStrategy],
  ['policy/PodDisruptionBudget', podDisruptionBudgetStrategy],
  ['networking.k8s.io/NetworkPolicy', networkPolicyStrategy],
  ['networking.k8s.io/Ingress', ingressStrategy],
  ['networking.k8s.io/IngressClass', ingressClassStrategy],
  ['discovery.k8s.io/EndpointSlice', endpointSliceStrategy],
  ['scheduling.k8s.io/PriorityClass', priorityClassStrategy],
  ['certificates.k8s.io/CertificateSigningRequest', certificateRequestStrategy],
  ['autoscaling/HorizontalPodAutoscaler', autoscalerStrategy],
  ['node.k8s.io/RuntimeClass', runtimeClassStrategy],
  ['flowcontrol.apiserver.k8s.io/FlowSchema', flowSchemaStrategy],
  ['flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration', priorityLevelStrategy],
  ['apiregistration.k8s.io/APIService', apiServiceStrategy],
]);

/** Kinds nobody wrote rules for are kept as they come. */
const PLAIN: Strategy = { tracksGeneration: false, allowsUnconditionalUpdate: true };

/** The strategy of a built-in kind (§19). `version` matters only where two versions differ in their fields. */
export function strategyOf(group: string, kind: string, deps: StrategyDeps, version = ''): Strategy {
  if (group === 'autoscaling' && version === 'v1') return autoscalerV1Strategy();
  return STRATEGIES.get(`${group}/${kind}`)?.(deps) ?? PLAIN;
}
