import type { ApiEndpoint, Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { mirrorCondition } from '../../../object/condition-dialects.ts';
import { type ConditionFields, isTrue } from '../../../object/conditions.ts';
import type { External } from './external-objects.ts';
import {
  conditionOf,
  endpointOf,
  failureDomainsOf,
  isControlPlaneInitialized,
  isInfrastructureProvisioned,
} from './provider-contract.ts';
import {
  AVAILABLE,
  condition,
  deleting,
  paused,
  summary,
  type Told,
  toldStatus,
  v1beta1,
} from './told-conditions.ts';

/** What the status of a Cluster is made of. */
export interface ClusterFacts {
  readonly infrastructure: External | undefined;
  readonly controlPlane: External | undefined;
  /** Machines that are not of the control plane. */
  readonly workers: readonly Machine[];
  readonly deletion?: { readonly reason: string; readonly message: string };
}

type Initialization = NonNullable<NonNullable<Cluster['status']>['initialization']>;

const isValid = ({ host = '', port = 0 }: ApiEndpoint = {}): boolean => host !== '' && port > 0;

/** Where the API server will be: whoever knows it first decides (S2). Undefined while nobody does, or it is known. */
export function newEndpoint(
  { spec }: Cluster,
  { infrastructure, controlPlane }: ClusterFacts,
): Required<ApiEndpoint> | undefined {
  if (isValid(spec?.controlPlaneEndpoint)) return undefined;
  const isProvisioned = infrastructure !== undefined && isInfrastructureProvisioned(infrastructure);
  const known = isProvisioned ? endpointOf(infrastructure) : undefined;
  return known ?? (controlPlane === undefined ? undefined : endpointOf(controlPlane));
}

/** What core says of a Cluster (S2, S3). Pure. */
export function desiredClusterStatus(
  cluster: Cluster,
  facts: ClusterFacts,
  now: Date,
): NonNullable<Cluster['status']> {
  const { status = {}, metadata } = cluster;
  const initialization = initializationOf(cluster, facts);
  const domains = facts.infrastructure === undefined ? [] : failureDomainsOf(facts.infrastructure);
  return {
    ...status,
    ...toldStatus(cluster, clusterConditions(initialization, facts), now),
    ...(Object.keys(initialization).length > 0 && { initialization }),
    ...(domains.length > 0 && { failureDomains: domains }),
    phase: phaseOf(cluster, initialization),
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
  };
}

/** What was once true stays so. */
function initializationOf(
  { spec, status }: Cluster,
  { infrastructure, controlPlane }: ClusterFacts,
): Initialization {
  const { infrastructureProvisioned, controlPlaneInitialized } = status?.initialization ?? {};
  const isProvisioned =
    infrastructureProvisioned === true ||
    spec?.infrastructureRef === undefined ||
    (infrastructure !== undefined && isInfrastructureProvisioned(infrastructure));
  const isInitialized =
    controlPlaneInitialized === true || (controlPlane !== undefined && isControlPlaneInitialized(controlPlane));
  return {
    ...(isProvisioned && { infrastructureProvisioned: true }),
    ...(isInitialized && { controlPlaneInitialized: true }),
  };
}

function phaseOf({ spec = {}, metadata }: Cluster, { infrastructureProvisioned }: Initialization): string {
  if (metadata.deletionTimestamp !== undefined) return 'Deleting';
  if (infrastructureProvisioned === true && isValid(spec.controlPlaneEndpoint)) return 'Provisioned';
  return spec.infrastructureRef === undefined && spec.controlPlaneRef === undefined ? 'Pending' : 'Provisioning';
}

function clusterConditions(initialization: Initialization, facts: ClusterFacts): Told {
  const isProvisioned = initialization.infrastructureProvisioned === true;
  const isInitialized = initialization.controlPlaneInitialized === true;
  const infrastructure = infrastructureReady(facts.infrastructure, isProvisioned);
  const controlPlane = mirrorCondition(
    facts.controlPlane === undefined ? undefined : conditionOf(facts.controlPlane, 'Available'),
    'ControlPlaneAvailable',
    facts.controlPlane?.object.kind ?? 'the control plane',
  );
  const workers = workersAvailable(facts.workers);
  const deletion = deleting(facts.deletion?.reason, facts.deletion?.message);
  const available = summary('Available', [infrastructure, controlPlane, workers, deletion], AVAILABLE);
  const isControlPlaneReady = controlPlane.status === 'True';
  return {
    conditions: [
      available,
      infrastructure,
      isInitialized
        ? condition('ControlPlaneInitialized', { status: 'True', reason: 'Initialized' })
        : condition('ControlPlaneInitialized', {
            status: 'False',
            reason: 'NotInitialized',
            message: 'Control plane not yet initialized',
          }),
      controlPlane,
      workers,
      deletion,
      paused(false),
    ],
    v1beta1: [
      v1beta1('Ready', isProvisioned && isControlPlaneReady, 'WaitingForControlPlane', controlPlane.message),
      v1beta1('InfrastructureReady', isProvisioned, 'WaitingForInfrastructure', infrastructure.message),
      v1beta1('ControlPlaneInitialized', isInitialized, 'WaitingForControlPlaneProviderInitialized'),
      v1beta1('ControlPlaneReady', isControlPlaneReady, 'WaitingForControlPlane', controlPlane.message),
    ],
  };
}

function infrastructureReady(infrastructure: External | undefined, isProvisioned: boolean): ConditionFields {
  const type = 'InfrastructureReady';
  const said = infrastructure === undefined ? undefined : conditionOf(infrastructure, 'Ready');
  if (said !== undefined) return mirrorCondition(said, type, infrastructure?.object.kind ?? '');
  if (isProvisioned) return condition(type, { status: 'True', reason: 'Ready' });
  return infrastructure === undefined
    ? condition(type, { status: 'False', reason: 'ObjectDoesNotExist', message: 'the object is not there yet' })
    : condition(type, { status: 'False', reason: 'NotReady', message: 'the infrastructure is not provisioned' });
}

function workersAvailable(workers: readonly Machine[]): ConditionFields {
  const type = 'WorkersAvailable';
  if (workers.length === 0) return condition(type, { status: 'True', reason: 'NoWorkers' });
  const missing = workers.filter((machine) => !isTrue(machine, 'Available'));
  if (missing.length === 0) return condition(type, { status: 'True', reason: 'Available' });
  const message = `${missing.length} of ${workers.length} worker Machines are not available`;
  return condition(type, { status: 'False', reason: 'NotAvailable', message });
}
