import assert from 'node:assert/strict';
import { Deployment } from '../../src/api/generated/apps-v1.ts';
import { Namespace } from '../../src/api/generated/core-v1.ts';
import type { Kind, KubeObject } from '../../src/api/object.ts';
import {
  ClusterOperator,
  FeatureGate,
  Infrastructure,
  type PlatformStatus,
} from '../../src/api/openshift/config-v1.ts';
import { time } from '../../src/api/time.ts';
import { unstructured } from '../../src/api/unstructured.ts';
import type { CloudProviderDefinition } from '../../src/cloud-operator/definition.ts';
import { operatorNames } from '../../src/cloud-operator/names.ts';
import { type CloudOperatorSettings, cloudOperator } from '../../src/cloud-operator/operator/cloud-operator.ts';
import { operatorCache } from '../../src/cloud-operator/operator/watches.ts';
import { PLATFORMS } from '../../src/cloud-operator/platforms/index.ts';
import { ProviderRegistry } from '../../src/cloud-operator/registry/providers.ts';
import { defineCloudProvider } from '../../src/cloud-operator/render/cloud-provider.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { Channel } from '../../src/kube/controller/channel.ts';
import type { Manager } from '../../src/kube/manager/create-manager.ts';
import { type ManagerSetup, TestEnv, type TestEnvOptions } from '../../src/testing/test-env.ts';
import { OPENSHIFT_DEFINITIONS } from './openshift-kinds.ts';

export const VERSION = '4.21.0';
export const NAMES = operatorNames('replace', '');
export const OPERATOR_KEY = { name: NAMES.clusterOperator };
export const AWS_DEPLOYMENT = { namespace: NAMES.managedNamespace, name: 'aws-cloud-controller-manager' };

export const registryOf = (...more: readonly CloudProviderDefinition[]): ProviderRegistry =>
  new ProviderRegistry([...PLATFORMS, ...more].map((one) => defineCloudProvider(one)));

export function operatorSettings(overrides: Partial<CloudOperatorSettings> = {}): CloudOperatorSettings {
  const registry = registryOf();
  const images = Object.fromEntries(registry.imageKeys().map((key) => [key, `registry.example/${key}:1`]));
  return {
    names: NAMES,
    version: VERSION,
    gatesVersion: VERSION,
    providers: registry,
    prune: false,
    imagesChanged: new Channel(),
    tls: { minVersion: '', cipherSuites: '' },
    images: {
      file: 'images.json',
      keys: registry.imageKeys(),
      read: () => Promise.resolve(JSON.stringify(images)),
    },
    ...overrides,
  };
}

/** What a manager of the operator is made of. */
export function operatorManager(overrides: Partial<CloudOperatorSettings> = {}): ManagerSetup {
  const settings = operatorSettings(overrides);
  const { names, providers, provider } = settings;
  const kinds = providers.operandKinds(names.managedNamespace, { provider });
  const { namespaces, byKind } = operatorCache(names, kinds);
  return {
    namespaces,
    cache: { byKind, resyncMs: 600_000 },
    add: (manager) => [cloudOperator(manager, settings)],
  };
}

/** Writes an object and its status, over what is there. */
export async function put<T extends KubeObject & { readonly status?: unknown }>(
  client: KubeClient,
  kind: Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'scope'>,
  object: T,
): Promise<void> {
  const plain = unstructured(kind);
  const { name, namespace } = object.metadata;
  const { status, ...rest } = object;
  await client.delete(plain, { name, ...(namespace !== undefined && { namespace }) });
  const made = await client.create(plain, rest);
  if (status !== undefined) await client.updateStatus(plain, { ...made, status });
}

export const infrastructure = (
  platformStatus: PlatformStatus | undefined,
  more: Partial<NonNullable<Infrastructure['status']>> = {},
  spec: Infrastructure['spec'] = {},
): Infrastructure => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  spec,
  status: {
    infrastructureName: 'cluster-x7k2p',
    controlPlaneTopology: 'HighlyAvailable',
    ...(platformStatus !== undefined && { platformStatus }),
    ...more,
  },
});

