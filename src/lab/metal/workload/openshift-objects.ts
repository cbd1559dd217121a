import { ConfigMap, Namespace } from '../../../api/generated/core-v1.ts';
import {
  ApiServerConfig,
  type ControlPlaneTopology,
  FeatureGate,
  Infrastructure,
  Network,
  type PlatformSpec,
  type PlatformStatus,
  Proxy,
  SINGLETON,
} from '../../../api/openshift/config-v1.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';

/** What a cluster of OpenShift says of itself. */
export interface OpenShiftFacts {
  readonly infrastructureName: string;
  readonly platformSpec?: PlatformSpec;
  readonly platformStatus: PlatformStatus;
  readonly topology?: ControlPlaneTopology;
  /** The cloud configuration that its administrator has written; without one there is none. */
  readonly cloudConfig?: string;
  readonly version: string;
  readonly enabledGates?: readonly string[];
  /** `<cluster>.<base domain>`: where its API is called `api` and `api-int`. Not said unless given. */
  readonly domain?: string;
}

/** Of the ConfigMap in `openshift-config`, as installers call it. */
const CLOUD_CONFIG = 'cloud-provider-config';
const NAMESPACES = ['openshift-config', 'openshift-config-managed', 'openshift-cloud-credential-operator'];
const FORCE = { force: true } as const;

/**
 * Writes the objects by which a cluster of OpenShift says what it runs on, all but its ClusterVersion. Its kinds must be
 * there. Can be done again, with other facts.
 */
export async function describeOpenShift(client: KubeClient, facts: OpenShiftFacts): Promise<void> {
  for (const name of NAMESPACES) await client.apply(Namespace, { metadata: { name } }, FORCE);
  await describePlatform(client, facts);
  const { version, enabledGates = [] } = facts;
  const one = { metadata: SINGLETON };
  await client.apply(FeatureGate, { ...one, spec: { featureSet: '' } }, FORCE);
  const gates = { version, enabled: enabledGates.map((name) => ({ name })), disabled: [] };
  await client.applyStatus(FeatureGate, { ...one, status: { featureGates: [gates] } }, FORCE);
  await client.apply(Proxy, { ...one, spec: {} }, FORCE);
  await client.apply(Network, { ...one, spec: { serviceNetwork: ['172.30.0.0/16'] } }, FORCE);
  await client.apply(ApiServerConfig, { ...one, spec: {} }, FORCE);
}

async function describePlatform(client: KubeClient, facts: OpenShiftFacts): Promise<void> {
  const { platformSpec, platformStatus, cloudConfig } = facts;
  if (cloudConfig !== undefined) {
    const metadata = { name: CLOUD_CONFIG, namespace: 'openshift-config' };
    await client.apply(ConfigMap, { metadata, data: { 'cloud.conf': cloudConfig } }, FORCE);
  }
  const infra = { metadata: SINGLETON };
  const spec = {
    ...(cloudConfig !== undefined && { cloudConfig: { name: CLOUD_CONFIG, key: 'cloud.conf' } }),
    // As installers do. Without any field, an apply that takes some away would leave null in the place of the spec.
    platformSpec: { type: platformStatus.type ?? '', ...platformSpec },
  };
  await client.apply(Infrastructure, { ...infra, spec }, FORCE);
  await client.applyStatus(Infrastructure, { ...infra, status: infrastructureStatus(facts) }, FORCE);
}

function infrastructureStatus(facts: OpenShiftFacts): NonNullable<Infrastructure['status']> {
  const { infrastructureName, platformStatus, topology = 'HighlyAvailable', domain } = facts;
  return {
    infrastructureName,
    platformStatus,
    controlPlaneTopology: topology,
    infrastructureTopology: topology === 'SingleReplica' ? topology : 'HighlyAvailable',
    ...(domain !== undefined && {
      apiServerURL: `https://api.${domain}:6443`,
      apiServerInternalURI: `https://api-int.${domain}:6443`,
    }),
  };
}
