import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  agentCrds,
  CLUSTER,
  type ControlPlaneWorld,
  cpKey,
  failureOf,
  getControlPlane,
  listMachines,
  NAMESPACE,
  PULL_SECRET,
  prepare,
  readyAllMachines,
  setInstall,
  shownCondition,
  startWorld,
} from '../../../test/support/agent-control-plane-world.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import { SILENT_LOG } from '../../base/log.ts';

const change = ({ client }: ControlPlaneWorld, body: JsonObject) =>
  client.patch(OpenshiftAssistedControlPlane, cpKey, { type: 'merge', body });
const patchCluster = ({ client }: ControlPlaneWorld, body: JsonObject, subresource?: string) =>
  client.patch(
    Cluster,
    { namespace: NAMESPACE, name: CLUSTER },
    { type: 'merge', body },
    subresource === undefined ? {} : { subresource },
  );
const shown = async ({ client }: ControlPlaneWorld, type: string) =>
  shownCondition(await getControlPlane(client), type);
const deployments = async ({ client }: ControlPlaneWorld) => (await client.live.list(ClusterDeployment)).items;

describe('a control plane before anything is made', () => {
  it('agent/C2, agent/C3: an old version is refused, with the oldest one that is supported', async () => {
    await using world = await startWorld();
    await prepare(world.client, { spec: { distributionVersion: '4.12.0' } });
    await world.env.settle();
    assert.equal(
      await shown(world, 'MachinesCreated'),
      'False/MachineGenerationFailed: version 4.12.0 is not supported, the minimum supported version is 4.14.0',
    );
    assert.deepEqual(await deployments(world), []);
    const { metadata, status } = await getControlPlane(world.client);
    assert.deepEqual(
      metadata.finalizers,
      ['openshiftassistedcontrolplane.controlplane.cluster.x-k8s.io/deprovision'],
      'agent/C2',
    );
    assert.equal(status?.observedGeneration, metadata.generation);
  });

  it('makes nothing for a topology whose version of Kubernetes the release does not have, and goes on when it has', async () => {
    await using world = await startWorld();
    await prepare(world.client, { spec: { version: 'v1.34.0' } });
    await world.env.settle();
    assert.match(
      (await shown(world, 'MachinesCreated')) ?? '',
      /^False\/KubernetesVersionTooNew: spec\.version is v1\.34\.0, and OpenShift 4\.20\.1 has Kubernetes 1\.33\.5; /,
    );
    assert.deepEqual(await listMachines(world.client), []);
    assert.equal((await getControlPlane(world.client)).status?.version, undefined);
    world.releases.kubernetesVersion = '1.34.2';
    await change(world, { spec: { distributionVersion: '4.21.0' } });
    await world.env.advance(60_000);
    assert.equal((await listMachines(world.client)).length, 3);
    assert.equal((await getControlPlane(world.client)).status?.version, '1.34.2');
  });

  it('makes Machines from what a ClusterClass writes: the template where the contract has it', async () => {
    await using world = await startWorld();
    const infrastructureRef = {
      apiGroup: 'infrastructure.cluster.x-k8s.io',
      kind: 'Metal3MachineTemplate',
      name: 'masters',
    };
    const deletion = { nodeDrainTimeoutSeconds: 60 };
    const machineTemplate = { spec: { infrastructureRef, deletion } };
    await prepare(world.client, { spec: { version: 'v1.33.0', machineTemplate } });
    await world.env.advance(60_000);
    const machines = await listMachines(world.client);
    assert.equal(machines.length, 3);
    for (const { spec } of machines) {
      assert.deepEqual(spec.deletion, { nodeDeletionTimeoutSeconds: 10, ...deletion });
      assert.equal(spec.infrastructureRef.kind, 'Metal3Machine');
    }
  });

  it('agent/C4: without an owner it waits, and says for what', async () => {
    await using world = await startWorld();
    const { metadata } = await prepare(world.client);
    await world.env.settle();
    await change(world, { metadata: { ownerReferences: null } });
    const other = { ...cpKey, name: 'alone' };
    const { spec } = await getControlPlane(world.client);
    await world.client.create(OpenshiftAssistedControlPlane, {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha3',
      kind: 'OpenshiftAssistedControlPlane',
      metadata: { ...other },
      spec,
    });
    await world.env.settle();
    const alone = await getControlPlane(world.client, other);
    assert.match(shownCondition(alone, 'MachinesCreated') ?? '', /^False\/WaitingForCluster: no Cluster owns/);
    await world.client.patch(OpenshiftAssistedControlPlane, other, {
      type: 'merge',
      body: { metadata: { ownerReferences: (metadata.ownerReferences ?? []).map((one) => ({ ...one })) } },
    });
    await world.env.settle();
    assert.equal((await deployments(world)).length, 2);
  });

  it('agent/C6, agent/C7: it waits for the endpoint and for the infrastructure, and goes on by itself', async () => {
    await using world = await startWorld();
    await prepare(world.client, {
      clusterSpec: {
        controlPlaneRef: {
          apiGroup: 'controlplane.cluster.x-k8s.io',
          kind: 'OpenshiftAssistedControlPlane',
          name: 'ocp-cp',
        },
        infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'Metal3Cluster', name: 'ocp' },
        controlPlaneEndpoint: { port: 6443 },
      },
      clusterStatus: { initialization: { infrastructureProvisioned: false } },
    });
    await world.env.settle();
    assert.match((await shown(world, 'MachinesCreated')) ?? '', /^False\/WaitingForControlPlaneEndpoint/);
    await patchCluster(world, { spec: { controlPlaneEndpoint: { host: 'api', port: 6443 } } });
    await world.env.settle();
    assert.match((await shown(world, 'MachinesCreated')) ?? '', /^False\/WaitingForClusterInfrastructure/);
    assert.deepEqual(await deployments(world), []);
    await patchCluster(world, { status: { initialization: { infrastructureProvisioned: true } } }, 'status');
    await world.env.settle();
    assert.equal((await listMachines(world.client)).length, 3);
  });

  for (const { how, pause, resume } of [
    {
      how: 'its annotation',
      pause: (world: ControlPlaneWorld) =>
        change(world, { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } }),
      resume: (world: ControlPlaneWorld) =>
        change(world, { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } }),
    },
    {
      how: 'its Cluster',
      pause: (world: ControlPlaneWorld) => patchCluster(world, { spec: { paused: true } }),
      resume: (world: ControlPlaneWorld) => patchCluster(world, { spec: { paused: false } }),
    },
  ])
    it(`agent/C5, agent/X11: it does nothing while ${how} pauses it`, async () => {
      await using world = await startWorld();
      await prepare(world.client, { spec: { replicas: 0 } });
      await world.env.settle();
      await pause(world);
      await world.env.settle();
      await change(world, { spec: { replicas: 1 } });
      await world.env.advance(120_000);
      assert.match((await shown(world, 'Paused')) ?? '', /^True\/Paused: /);
      assert.equal((await listMachines(world.client)).length, 0);
      const { spec } = await world.client.live.get(AgentClusterInstall, cpKey);
      assert.equal(spec?.provisionRequirements?.controlPlaneAgents, 0);
      await resume(world);
      await world.env.settle();
      assert.equal(await shown(world, 'Paused'), 'False/NotPaused');
      assert.equal((await listMachines(world.client)).length, 1);
    });

  it('only what the watch filter names is looked at', async () => {
    await using world = await startWorld({ controllers: { watchFilter: 'blue' } });
    await prepare(world.client);
    await world.env.settle();
    assert.deepEqual((await getControlPlane(world.client)).metadata.finalizers, undefined);
    await change(world, { metadata: { labels: { 'cluster.x-k8s.io/watch-filter': 'blue' } } });
    await world.env.settle();
    assert.equal((await listMachines(world.client)).length, 3);
  });
});