export const featureGate = (...enabled: readonly string[]): FeatureGate => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'FeatureGate',
  metadata: { name: 'cluster' },
  status: { featureGates: [{ version: VERSION, enabled: enabled.map((name) => ({ name })), disabled: [] }] },
});

/** What config-sync says of its two controllers, under a manager of its own. */
export async function sayAuxiliary(
  { client, clock }: Pick<TestEnv, 'client' | 'clock'>,
  { status = 'True', message = '' }: { readonly status?: 'True' | 'False'; readonly message?: string } = {},
  name = NAMES.clusterOperator,
): Promise<void> {
  const other = status === 'True' ? 'False' : 'True';
  const lastTransitionTime = time(clock.now());
  const conditions = ['CloudConfigController', 'TrustedCABundleControllerController'].flatMap((stem) => [
    { type: `${stem}Available`, status, reason: 'AsExpected', message, lastTransitionTime },
    { type: `${stem}Degraded`, status: other, reason: 'AsExpected', message, lastTransitionTime } as const,
  ]);
  const found = await client.live.find(ClusterOperator, { name });
  if (found === undefined) {
    await client.create(ClusterOperator, {
      apiVersion: 'config.openshift.io/v1',
      kind: 'ClusterOperator',
      metadata: { name },
      spec: {},
    });
  }
  const config = { metadata: { name }, status: { conditions } };
  await client.applyStatus(ClusterOperator, config, { fieldManager: 'config-sync', force: true });
}

/** The API server of a cluster with its configuration kinds and both namespaces of the operator. */
export async function startCluster(options: TestEnvOptions = {}): Promise<TestEnv> {
  const env = await TestEnv.start({ ...options, crds: OPENSHIFT_DEFINITIONS });
  for (const name of [NAMES.managedNamespace, NAMES.operatorNamespace])
    await env.client.create(Namespace, { metadata: { name } });
  return env;
}

/** An AWS cluster where config-sync has done its work, with the operator at work. */
export async function startOnAws(overrides: Partial<CloudOperatorSettings> = {}) {
  const env = await startCluster();
  await put(env.client, Infrastructure, infrastructure({ type: 'AWS' }));
  await put(env.client, FeatureGate, featureGate());
  await sayAuxiliary(env);
  const manager: Manager = await env.startManager(operatorManager(overrides));
  return { env, manager };
}

/** `True/AsExpected: message` by type. */
export async function conditionsOf(env: TestEnv, key = OPERATOR_KEY): Promise<Readonly<Record<string, string>>> {
  const { status } = await env.client.live.get(ClusterOperator, key);
  return Object.fromEntries(
    (status?.conditions ?? [])
      .filter(({ type }) => !type.includes('Controller') || type === 'CloudControllerOwner')
      .map(({ type, status: is, reason = '', message = '' }) => [
        type,
        `${is}/${reason}${message === '' ? '' : `: ${message}`}`,
      ]),
  );
}

/** What the Deployment controller would say. */
export async function rollOut(env: TestEnv, key = AWS_DEPLOYMENT, unavailableReplicas = 0): Promise<void> {
  const found = await env.client.live.get(Deployment, key);
  const replicas = found.spec.replicas ?? 1;
  const { generation } = found.metadata;
  assert.ok(generation !== undefined);
  // The same each time: the status of its condition never changes.
  const now = time(new Date(0));
  await env.client.updateStatus(Deployment, {
    ...found,
    status: {
      observedGeneration: generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas - unavailableReplicas,
      availableReplicas: replicas - unavailableReplicas,
      ...(unavailableReplicas > 0 && { unavailableReplicas }),
      conditions: [
        {
          type: 'Progressing',
          status: 'True',
          reason: 'NewReplicaSetAvailable',
          message: 'done',
          lastUpdateTime: now,
          lastTransitionTime: now,
        },
      ],
    },
  });
}

export const AVAILABLE = {
  Available: `True/AsExpected: Cluster Cloud Controller Manager Operator is available at ${VERSION}`,
  Progressing: 'False/AsExpected',
  Degraded: 'False/AsExpected',
  Upgradeable: 'True/AsExpected',
} as const;
