import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { ConfigMap, Secret } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { Kind, KubeObject } from '../../src/api/object.ts';
import {
  ApiServerConfig,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Network,
  Proxy,
  SINGLETON,
} from '../../src/api/openshift/config-v1.ts';
import { openshiftDefinitions } from '../../src/api/openshift/definitions.schema.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { printYaml } from '../../src/object/yaml.ts';
import { kubectl } from './kubectl.ts';

/** The definitions of OpenShift's kinds; they are not part of this repository. */
const CORPUS = join(import.meta.dirname, '../../../shared/crds/openshift');
const FILES = [
  '00_cluster-version-operator_01_clusteroperators.crd.yaml',
  '00_cluster-version-operator_01_clusterversions.crd.yaml',
  '03_config-operator_01_proxies.crd.yaml',
  '10_config-operator_01_apiservers.crd.yaml',
  '10_config-operator_01_featuregates.crd.yaml',
  '10_config-operator_01_infrastructures.crd.yaml',
  '10_config-operator_01_networks.crd.yaml',
  'cloudcredential_v1_credentialsrequest_crd.yaml',
];

/** Whether OpenShift's own definitions are on this machine. */
export const hasCorpus = existsSync(CORPUS);

/** Namespaces that every cluster of OpenShift has, and that the operator does not bring. */
const NAMESPACES = ['openshift-config', 'openshift-config-managed', 'openshift-cloud-credential-operator'];

export const stream = (objects: readonly KubeObject[]): string =>
  objects.map((one) => `---\n${printYaml(one)}`).join('');

/** What the operator for monitoring brings: kinds that take anything. */
const monitoring = (kind: string): KubeObject & JsonObject => {
  const plural = `${kind.toLowerCase()}s`;
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.monitoring.coreos.com` },
    spec: {
      group: 'monitoring.coreos.com',
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
};

/** Gives a cluster of Kubernetes the kinds and namespaces of OpenShift: `theirs` where they are here, else ours. */
export async function becomeOpenShift(
  cluster: Pick<ControlPlane, 'admin' | 'directory'>,
  whose: 'ours' | 'theirs',
): Promise<void> {
  const namespaces = NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  const ours = [...openshiftDefinitions(), monitoring('ServiceMonitor'), monitoring('PrometheusRule')];
  const read = () => Promise.all(FILES.map((name) => readFile(join(CORPUS, name), 'utf8')));
  const theirs = whose === 'theirs' ? await read() : [];
  for (const text of [stream([...namespaces, ...ours]), theirs.join('\n---\n')]) {
    if (text === '') continue;
    const file = join(cluster.directory, 'openshift.yaml');
    await writeFile(file, text);
    const done = await kubectl(cluster.admin, 'apply', '--server-side', '--force-conflicts', `--filename=${file}`);
    assert.equal(done.code, 0, done.stderr);
  }
  const waited = await kubectl(cluster.admin, 'wait', '--for=condition=Established', '--all', 'crd');
  assert.equal(waited.code, 0, waited.stderr);
}

/** What a cluster is, as its operators read it. */
export interface ClusterDescription {
  readonly platformSpec?: JsonObject;
  readonly platformStatus: JsonObject;
  /** In `openshift-config`, by key; none unless told. */
  readonly cloudConfig?: Readonly<Record<string, string>>;
  readonly gates?: readonly string[];
  /** Feature gates are known for each. */
  readonly versions: readonly string[];
  readonly topology?: string;
}

const USER_CONFIG = 'cloud-provider-config';
const NOBODY = '00000000-0000-4000-8000-000000000000';

/** Writes all that a cluster says of itself, in the place of what it said before. */
export async function describeCluster(client: KubeClient, described: ClusterDescription): Promise<void> {
  const { platformSpec, platformStatus, cloudConfig, gates = [], versions } = described;
  const { topology = 'HighlyAvailable' } = described;
  const topologies = { controlPlaneTopology: topology, infrastructureTopology: topology };
  if (cloudConfig !== undefined) {
    const metadata = { name: USER_CONFIG, namespace: 'openshift-config' };
    await renewed(client, ConfigMap, { metadata, data: cloudConfig });
  }
  const named = cloudConfig === undefined ? {} : { cloudConfig: { name: USER_CONFIG, key: 'cloud.conf' } };
  const [desired = ''] = versions;
  const release = { version: desired, image: `release.invalid/release:${desired}` };
  const all: readonly (readonly [Kind, JsonObject, JsonObject?])[] = [
    [
      Infrastructure,
      { metadata: SINGLETON, spec: { ...named, ...(platformSpec && { platformSpec }) } },
      { infrastructureName: 'cluster-x7k2p', platformStatus, ...topologies, cpuPartitioning: 'None' },
    ],
    [
      ClusterVersion,
      { metadata: { name: 'version' }, spec: { clusterID: NOBODY } },
      { desired: release, history: [], observedGeneration: 1, versionHash: 'x', availableUpdates: null },
    ],
    [
      FeatureGate,
      { metadata: SINGLETON, spec: {} },
      {
        featureGates: versions.map((version) => ({
          version,
          enabled: gates.map((name) => ({ name })),
          disabled: [],
        })),
      },
    ],
    [Proxy, { metadata: SINGLETON, spec: {} }],
    [Network, { metadata: SINGLETON, spec: { serviceNetwork: ['172.30.0.0/16'] } }],
    [ApiServerConfig, { metadata: SINGLETON, spec: {} }],
  ];
  for (const [kind, object, status] of all) await renewed(client, kind, object, status);
}

/** Deleted first: much of an Infrastructure cannot be changed. */
async function renewed(client: KubeClient, kind: Kind, object: JsonObject, status?: JsonObject): Promise<void> {
  const whole = object as JsonObject & KubeObject;
  await client.delete(kind, whole.metadata).catch(() => undefined);
  const made = await client.create(kind, whole);
  if (status !== undefined) await client.updateStatus(kind, { ...made, status } as KubeObject);
}

/** What the credentials operator would produce. */
export async function produceSecret(client: KubeClient, namespace: string, name: string): Promise<void> {
  const metadata = { namespace, name };
  if ((await client.live.find(Secret, metadata)) !== undefined) return;
  await client.create(Secret, { metadata, stringData: { key: 'value' } });
}
