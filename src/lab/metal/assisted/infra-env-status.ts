import { INFRA_ENV_LABEL, type InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import { time } from '../../../api/time.ts';
import { news, withConditions } from './assisted-conditions.ts';
import type { Delays } from './delays.ts';
import { eventsUrl, fileUrl, isoUrl, type ServiceAddress } from './service-urls.ts';

export type InfraEnvStatus = NonNullable<InfraEnv['status']>;

export interface InfraEnvFacts {
  readonly infraEnv: InfraEnv;
  /** The cluster it is for is not there, or not registered yet. */
  readonly isClusterMissing: boolean;
  readonly hasPullSecret: boolean;
  readonly isLate: boolean;
  readonly address: ServiceAddress;
  /** Without one there are no images, but still ignition. */
  readonly hasImageService: boolean;
  readonly delays: Delays;
  readonly now: Date;
}

export interface InfraEnvStep {
  readonly status: InfraEnvStatus;
  readonly waitMs?: number;
}

/** Pure: what is said about an InfraEnv (S16). */
export function infraEnvStep(facts: InfraEnvFacts): InfraEnvStep {
  const { infraEnv, isClusterMissing, hasPullSecret, isLate, delays, now } = facts;
  const { status = {}, metadata } = infraEnv;
  const told = (...condition: Parameters<typeof news>): InfraEnvStatus => ({
    ...status,
    conditions: withConditions(status.conditions ?? [], [news(...condition)], now),
  });
  if (isClusterMissing) {
    const what = 'The cluster that spec.clusterRef names is not there, or not registered yet';
    return { status: told('ImageCreated', 'Unknown', 'MissingClusterDeployment', what) };
  }
  if (!hasPullSecret) {
    const { name = '' } = infraEnv.spec?.pullSecretRef ?? {};
    const what = `The image was not made: there is no Secret ${name}; create it`;
    return { status: told('ImageCreated', 'False', 'ImageCreationError', what), waitMs: delays.pollMs };
  }
  if (isLate) return { status };
  const ageMs = now.getTime() - new Date(metadata.creationTimestamp ?? now).getTime();
  // Once it is made, it stays.
  if (status.debugInfo?.eventsURL === undefined && ageMs < delays.imageMs)
    return { status, waitMs: delays.imageMs - ageMs };
  return {
    status: { ...told('ImageCreated', 'True', 'InfraEnvAvailable', 'The image is there'), ...made(facts) },
  };
}

function made({ infraEnv, address, hasImageService, now }: InfraEnvFacts): InfraEnvStatus {
  return {
    createdTime: infraEnv.status?.createdTime ?? time(now),
    agentLabelSelector: { matchLabels: { [INFRA_ENV_LABEL]: infraEnv.metadata.name } },
    debugInfo: {
      eventsURL: eventsUrl(infraEnv, address),
      staticNetworkDownloadURL: fileUrl(infraEnv, 'static-network-config', address),
    },
    ...(hasImageService && {
      isoDownloadURL: isoUrl(infraEnv, address),
      bootArtifacts: { discoveryIgnitionURL: fileUrl(infraEnv, 'discovery.ign', address) },
    }),
  };
}
