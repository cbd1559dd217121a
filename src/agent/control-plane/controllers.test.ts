import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  adoptMachine,
  agentCrds,
  controlPlane,
  cpKey,
  FakeReleases,
  getControlPlane,
  listMachines,
  NAMESPACE,
  prepare,
  provider,
  readyAllMachines,
  setInstall,
  shownCondition,
} from '../../../test/support/agent-control-plane-world.ts';
import { completed, startWorkload } from '../../../test/support/workload-version.ts';
import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { ConfigMap, Secret } from '../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';
import { Metal3Machine } from '../../api/metal3/infrastructure-v1beta2.ts';
import { rulesFrom } from '../../kube/rbac/rules.ts';
import { expectExactRbac } from '../../testing/exact-rbac.ts';
import { TestEnv } from '../../testing/test-env.ts';
import { infrastructureReference } from '../machines/machine-objects.ts';
import { controlPlaneControllers } from './controllers.ts';

const REGISTRIES =
  '[[registry]]\nlocation = "registry.example"\n[[registry.mirror]]\nlocation = "mirror.example"\n';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the control-plane provider', () => {
  it('uses every right that it asks for, from the first object to the last', async () => {
    await using env = await TestEnv.start({ crds: agentCrds() });
    await using workload = await startWorkload(env);
    await workload.say({ desired: { version: '4.20.1', image: 'x' }, history: [completed('4.20.1')] });
    const { client } = env;
    await env.startManager({
      add: provider(new FakeReleases(), { connectWorkload: async () => workload.client }),
    });
    const config = { baseDomain: 'd', imageRegistryRef: { name: 'mirrors' } };
    const paused = { annotations: { 'cluster.x-k8s.io/paused': '' } };
    const object = await prepare(client, { metadata: paused, spec: { replicas: 3, config } });
    await prepare(client, {
      cluster: 'second',
      name: 'second-cp',
      spec: { config: { baseDomain: 'd' }, replicas: 0 },
    });
    await client.create(ConfigMap, {
      metadata: { namespace: NAMESPACE, name: 'mirrors' },
      data: { 'registries.conf': REGISTRIES },
    });
    await env.settle();
    const { apiVersion, kind } = object;
    const left = {
      namespace: NAMESPACE,
      name: 'ocp-cp-bbbbb',
      labels: { 'cluster.x-k8s.io/cluster-name': 'ocp' },
      ownerReferences: [{ apiVersion, kind, name: 'ocp-cp', uid: object.metadata.uid ?? '' }],
    };
    await client.create(OpenshiftAssistedConfig, {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
      kind: 'OpenshiftAssistedConfig',
      metadata: left,
      spec: { cpuArchitecture: 'arm64' },
    });
    await client.create(Metal3Machine, {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
      kind: 'Metal3Machine',
      metadata: { ...left, annotations: { 'cluster.x-k8s.io/cloned-from-name': 'masters' } },
      spec: {},
    } as Metal3Machine);
    await client.patch(OpenshiftAssistedControlPlane, cpKey, {
      type: 'merge',
      body: { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } },
    });
    await env.settle();
    const registries = { data: { 'registries.conf': REGISTRIES.replace('mirror.', 'another.') } };
    await client.patch(ConfigMap, { namespace: NAMESPACE, name: 'mirrors' }, { type: 'merge', body: registries });
    await env.advance(61_000);
    for (const machine of await listMachines(client)) await adoptMachine(client, machine);
    await readyAllMachines(client);
    await client.create(Secret, {
      metadata: { namespace: NAMESPACE, name: 'admin' },
      data: { kubeconfig: base64('k') },
    });
    const clusterMetadata = { clusterID: 'c', infraID: 'i', adminKubeconfigSecretRef: { name: 'admin' } };
    await setInstall(client, { debugInfo: { state: 'adding-hosts' } }, { clusterMetadata });
    await env.settle();
    assert.equal(shownCondition(await getControlPlane(client), 'Ready'), 'True/InfoReported');
    const patch = { spec: { clusterInstallRef: { name: 'wrong' } } };
    await client.patch(ClusterDeployment, cpKey, { type: 'merge', body: patch });
    await client.patch(OpenshiftAssistedControlPlane, cpKey, {
      type: 'merge',
      body: { spec: { distributionVersion: '4.20.2', replicas: 1 } },
    });
    await env.settle();
    const { items } = await client.live.list(ClusterImageSet);
    assert.equal(items.length, 2);
    await client.delete(OpenshiftAssistedControlPlane, cpKey);
    await env.advance(30_000);
    assert.equal(await client.live.find(OpenshiftAssistedControlPlane, cpKey), undefined);
    expectExactRbac(env);
  });

  it('asks for rights on the machines of the infrastructure that it is told of', () => {
    const infrastructure = [{ group: 'infrastructure.example.com', machines: 'boxes', templates: 'boxtemplates' }];
    const releases = new FakeReleases();
    const controllers = controlPlaneControllers({
      releases,
      connectWorkload: () => Promise.reject(),
      infrastructure,
    });
    const rules = rulesFrom(controllers.flatMap(({ needs }) => needs));
    assert.deepEqual(
      rules.filter(({ apiGroups }) => apiGroups.some((group) => group.startsWith('infrastructure.'))),
      [
        {
          apiGroups: ['infrastructure.example.com'],
          resources: ['boxes'],
          verbs: ['get', 'list', 'watch', 'create', 'delete'],
        },
        { apiGroups: ['infrastructure.example.com'], resources: ['boxtemplates'], verbs: ['get'] },
      ],
    );
  });

  it('agent/X6: takes the template from where the contract has it when the old place is empty', () => {
    const cluster: Cluster = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'ocp', uid: 'u' },
    };
    const [old, alias] = ['old', 'alias'].map((name) => ({ apiGroup: 'g', kind: 'KTemplate', name }));
    const given = (machineTemplate: object) =>
      controlPlane(cluster, { spec: { machineTemplate } as Partial<OpenshiftAssistedControlPlane['spec']> });
    const both = given({ infrastructureRef: old, spec: { infrastructureRef: alias } });
    assert.deepEqual(infrastructureReference(both), old);
    assert.deepEqual(infrastructureReference(given({ spec: { infrastructureRef: alias } })), alias);
    assert.throws(() => infrastructureReference(given({})), {
      message: /spec\.machineTemplate\.infrastructureRef is not set/,
    });
  });
});
