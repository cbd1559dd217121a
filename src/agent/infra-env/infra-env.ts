import {
  DISCOVERY_IGNITION_OVERRIDE,
  INFRA_ENV_CONFIG_LABEL,
  OpenshiftAssistedConfig,
} from '../../api/agent/bootstrap-v1alpha2.ts';
import { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { CLUSTER_NAME_LABEL, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { ClusterDeployment } from '../../api/hive/hive-v1.ts';
import { apiVersionOf } from '../../api/object.ts';
import { setOwnerReference } from '../../object/owner-references.ts';

export const DEFAULT_ARCHITECTURE = 'x86_64';
/** Every InfraEnv has one: static network configuration reaches the ignition only this way (E2). */
const IMAGE_TYPE = 'full-iso';
const LONGEST_LABEL = 63;

export interface InfraEnvParts {
  readonly config: OpenshiftAssistedConfig;
  readonly deployment: ClusterDeployment;
  /** The one that the config names, or the placeholder (E4). */
  readonly pullSecret: string;
}

/** Pure: empty where the config names none, so that the placeholder is used (E4). */
export const pullSecretOf = ({ spec }: OpenshiftAssistedConfig): string => spec?.pullSecretRef?.name ?? '';

/** Copied as they are, where they say something. */
const COPIED = [
  'additionalNTPSources',
  'additionalTrustBundle',
  'nmStateConfigLabelSelector',
  'osImageVersion',
  'proxy',
  'sshAuthorizedKey',
] as const;

/** Pure: how hosts are brought to discovery (E2). Kernel arguments are for the installed node and are not in it. */
export function infraEnvSpec({ config, deployment, pullSecret }: InfraEnvParts): NonNullable<InfraEnv['spec']> {
  const { name, namespace = '' } = deployment.metadata;
  const { spec = {} } = config;
  const override = discoveryOverride(config).text;
  return {
    clusterRef: { name, namespace },
    ...Object.fromEntries(COPIED.filter((field) => isSaid(spec[field])).map((field) => [field, spec[field]])),
    cpuArchitecture: architectureIn(config),
    pullSecretRef: { name: pullSecret },
    imageType: IMAGE_TYPE,
    ...(override !== undefined && { ignitionConfigOverride: override }),
  };
}

const isSaid = (value: unknown): boolean =>
  value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

export const architectureIn = ({ spec }: OpenshiftAssistedConfig): string =>
  (spec?.cpuArchitecture ?? '') || DEFAULT_ARCHITECTURE;

/** Pure: the override for discovery, where it is JSON; what is none is left out (E3). */
export function discoveryOverride({ metadata: { annotations = {} } }: OpenshiftAssistedConfig): {
  readonly text?: string;
  readonly isIgnored: boolean;
} {
  const text = annotations[DISCOVERY_IGNITION_OVERRIDE];
  if (text === undefined) return { isIgnored: false };
  try {
    JSON.parse(text);
    return { text, isIgnored: false };
  } catch {
    return { isIgnored: text !== '' };
  }
}

/** Pure: the InfraEnv of one Machine, named like it (B10, E1). */
export function machineInfraEnv(parts: InfraEnvParts, machine: Machine): InfraEnv {
  const { config } = parts;
  const { name, namespace = '', labels: { [CLUSTER_NAME_LABEL]: cluster } = {} } = config.metadata;
  const bare: InfraEnv = {
    apiVersion: apiVersionOf(InfraEnv),
    kind: InfraEnv.kind,
    metadata: {
      name: machine.metadata.name,
      namespace,
      labels: {
        // The server would refuse the whole object for a longer one; the owner says the same.
        ...(name.length <= LONGEST_LABEL && { [INFRA_ENV_CONFIG_LABEL]: name }),
        ...(cluster !== undefined && { [CLUSTER_NAME_LABEL]: cluster }),
      },
    },
    spec: infraEnvSpec(parts),
  };
  const owned = setOwnerReference(config, bare, { kind: OpenshiftAssistedConfig });
  return setOwnerReference(machine, owned, { kind: Machine });
}

/**
 * Pure: what assisted-service refuses, for people; undefined when nothing. A version of the image is for hosts that
 * belong to no cluster yet, and ours always do (X14).
 */
export function infraEnvProblem({ spec }: OpenshiftAssistedConfig): string | undefined {
  const { osImageVersion = '' } = spec ?? {};
  if (osImageVersion === '') return undefined;
  return `spec.osImageVersion cannot be used, because the host belongs to a cluster and boots the image of its release; it is "${osImageVersion}"; make the config without it`;
}

/** Pure: an InfraEnv under the right name that brings hosts to another cluster; undefined when it is the right one. */
export function foreignCluster({ spec }: InfraEnv, { metadata }: ClusterDeployment): string | undefined {
  const ref = spec?.clusterRef;
  if (ref === undefined || (ref.name === metadata.name && ref.namespace === metadata.namespace)) return undefined;
  return `${ref.namespace}/${ref.name}`;
}