describe('what a control plane is installed from', () => {
  it('agent/C9, agent/X2: a ClusterDeployment by the name of the control plane, labelled with that of the Cluster', async () => {
    await using world = await startWorld();
    const config = { baseDomain: 'example.com', pullSecretRef: { name: 'pull' }, clusterName: 'shown' };
    await prepare(world.client, { spec: { config } });
    await world.env.settle();
    const [found, ...others] = await deployments(world);
    assert.equal(others.length, 0);
    assert.deepEqual(
      found?.metadata.labels,
      {
        'cluster.x-k8s.io/cluster-name': CLUSTER,
        'cluster.x-k8s.io/control-plane': '',
        'cluster.x-k8s.io/control-plane-name': 'ocp-cp',
      },
      'agent/X2',
    );
    assert.deepEqual(found?.spec, {
      clusterName: 'shown',
      baseDomain: 'example.com',
      platform: { agentBareMetal: { agentSelector: {} } },
      pullSecretRef: { name: 'pull' },
      clusterInstallRef: {
        group: 'extensions.hive.openshift.io',
        version: 'v1beta1',
        kind: 'AgentClusterInstall',
        name: 'ocp-cp',
      },
    });
  });

  it('agent/C9: a ClusterDeployment of somebody else is neither used nor deleted', async () => {
    await using world = await startWorld({ server: { log: SILENT_LOG } });
    await prepare(world.client, {
      spec: { replicas: 0 },
      metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } },
    });
    await world.client.create(ClusterDeployment, {
      apiVersion: 'hive.openshift.io/v1',
      kind: 'ClusterDeployment',
      metadata: { ...cpKey },
      spec: { clusterName: 'theirs', baseDomain: 'd', platform: {} },
    });
    await change(world, { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
    await world.env.settle();
    assert.match(
      (await shown(world, 'MachinesCreated')) ?? '',
      /^False\/ClusterDeploymentConflict: .* delete it, or/,
    );
    await world.client.delete(OpenshiftAssistedControlPlane, cpKey);
    await world.env.settle();
    assert.equal((await deployments(world)).length, 1);
    assert.equal(await world.client.live.find(OpenshiftAssistedControlPlane, cpKey), undefined);
  });

  it('agent/C8, agent/X13: two control planes without a pull secret share a placeholder, and their specs stay as they are', async () => {
    await using world = await startWorld();
    const spec = { config: { baseDomain: 'example.com' }, replicas: 0 };
    const one = await prepare(world.client, { spec });
    const two = await prepare(world.client, { spec, cluster: 'second', name: 'second-cp' });
    await world.env.settle();
    const secret = await world.client.live.get(Secret, { namespace: NAMESPACE, name: 'placeholder-pull-secret' });
    assert.equal(
      Buffer.from(secret.data?.['.dockerconfigjson'] ?? '', 'base64').toString(),
      '{"auths":{"fake-pull-secret":{"auth":"cGxhY2Vob2xkZXI6c2VjcmV0Cg=="}}}',
    );
    assert.deepEqual(
      secret.metadata.ownerReferences?.map(({ uid }) => uid).toSorted(),
      [one.metadata.uid ?? '', two.metadata.uid ?? ''].toSorted(),
    );
    for (const { spec: found } of await deployments(world))
      assert.deepEqual(found?.pullSecretRef, { name: 'placeholder-pull-secret' });
    assert.deepEqual((await getControlPlane(world.client)).spec.config, { baseDomain: 'example.com' });
  });

  it('agent/C10: the version of Kubernetes comes from the release image, read with the pull secret', async () => {
    await using world = await startWorld();
    await prepare(world.client, {
      metadata: {
        annotations: { 'cluster.x-k8s.io/release-image-repository-override': 'registry.example/release' },
      },
    });
    await world.env.settle();
    assert.equal((await getControlPlane(world.client)).status?.version, '1.33.5');
    assert.equal(await shown(world, 'KubernetesVersionAvailable'), 'True/KubernetesVersionAvailable');
    assert.ok(
      world.releases.asked.includes(`version registry.example/release:4.20.1-multi ${PULL_SECRET}`),
      'agent/R2',
    );
    assert.ok(world.releases.asked.includes(`version registry.example/release:4.20.1-x86_64 ${PULL_SECRET}`));
    assert.ok(world.releases.asked.length <= 4, 'each image is asked for once');
  });

  it('agent/X22: an image that cannot be read stops what has not begun, with the cause in conditions', async () => {
    await using world = await startWorld({ server: { log: SILENT_LOG } });
    world.releases.failure = failureOf('ReleaseImageNotFound', 'registry.example has no such image');
    await prepare(world.client);
    await world.env.settle();
    assert.equal(
      await shown(world, 'KubernetesVersionAvailable'),
      'False/KubernetesVersionUnavailable: failed to get k8s version from release image: registry.example has no such image',
    );
    assert.equal(
      await shown(world, 'UpgradeAvailable'),
      'False/UpgradeImageUnavailable: upgrade unavailable: registry.example has no such image',
    );
    assert.match(
      (await shown(world, 'ClusterInstallConfigured')) ?? '',
      /^False\/ReleaseImageNotFound: failed to resolve release image digest for .*4\.20\.1-multi: registry\.example has/,
    );
    assert.equal((await listMachines(world.client)).length, 0);
    assert.equal((await getControlPlane(world.client)).status?.observedGeneration, undefined);
    world.releases.failure = undefined;
    await world.env.advance(120_000);
    assert.equal((await listMachines(world.client)).length, 3);
    assert.equal(await shown(world, 'UpgradeAvailable'), 'True/UpgradeAvailable');
  });

  it('agent/X22: an image that cannot be read does not stop what runs', async () => {
    await using world = await startWorld({ server: { log: SILENT_LOG } });
    await prepare(world.client, { spec: { replicas: 1 } });
    await world.env.settle();
    await setInstall(world.client, { debugInfo: { state: 'adding-hosts' } });
    await world.env.settle();
    world.releases.failure = failureOf('RegistryUnavailable', 'no answer');
    await change(world, { spec: { replicas: 3, distributionVersion: '4.20.2' } });
    await world.env.advance(60_000);
    assert.equal((await listMachines(world.client)).length, 3);
    const { status } = await getControlPlane(world.client);
    assert.equal(status?.version, '1.33.5');
    assert.match((await shown(world, 'KubernetesVersionAvailable')) ?? '', /^False/);
  });

  for (const { what, damage, want } of [
    {
      what: 'is missing',
      damage: (world: ControlPlaneWorld) => world.client.delete(Secret, { namespace: NAMESPACE, name: 'pull' }),
      want: /Secret pull, which spec\.config\.pullSecretRef names, does not exist in namespace metal; create it/,
    },
    {
      what: 'has no key',
      damage: (world: ControlPlaneWorld) =>
        world.client.patch(
          Secret,
          { namespace: NAMESPACE, name: 'pull' },
          { type: 'merge', body: { data: null } },
        ),
      want: /Secret pull, which spec\.config\.pullSecretRef names, has no key \.dockerconfigjson; add it/,
    },
  ])
    it(`agent/C10: a pull secret that ${what} is told, and looked for again`, async () => {
      await using world = await startWorld({ server: { log: SILENT_LOG } });
      await prepare(world.client, { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } });
      await damage(world);
      await change(world, { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
      await world.env.settle();
      assert.match((await shown(world, 'KubernetesVersionAvailable')) ?? '', want);
      assert.match(
        (await shown(world, 'ClusterInstallConfigured')) ?? '',
        /^False\/PullSecretUnavailable: failed to get pull secret for digest resolution/,
      );
    });

  it('what only an edit of another object helps with is looked at again after a minute', async () => {
    await using world = await startWorld();
    const { SlipwayError } = await import('../../base/errors.ts');
    world.releases.failure = new SlipwayError('user', 'InvalidPullSecret', 'failed to parse pullsecret');
    await prepare(world.client);
    await world.env.settle();
    assert.equal((await listMachines(world.client)).length, 0);
    world.releases.failure = undefined;
    await world.env.advance(61_000);
    assert.equal((await listMachines(world.client)).length, 3);
  });
});

describe('several control planes', () => {
  it('agent/X4, agent/X19: two of the same name in two namespaces do not know each other', async () => {
    await using world = await startWorld();
    await prepare(world.client, { spec: { replicas: 1 } });
    await prepare(world.client, { namespace: 'other', spec: { replicas: 3 } });
    await world.env.settle();
    assert.equal((await listMachines(world.client)).length, 1);
    assert.equal((await listMachines(world.client, 'other')).length, 3);
    const sets = (await world.client.live.list(ClusterImageSet)).items;
    assert.deepEqual(
      sets.map(({ metadata }) => [
        metadata.name,
        metadata.annotations?.['controlplane.cluster.x-k8s.io/owned-by'],
      ]),
      [
        ['ocp-cp', 'metal/ocp-cp'],
        ['other-ocp-cp', 'other/ocp-cp'],
      ],
    );
    const install = await world.client.live.get(AgentClusterInstall, { ...cpKey, namespace: 'other' });
    assert.deepEqual(install.spec?.imageSetRef, { name: 'other-ocp-cp' });
    await world.client.delete(OpenshiftAssistedControlPlane, cpKey);
    await world.env.settle();
    assert.deepEqual(
      (await world.client.live.list(ClusterImageSet)).items.map(({ metadata }) => metadata.name),
      ['other-ocp-cp'],
    );
    assert.equal((await listMachines(world.client, 'other')).length, 3);
  });
});

describe('what people are told', () => {
  it('agent/P5: an event for each reason, and none for what is calm', async () => {
    await using world = await startWorld();
    await prepare(world.client, { spec: { replicas: 1 } });
    await world.env.settle();
    await readyAllMachines(world.client);
    const events = await world.events();
    for (const line of [
      'ScalingUp: ScalingUp is True: Scaling up from 0 to 1 replicas',
      'MachinesNotReady: MachinesReady is False: 0 of 1 machines are ready',
      'MachinesReady: MachinesReady is True',
      'ControlPlaneInstalling: Available is False: Controlplane installing, status:',
    ])
      assert.ok(
        events.some((event) => event.startsWith(line)),
        `${line} in ${events.join('\n')}`,
      );
    assert.equal(
      events.some((event) => event.startsWith('NotPaused') || event.startsWith('NotDeleting')),
      false,
    );
  });

  it('a control plane without a spec, stored before that was refused, is told what it lacks and can be deleted', async () => {
    const crds = JSON.parse(JSON.stringify(agentCrds()).replaceAll('"x-kubernetes-validations"', '"x-ignored"'));
    await using world = await startWorld({ server: { crds } });
    await prepare(world.client, { spec: { replicas: 0 } });
    const bare = { ...cpKey, name: 'bare' };
    await world.client.create(OpenshiftAssistedControlPlane, {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha3',
      kind: 'OpenshiftAssistedControlPlane',
      metadata: { ...bare },
    } as OpenshiftAssistedControlPlane);
    await world.env.settle();
    const object = await getControlPlane(world.client, bare);
    assert.match(shownCondition(object, 'MachinesCreated') ?? '', /spec is missing; give it/);
    await world.client.delete(OpenshiftAssistedControlPlane, bare);
    await world.env.settle();
    assert.equal(await world.client.live.find(OpenshiftAssistedControlPlane, bare), undefined);
  });
});

describe('a server that fails', () => {
  for (const seed of [1, 2, 3])
    it(`a fifth of all requests refused, seed ${seed}: everything is made, once`, async () => {
      await using world = await startWorld({ server: { log: SILENT_LOG, seed } });
      const fault = { kind: 'refuse', status: 503, reason: 'ServiceUnavailable' } as const;
      const lost = { kind: 'lost-response' } as const;
      const isCall = ({ isStream }: { readonly isStream?: boolean }) => isStream !== true;
      world.env.faults.arm({ matches: isCall, fault, rate: 0.1 });
      world.env.faults.arm({ matches: isCall, fault: lost, rate: 0.1 });
      await prepare(world.client);
      await world.env.advance(600_000);
      world.env.faults.disarmAll();
      await world.env.advance(600_000);
      assert.equal((await listMachines(world.client)).length, 3);
      assert.equal((await deployments(world)).length, 1);
      assert.equal(await shown(world, 'ClusterInstallConfigured'), 'True/ClusterInstallConfigured');
      assert.equal(await shown(world, 'ScalingUp'), 'False/NotScalingUp');
    });
});
