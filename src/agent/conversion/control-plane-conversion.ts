import {
  type ObjectReference,
  OpenshiftAssistedControlPlaneV1alpha2,
} from '../../api/agent/controlplane-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { ContractReference, MachineDeletion, V1beta1Condition } from '../../api/cluster-api/core-v1beta2.ts';
import type { Condition } from '../../api/object.ts';
import { goDuration, parseDuration } from '../../base/duration.ts';
import { userError } from '../../base/errors.ts';
import { configSpecToSpoke, metadataToHub } from './config-conversion.ts';
import { lossless, type Ways } from './conversion-data.ts';

type HubSpec = OpenshiftAssistedControlPlane['spec'];
type HubStatus = NonNullable<OpenshiftAssistedControlPlane['status']>;
type SpokeSpec = OpenshiftAssistedControlPlaneV1alpha2['spec'];
type SpokeStatus = NonNullable<OpenshiftAssistedControlPlaneV1alpha2['status']>;

/** What the hub has when nobody said anything; v1alpha2 has no default, and a Machine without it is never as it should be (X8). */
const NODE_DELETION_SECONDS = 10;
/** What v1alpha2 referred to when it was current. */
const CONTRACT_VERSION = 'v1beta1';
const MOST_SECONDS = 2_147_483_647;

/** V4: whole seconds, as the hub counts them. */
function secondsOf(field: string, text: string): number {
  const seconds = Math.trunc(parseDuration(text) / 1000);
  if (seconds >= 0 && seconds <= MOST_SECONDS) return seconds;
  throw userError(
    'InvalidTimeout',
    `spec.machineTemplate.${field} is "${text}"; a timeout is 0 for none, or up to ${goDuration(MOST_SECONDS * 1000)}`,
  );
}

const durationOf = (seconds: number | undefined): string | undefined =>
  seconds === undefined ? undefined : goDuration(seconds * 1000);

function deletionOf(template: SpokeSpec['machineTemplate']): MachineDeletion {
  const { nodeDrainTimeout: drain, nodeVolumeDetachTimeout: detach, nodeDeletionTimeout: deletion } = template;
  return {
    ...(drain !== undefined && { nodeDrainTimeoutSeconds: secondsOf('nodeDrainTimeout', drain) }),
    ...(detach !== undefined && {
      nodeVolumeDetachTimeoutSeconds: secondsOf('nodeVolumeDetachTimeout', detach),
    }),
    nodeDeletionTimeoutSeconds:
      deletion === undefined ? NODE_DELETION_SECONDS : secondsOf('nodeDeletionTimeout', deletion),
  };
}

/** V4: the group counts, the version follows from labels. */
function referenceToHub(reference: ObjectReference = {}): ContractReference {
  const {
    namespace: _namespace,
    uid: _uid,
    resourceVersion: _version,
    fieldPath: _path,
    apiVersion = '',
    kind = '',
    name = '',
    ...others
  } = reference;
  const [group = '', version, ...rest] = apiVersion.split('/');
  const apiGroup = version !== undefined && rest.length === 0 ? group : '';
  return { ...others, apiGroup, kind, name };
}

/** Objects are converted before anybody has checked them. */
const NO_REFERENCE: ContractReference = { apiGroup: '', kind: '', name: '' };

/** V5. */
function referenceToSpoke(reference: ContractReference = NO_REFERENCE): ObjectReference {
  const { apiGroup, kind, name, ...others } = reference;
  return {
    ...others,
    ...(apiGroup !== '' && { apiVersion: `${apiGroup}/${CONTRACT_VERSION}` }),
    ...(kind !== '' && { kind }),
    ...(name !== '' && { name }),
  };
}

const NO_TEMPLATE: SpokeSpec['machineTemplate'] = { infrastructureRef: {} };

function templateToHub(template: SpokeSpec['machineTemplate'] = NO_TEMPLATE): HubSpec['machineTemplate'] {
  const {
    metadata,
    infrastructureRef,
    nodeDrainTimeout: _drain,
    nodeVolumeDetachTimeout: _detach,
    nodeDeletionTimeout: _deletion,
    ...others
  } = template;
  return {
    ...others,
    ...metadataToHub(metadata),
    infrastructureRef: referenceToHub(infrastructureRef),
    deletion: deletionOf(template),
  };
}

