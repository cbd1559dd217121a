import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import {
  ControllerRevision,
  type DaemonSet,
  type Deployment,
  ReplicaSet,
} from '../../src/api/generated/apps-v1.ts';
import { ConfigMap, Node, Pod, Secret } from '../../src/api/generated/core-v1.ts';
import { type Kind, type KubeObject, keyOf } from '../../src/api/object.ts';
import { ClusterOperator, Infrastructure, SINGLETON } from '../../src/api/openshift/config-v1.ts';
import { APPLIED_KINDS } from '../../src/cloud-operator/apply/applier.ts';
import { configSources } from '../../src/cloud-operator/apply/config-hash.ts';
import { composeContext } from '../../src/cloud-operator/config/compose.ts';
import { featureGates } from '../../src/cloud-operator/config/feature-gates.ts';
import { MANAGED_BY } from '../../src/cloud-operator/operator/operands.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { tlsFromCluster } from '../../src/kube/serving/tls-profile.ts';
import { adminClient } from '../support/admin-client.ts';
import { eventually } from '../support/ccm-oracle-story.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { becomeOpenShift, describeCluster, hasCorpus, produceSecret } from '../support/operator-oracle-cluster.ts';
import { OperatorInstallation } from '../support/operator-oracle-installation.ts';
import { PLATFORMS, type PlatformStory, VERSIONS } from '../support/operator-oracle-platforms.ts';

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver'),
  needsOracle('kube-controller-manager'),
  needsOracle('kubectl'),
);

type Workload = Deployment | DaemonSet;

const isWorkload = (object: KubeObject): object is Workload => ['Deployment', 'DaemonSet'].includes(object.kind);

/** There is one node. */
const podsOf = (operands: readonly KubeObject[]): number =>
  operands.filter(isWorkload).reduce((sum, { spec }) => sum + ('replicas' in spec ? (spec.replicas ?? 1) : 1), 0);

const kindOf = ({ kind }: KubeObject): Kind => {
  const found = APPLIED_KINDS.find((one) => one.kind === kind);
  assert.ok(found !== undefined, kind);
  return found;
};

