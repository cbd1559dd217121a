import { ConfigMap, Namespace } from '../../api/generated/core-v1.ts';
import {
  ApiServerConfig,
  ClusterVersion,
  type ControlPlaneTopology,
  FeatureGate,
  Infrastructure,
  Network,
  type PlatformSpec,
  type PlatformStatus,
  Proxy,
  SINGLETON,
} from '../../api/openshift/config-v1.ts';
import { openshiftDefinitions } from '../../api/openshift/definitions.schema.ts';
import type { LabCluster } from '../../lab/index.ts';
import { printYaml } from '../../object/yaml.ts';

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
}

/** Of the ConfigMap in `openshift-config`, as installers call it. */
const CLOUD_CONFIG = 'cloud-provider-config';
const NAMESPACES = ['openshift-config', 'openshift-config-managed', 'openshift-cloud-credential-operator'];
/** Any that is one: nothing in a lab reports to anybody. */
const CLUSTER_ID = '00000000-0000-4000-8000-000000000000';
const FORCE = { force: true } as const;

/**
 * Makes a cluster of the lab look to operators like one of OpenShift: its kinds, its namespaces, and the objects that say
 * what it runs on. Can be done again, with other facts.
 */
export async function becomeOpenShift(
  cluster: Pick<LabCluster, 'client' | 'apply'>,
  facts: OpenShiftFacts,
): Promise<void> {
  const { client } = cluster;
  await cluster.apply(
    openshiftDefinitions()
      .map((definition) => `---\n${printYaml(definition)}`)
      .join(''),
  );
  for (const name of NAMESPACES) await client.apply(Namespace, { metadata: { name } }, FORCE);
  await describePlatform(cluster, facts);
  const { version, enabledGates = [] } = facts;
  const release = { metadata: { name: 'version' } };
  await client.apply(ClusterVersion, { ...release, spec: { clusterID: CLUSTER_ID } }, FORCE);
  const desired = { version, image: `lab.invalid/release:${version}` };
  await client.applyStatus(ClusterVersion, { ...release, status: { desired, history: [] } }, FORCE);
  const one = { metadata: SINGLETON };
  await client.apply(FeatureGate, { ...one, spec: { featureSet: '' } }, FORCE);
  const gates = { version, enabled: enabledGates.map((name) => ({ name })), disabled: [] };
  await client.applyStatus(FeatureGate, { ...one, status: { featureGates: [gates] } }, FORCE);
  await client.apply(Proxy, { ...one, spec: {} }, FORCE);
  await client.apply(Network, { ...one, spec: { serviceNetwork: ['172.30.0.0/16'] } }, FORCE);
  await client.apply(ApiServerConfig, { ...one, spec: {} }, FORCE);
}

async function describePlatform({ client }: Pick<LabCluster, 'client'>, facts: OpenShiftFacts): Promise<void> {
  const { infrastructureName, platformSpec, platformStatus, topology = 'HighlyAvailable', cloudConfig } = facts;
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
  const status = {
    infrastructureName,
    platformStatus,
    controlPlaneTopology: topology,
    infrastructureTopology: topology === 'SingleReplica' ? topology : ('HighlyAvailable' as const),
  };
  await client.applyStatus(Infrastructure, { ...infra, status }, FORCE);
}