/** What only the place of the contract has is shown where v1alpha2 has it (X6). */
function templateToSpoke(template: HubSpec['machineTemplate'] = {}): SpokeSpec['machineTemplate'] {
  const { spec: alias, infrastructureRef = alias?.infrastructureRef, deletion = {}, ...others } = template;
  const drain = durationOf(deletion.nodeDrainTimeoutSeconds);
  const detach = durationOf(deletion.nodeVolumeDetachTimeoutSeconds);
  const removal = durationOf(deletion.nodeDeletionTimeoutSeconds);
  return {
    ...others,
    infrastructureRef: referenceToSpoke(infrastructureRef),
    ...(drain !== undefined && { nodeDrainTimeout: drain }),
    ...(detach !== undefined && { nodeVolumeDetachTimeout: detach }),
    ...(removal !== undefined && { nodeDeletionTimeout: removal }),
  };
}

const specToHub = ({ machineTemplate, ...others }: SpokeSpec): HubSpec => ({
  ...others,
  machineTemplate: templateToHub(machineTemplate),
});

function specToSpoke(spec: HubSpec): SpokeSpec {
  const { openshiftAssistedConfigSpec: config, machineTemplate, version: _version, ...others } = spec;
  return {
    ...others,
    machineTemplate: templateToSpoke(machineTemplate),
    ...(config !== undefined && { openshiftAssistedConfigSpec: configSpecToSpoke(config) }),
  };
}

/** V4. */
function conditionToHub({
  severity: _severity,
  reason = '',
  message = '',
  ...condition
}: V1beta1Condition): Condition {
  return { ...condition, reason: reason === '' ? 'Unknown' : reason, message };
}

/** V5. */
function conditionToSpoke({
  observedGeneration: _generation,
  message,
  ...condition
}: Condition): V1beta1Condition {
  return { ...condition, severity: 'Info', ...(message !== '' && { message }) };
}

/** V4. What v1alpha2 alone has is left out; so are zeros and empty texts, which v1alpha2 always has. */
function statusToHub(status: SpokeStatus): HubStatus {
  const {
    clusterDeploymentRef: _deployment,
    failureReason: _reason,
    failureMessage: _message,
    unavailableReplicas: _unavailable,
    ready: _ready,
    updatedReplicas: upToDateReplicas,
    conditions,
    selector,
    replicas,
    readyReplicas,
    version,
    distributionVersion,
    initialized,
    ...others
  } = status;
  const said = { selector, replicas, readyReplicas, upToDateReplicas, version, distributionVersion };
  return {
    ...others,
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => isSaying(value))),
    ...(conditions !== undefined && { conditions: conditions.map(conditionToHub) }),
    ...(initialized === true && { initialization: { controlPlaneInitialized: true } }),
  };
}

const isSaying = (value: string | number | undefined): boolean =>
  typeof value === 'number' ? value > 0 : (value ?? '') !== '';

/** V5. Counters and booleans are always there, as clients of v1alpha2 expect. */
function statusToSpoke(status: HubStatus, wanted: number): SpokeStatus {
  const {
    observedGeneration: _generation,
    conditions,
    initialization,
    replicas = 0,
    readyReplicas = 0,
    upToDateReplicas = 0,
    availableReplicas,
    ...others
  } = status;
  return {
    ...others,
    ...(conditions !== undefined && { conditions: conditions.map(conditionToSpoke) }),
    replicas,
    readyReplicas,
    updatedReplicas: upToDateReplicas,
    unavailableReplicas: availableReplicas === undefined ? 0 : Math.max(0, wanted - availableReplicas),
    initialized: initialization?.controlPlaneInitialized === true,
    ready: (conditions ?? []).some(({ type, status: state }) => type === 'Available' && state === 'True'),
  };
}

const WAYS: Ways<OpenshiftAssistedControlPlane, OpenshiftAssistedControlPlaneV1alpha2> = {
  toHub({ spec, status, ...others }) {
    const hub = status === undefined ? {} : statusToHub(status);
    return {
      ...others,
      ...(spec !== undefined && { spec: specToHub(spec) }),
      ...(Object.keys(hub).length > 0 && { status: hub }),
    };
  },
  toSpoke({ spec, status = {}, ...others }) {
    return {
      ...others,
      ...(spec !== undefined && { spec: specToSpoke(spec) }),
      status: statusToSpoke(status, spec?.replicas ?? 0),
    };
  },
};

/** OpenshiftAssistedControlPlane v1alpha2 and v1alpha3 (V3, V4, V5, X8). */
export const controlPlaneConversion = lossless(
  OpenshiftAssistedControlPlane,
  OpenshiftAssistedControlPlaneV1alpha2,
  WAYS,
);