/** The controllers of workloads are real, so that they say what they take for a change; nobody runs pods. */
describe('a cluster of the operator of the payload, on a real Kubernetes', needs, () => {
  const parts = new AsyncDisposableStack();
  let cluster: ControlPlane;
  let client: KubeClient;
  let installation: OperatorInstallation;
  before(async () => {
    cluster = parts.use(await startKubernetes({ controllerManager: true }));
    await becomeOpenShift(cluster, hasCorpus ? 'theirs' : 'ours');
    client = await adminClient(parts, cluster.admin);
    installation = await OperatorInstallation.apply({ cluster, client });
    await client.create(Node, { metadata: { name: 'n1', labels: { 'kubernetes.io/os': 'linux' } }, spec: {} });
  });
  after(() => parts.disposeAsync());

  const namespace = 'openshift-cloud-controller-manager';

  /** By R38: of everything that the pods of a workload read. */
  async function configHash({ spec }: Workload): Promise<string> {
    const { configMaps, secrets } = configSources(spec.template);
    const dataOf = async (kind: typeof ConfigMap | typeof Secret, names: readonly string[]) => {
      const entries: [string, unknown][] = [];
      for (const name of names.toSorted()) {
        const { data } = await client.live.get<ConfigMap | Secret, unknown>(kind, { namespace, name });
        entries.push([
          name,
          Object.fromEntries(Object.entries(data ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))),
        ]);
      }
      return Object.fromEntries(entries);
    };
    const text = JSON.stringify({
      configMaps: await dataOf(ConfigMap, configMaps),
      secrets: await dataOf(Secret, secrets),
    });
    return createHash('sha256').update(text).digest('hex');
  }

  /** What upstream writes of an operand (R38–R41): no label of ours, and another hash of the spec. */
  async function asUpstream(operand: KubeObject): Promise<KubeObject> {
    if (!isWorkload(operand)) return operand;
    const { spec, metadata } = operand;
    const annotations = {
      ...metadata.annotations,
      'operator.openshift.io/generation': '1',
      'operator.openshift.io/spec-hash': createHash('sha256').update(JSON.stringify(spec)).digest('hex'),
    };
    const { template } = spec;
    const hash = { 'operator.openshift.io/config-hash': await configHash(operand) };
    const templateMetadata = {
      ...template.metadata,
      annotations: { ...template.metadata?.annotations, ...hash },
    };
    const written = {
      ...operand,
      metadata: { ...metadata, annotations },
      spec: { ...spec, template: { ...template, metadata: templateMetadata } },
    };
    return written;
  }

  /** Both ConfigMaps that pods mount, as config-sync makes them. */
  async function syncConfig(): Promise<void> {
    await using sync = await installation.start(VERSIONS[0], { only: ['cloud-config-sync'] });
    for (const name of ['cloud-conf', 'ccm-trusted-ca']) {
      const isThere = async () => (await client.live.find(ConfigMap, { namespace, name })) !== undefined;
      await eventually(isThere, `${name} is there: ${sync.log}`);
    }
    assert.deepEqual(await sync.stop(), [0]);
  }

  async function deployAsUpstream(told: PlatformStory, images: Readonly<Record<string, string>>) {
    const infra = await client.live.get(Infrastructure, SINGLETON);
    const context = composeContext({
      infra,
      proxy: undefined,
      images: new Map(Object.entries(images)),
      gates: featureGates(told.gates ?? []),
      tls: tlsFromCluster(undefined).settings,
      managedNamespace: namespace,
    });
    const operands = installation.registry.resolve(infra)?.getResources(context) ?? [];
    assert.equal(operands.length, told.objects);
    for (const operand of operands) await client.create(kindOf(operand), await asUpstream(operand));
    return operands;
  }

  /** What runs, and from which templates; the order of the fields counts, too. */
  async function running(): Promise<string> {
    const texts: string[] = [];
    for (const kind of [ReplicaSet, ControllerRevision, Pod] as const) {
      const { items } = await client.live.list<KubeObject, unknown>(kind, { namespace });
      for (const { metadata, ...rest } of items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
        const { spec, data } = rest as { spec?: { template?: unknown }; data?: unknown };
        texts.push(JSON.stringify([kind.kind, metadata.name, metadata.uid, spec?.template ?? data ?? spec]));
      }
    }
    return texts.join('\n');
  }

  const templates = async (operands: readonly KubeObject[]) => {
    const found = await Promise.all(
      operands.filter(isWorkload).map((one) => client.live.get<KubeObject, unknown>(kindOf(one), keyOf(one))),
    );
    return found.map((one) => JSON.stringify((one as Workload).spec.template));
  };

  const isTakenOver = async (operands: readonly KubeObject[]) => {
    const found = await Promise.all(operands.map((one) => client.live.find(kindOf(one), keyOf(one))));
    return found.every((one) => one?.metadata.labels?.[MANAGED_BY] === 'cloud-controller-manager');
  };

  async function clear(operands: readonly KubeObject[]): Promise<void> {
    for (const operand of operands) await client.delete(kindOf(operand), keyOf(operand));
    for (const name of ['cloud-conf', 'ccm-trusted-ca']) await client.delete(ConfigMap, { namespace, name });
    await client.delete(ClusterOperator, { name: 'cloud-controller-manager' });
    await eventually(async () => (await running()) === '', 'the garbage collector has taken everything away');
  }

  for (const told of PLATFORMS) {
    it(`operator/R38, operator/R41: on ${told.name} is taken over without a restart of any pod`, async (t) => {
      await describeCluster(client, { ...told, versions: VERSIONS });
      for (const name of told.secrets ?? []) await produceSecret(client, namespace, name);
      await syncConfig();
      const idle = await installation.start(VERSIONS[0], { only: [] });
      const operands = await deployAsUpstream(told, idle.images);
      const wanted = podsOf(operands);
      const hasPods = async () => (await client.live.list(Pod, { namespace })).items.length === wanted;
      await eventually(hasPods, `there are ${wanted} pods`);
      const before = { running: await running(), templates: await templates(operands) };
      await using programs = await installation.start(VERSIONS[0]);
      await eventually(() => isTakenOver(operands), 'every operand is ours');
      assert.deepEqual(await programs.stop(), [0, 0]);
      await isQuiet(operands);
      const now = { running: await running(), templates: await templates(operands) };
      assert.deepEqual(now, before);
      t.diagnostic(`${before.running.split('\n').length} objects of pods and their templates`);
      await clear(operands);
    });
  }

  /** The controllers of workloads have seen what was written. */
  async function isQuiet(operands: readonly KubeObject[]): Promise<void> {
    for (const operand of operands.filter(isWorkload)) {
      await eventually(async () => {
        const found = await client.live.get<KubeObject, unknown>(kindOf(operand), keyOf(operand));
        const { metadata, status } = found as Workload;
        return status?.observedGeneration === metadata.generation;
      }, `${operand.metadata.name} was looked at`);
    }
  }
});
