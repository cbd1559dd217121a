import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  API_KEY,
  answer,
  BootstrapWorld,
  IGNITION,
  NAMESPACE,
} from '../../../test/support/agent-bootstrap-world.ts';
import {
  BOOT_METHOD,
  CONFIG_FINALIZER,
  DISCOVERY_IGNITION_OVERRIDE,
  IGNITION_OVERRIDE,
  INFRA_ENV_CONFIG_LABEL,
  OpenshiftAssistedConfig,
} from '../../api/agent/bootstrap-v1alpha2.ts';
import { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  Machine,
  PAUSED_ANNOTATION,
  WATCH_LABEL,
} from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { expectNoWrites, type RecordedRequest } from '../../testing/recorder.ts';
import { PLACEHOLDER_PULL_SECRET } from '../infra-env/placeholder-pull-secret.ts';

const key = (name: string) => ({ namespace: NAMESPACE, name });

async function clusterOwner(world: BootstrapWorld) {
  const { apiVersion, kind, metadata } = await world.env.client.get(Cluster, key('one'));
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
}

describe('a config that boots from ignition', () => {
  it('agent/B14: publishes the ignition of discovery, byte for byte, with what the contract asks of the Secret', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a');
    await world.env.settle();
    await world.outside.infraEnvReady('a');
    await world.env.settle();
    assert.deepEqual(await world.secretData('a'), { value: IGNITION, format: 'ignition' });
    const secret = await world.env.client.get(Secret, key('a'));
    const { metadata } = await world.config('a');
    assert.equal(secret.type, 'cluster.x-k8s.io/secret');
    assert.equal(secret.metadata.labels?.[CLUSTER_NAME_LABEL], 'one');
    assert.deepEqual(secret.metadata.ownerReferences, [
      {
        apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
        kind: 'OpenshiftAssistedConfig',
        name: 'a',
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
  });

  it('agent/B1, agent/B15, agent/X5: tells both contracts that the data is there', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a');
    await world.env.settle();
    await world.outside.infraEnvReady('a');
    await world.env.advance(5_000);
    const { status, metadata } = await world.config('a');
    assert.deepEqual(metadata.finalizers, [CONFIG_FINALIZER]);
    assert.equal(status?.initialization?.dataSecretCreated, true);
    assert.equal(status.dataSecretName, 'a');
    assert.equal(status.observedGeneration, 1);
    const shown = (status.conditions ?? []).map(({ type, status: value, reason }) => [type, value, reason]);
    assert.deepEqual(shown, [
      ['Ready', 'True', 'Ready'],
      ['DataSecretAvailable', 'True', 'DataSecretAvailable'],
      ['Paused', 'False', 'NotPaused'],
    ]);
    assert.ok((status.conditions ?? []).every(({ observedGeneration }) => observedGeneration === 1));
    const time = '2026-01-01T00:00:00Z';
    assert.deepEqual(status.v1beta1Conditions, [
      { type: 'Ready', status: 'True', lastTransitionTime: time },
      { type: 'DataSecretAvailable', status: 'True', lastTransitionTime: time },
    ]);
  });

  it('agent/B1, agent/B12: waits for the InfraEnv and does not count the generation as done', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a');
    await world.env.settle();
    const { status } = await world.config('a');
    const message = 'infraenv not ready: eventsURL not generated yet';
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const said = { status: 'False', severity: 'Info', reason: 'WaitingForInfraEnvToBeReady', message };
    assert.deepEqual(status?.v1beta1Conditions, [
      { type: 'Ready', ...said, lastTransitionTime },
      { type: 'DataSecretAvailable', ...said, lastTransitionTime },
    ]);
    assert.equal(status?.observedGeneration, undefined);
  });

  it('agent/E1, agent/B10: makes an InfraEnv named like the Machine, owned by both, and never changes it', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a');
    await world.env.settle();
    const found = await world.env.client.get(InfraEnv, key('a'));
    assert.deepEqual(found.metadata.labels, { [INFRA_ENV_CONFIG_LABEL]: 'a', [CLUSTER_NAME_LABEL]: 'one' });
    const owners = (found.metadata.ownerReferences ?? []).map(({ kind, name, controller }) => [
      kind,
      name,
      controller,
    ]);
    assert.deepEqual(owners, [
      ['OpenshiftAssistedConfig', 'a', undefined],
      ['Machine', 'a', undefined],
    ]);
    await world.env.client.patch(InfraEnv, key('a'), {
      type: 'merge',
      body: { spec: { sshAuthorizedKey: 'mine' } },
    });
    await world.outside.infraEnvReady('a');
    await world.env.advance(60_000);
    assert.equal((await world.env.client.get(InfraEnv, key('a'))).spec?.sshAuthorizedKey, 'mine');
  });

  it('agent/E4, agent/X13: makes a placeholder pull secret that every Cluster of the namespace owns', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.cluster('two');
    await world.outside.installation('two');
    await world.outside.machine('a', { spec: { pullSecretRef: { name: '' } } });
    await world.outside.machine('b', { cluster: 'two', spec: { pullSecretRef: { name: '' } } });
    await world.env.settle();
    const secret = await world.env.client.get(Secret, key(PLACEHOLDER_PULL_SECRET));
    assert.deepEqual(
      (secret.metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind} ${name}`),
      ['Cluster one', 'Cluster two'],
    );
    assert.equal(
      (await world.env.client.get(InfraEnv, key('a'))).spec?.pullSecretRef?.name,
      PLACEHOLDER_PULL_SECRET,
    );
    assert.equal((await world.config('a')).spec?.pullSecretRef?.name, '');
  });

  it('agent/B2, agent/B3: leaves a config without an owner, or whose Machine is gone, without condition and finalizer', async () => {
    await using world = await BootstrapWorld.running();
    const apiVersion = 'bootstrap.cluster.x-k8s.io/v1alpha2';
    const kind = 'OpenshiftAssistedConfig';
    const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'gone', uid: 'x' };
    const pool = { ...owner, kind: 'MachinePool', name: 'pool' };
    // Else the garbage collector is faster.
    const alive = await clusterOwner(world);
    await world.env.client.create(OpenshiftAssistedConfig, { apiVersion, kind, metadata: key('alone') });
    for (const [name, reference] of [
      ['orphan', owner],
      ['pooled', pool],
    ] as const)
      await world.env.client.create(OpenshiftAssistedConfig, {
        apiVersion,
        kind,
        metadata: { ...key(name), ownerReferences: [reference, alive] },
      });
    await world.env.advance(120_000);
    for (const name of ['alone', 'orphan', 'pooled']) {
      const { metadata, status } = await world.config(name);
      assert.deepEqual(
        [metadata.finalizers, status?.conditions, status?.v1beta1Conditions],
        [undefined, undefined, undefined],
      );
    }
  });

  it('agent/B4: has its finalizer before anything is made for it', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a');
    await world.env.settle();
    const writes = world.env.recorder.writes
      .filter(({ target }) => !target.includes('/events'))
      .map(({ method, target }) => `${method} ${target.split('?')[0]?.split('/').slice(-2).join('/')}`);
    assert.deepEqual(writes.slice(0, 2), ['PATCH openshiftassistedconfigs/a', 'POST metal/infraenvs']);
  });

  it('agent/B5, agent/B6: waits for its Cluster and for its infrastructure', async () => {
    await using world = await BootstrapWorld.start();
    await world.run();
    await world.outside.machine('a');
    await world.env.settle();
    assert.deepEqual((await world.config('a')).metadata.finalizers, [CONFIG_FINALIZER]);
    assert.equal(await world.dataSecret('a'), undefined);
    const cluster = await world.outside.cluster('one', { isProvisioned: false });
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'WaitingForClusterInfrastructure');
    await world.outside.provisioned(cluster);
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'WaitingForAssistedInstaller');
  });

  it('agent/B7, agent/B8: waits for exactly one ClusterDeployment and its AgentClusterInstall, and sees each at once', async () => {
    await using world = await BootstrapWorld.start();
    await world.outside.cluster();
    await world.run();
    await world.outside.machine('a');
    await world.env.settle();
    const message = async () => (await world.condition('a', 'DataSecretAvailable'))?.message ?? '';
    assert.match(await message(), /^no ClusterDeployment in namespace metal has the label/);
    await world.outside.deployment();
    await world.env.settle();
    assert.match(await message(), /^AgentClusterInstall metal\/one does not exist yet/);
    await world.outside.deployment('one', NAMESPACE, 'second');
    await world.env.settle();
    assert.match(await message(), /^ClusterDeployments one, second all have the label/);
    assert.equal(await world.dataSecret('a'), 'WaitingForAssistedInstaller');
    assert.equal(await world.find(InfraEnv, 'a'), undefined);
  });

  it('agent/B9, agent/X9: holds workers while an installation is in progress, never the control plane, and lets them go at once', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.state('installing');
    await world.outside.machine('w');
    await world.outside.machine('m', { isControlPlane: true });
    await world.env.settle();
    assert.equal(await world.dataSecret('w'), 'WaitingForInstallComplete');
    assert.equal(await world.find(InfraEnv, 'w'), undefined);
    assert.equal(await world.dataSecret('m'), 'WaitingForInfraEnvToBeReady');
    await world.outside.state('ready', { areRequirementsMet: true });
    await world.env.settle();
    assert.equal(await world.dataSecret('w'), 'WaitingForInstallComplete');
    await world.outside.state('ready');
    await world.env.settle();
    assert.equal(await world.dataSecret('w'), 'WaitingForInfraEnvToBeReady');
  });

  it('agent/B9: what is published stays so when the installation begins', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('w');
    await world.env.settle();
    await world.outside.infraEnvReady('w');
    await world.env.settle();
    await world.outside.state('installing');
    await world.env.advance(120_000);
    assert.equal(await world.dataSecret('w'), 'True');
  });

  it('agent/B11: makes a Secret anew that somebody deleted', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a');
    await world.env.settle();
    await world.outside.infraEnvReady('a');
    await world.env.settle();
    await world.env.client.delete(Secret, key('a'));
    await world.env.advance(11 * 60_000);
    assert.deepEqual(await world.secretData('a'), { value: IGNITION, format: 'ignition' });
    assert.equal(await world.dataSecret('a'), 'True');
  });

  it('agent/B11: reads the Secret when the config changes, and not whenever its cluster moves on', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a', { isControlPlane: true });
    await world.env.settle();
    await world.outside.infraEnvReady('a');
    await world.env.settle();
    const isRead = ({ method, target }: RecordedRequest) => method === 'GET' && target.includes('/secrets/a');
    const reads = () => world.env.recorder.requests.filter(isRead).length;
    for (const state of ['ready', 'installing', 'finalizing', 'adding-hosts']) {
      await world.outside.state(state);
      await world.env.settle();
    }
    assert.equal(reads(), 0);
    await world.env.client.delete(Secret, key('a'));
    const body = { metadata: { annotations: { look: 'again' } } };
    await world.env.client.patch(OpenshiftAssistedConfig, key('a'), { type: 'merge', body });
    await world.env.settle();
    assert.equal(reads(), 1);
    assert.deepEqual(await world.secretData('a'), { value: IGNITION, format: 'ignition' });
  });

  it('agent/B13: a host whose ignition takes its time holds up no other', async () => {
    await using world = await BootstrapWorld.running();
    const slow = Promise.withResolvers<void>();
    world.service.reply = async ({ url }) => {
      if (url.includes('id-slow')) await slow.promise;
      return answer(200, IGNITION);
    };
    for (const name of ['slow', 'quick']) await world.outside.machine(name);
    await world.env.settle();
    for (const name of ['slow', 'quick']) await world.outside.infraEnvReady(name);
    await world.env.advance(1000);
    assert.deepEqual(
      [await world.dataSecret('slow'), await world.dataSecret('quick')],
      ['WaitingForInfraEnvToBeReady', 'True'],
    );
    slow.resolve();
    await world.env.settle();
    assert.equal(await world.dataSecret('slow'), 'True');
  });

  it('agent/B11: a new process looks', async () => {
    await using world = await BootstrapWorld.start();
    await world.outside.cluster();
    await world.outside.installation();
    const first = await world.run();
    await world.outside.machine('a');
    await world.env.settle();
    await world.outside.infraEnvReady('a');
    await world.env.settle();
    await world.env.stopManager(first);
    await world.env.client.delete(Secret, key('a'));
    await world.run();
    await world.env.settle();
    assert.deepEqual(await world.secretData('a'), { value: IGNITION, format: 'ignition' });
  });

  it('agent/B14, agent/X5: keeps the data of a Secret that exists and adds what the contract asks for', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a');
    await world.env.settle();
    await world.env.client.create(Secret, { metadata: key('a'), data: { value: 'b2xk' } });
    await world.outside.infraEnvReady('a');
    await world.env.settle();
    assert.deepEqual(await world.secretData('a'), { value: 'old' });
    const { metadata } = await world.env.client.get(Secret, key('a'));
    assert.equal(metadata.labels?.[CLUSTER_NAME_LABEL], 'one');
    assert.equal(metadata.ownerReferences?.[0]?.controller, true);
  });

  it('agent/B14: waits for the Secret of a former config of the same name to go', async () => {
    await using world = await BootstrapWorld.running({ log: SILENT_LOG });
    const owner = {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
      kind: 'OpenshiftAssistedConfig',
      name: 'a',
      uid: 'old',
    };
    await world.env.client.create(Secret, {
      metadata: { ...key('a'), finalizers: ['x.example/y'], ownerReferences: [owner] },
      data: { value: 'b2xk' },
    });
    await world.outside.machine('a');
    await world.env.settle();
    await world.outside.infraEnvReady('a');
    await world.env.advance(1_000);
    assert.equal(await world.dataSecret('a'), 'CreatingSecretFailed');
    await world.env.client.patch(Secret, key('a'), { type: 'merge', body: { metadata: { finalizers: null } } });
    await world.env.advance(5 * 60_000);
    assert.deepEqual(await world.secretData('a'), { value: IGNITION, format: 'ignition' });
  });
});

describe('the download of the ignition', () => {
  it('agent/B13, agent/X16: names what went wrong, never the key, counts it and tries again', async () => {
    await using world = await BootstrapWorld.running({ log: SILENT_LOG });
    world.service.reply = () => Promise.resolve(answer(500, 'boom'));
    await world.outside.machine('a');
    await world.env.settle();
    await world.outside.infraEnvReady('a');
    await world.env.advance(1_000);
    const condition = await world.condition('a', 'DataSecretAvailable');
    assert.equal(condition?.reason, 'WaitingForAssistedInstaller');
    assert.equal(
      condition?.message,
      'failed retrieving ignition: ignition request to http://assisted.example:8090/api/assisted-install/v2/infra-envs/id-a/downloads/files returned status 500',
    );
    assert.equal((await world.config('a')).status?.observedGeneration, undefined);
    world.service.reply = () => Promise.resolve(answer(200, IGNITION));
    await world.env.advance(10 * 60_000);
    assert.equal(await world.dataSecret('a'), 'True');
    const everything = JSON.stringify([await world.config('a'), await world.events(), condition]);
    assert.ok(!everything.includes(API_KEY));
    assert.ok(world.service.requests.every(({ url }) => url.includes(API_KEY)));
  });

  it('agent/X16: gives up after 30 s without an answer and tries again', async () => {
    await using world = await BootstrapWorld.running({ log: SILENT_LOG });
    const signals: boolean[] = [];
    world.service.reply = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          signals.push(true);
          reject(new Error('aborted'));
        });
      });
    await world.outside.machine('a');
    await world.env.settle();
    await world.outside.infraEnvReady('a');
    await world.env.advance(31_000);
    assert.match((await world.condition('a', 'DataSecretAvailable'))?.message ?? '', /within 30 s$/);
    assert.ok(signals.length >= 1);
    world.service.reply = () => Promise.resolve(answer(200, IGNITION));
    await world.env.advance(120_000);
    assert.equal(await world.dataSecret('a'), 'True');
  });
});

describe('what people got wrong', () => {
  for (const { name, setup, reason, message } of [
    {
      name: 'agent/X14: a version of the image is refused before assisted-service does',
      setup: { spec: { osImageVersion: '4.17' } },
      reason: 'InfraEnvFailed',
      message: /^spec\.osImageVersion cannot be used.*it is "4\.17"/,
    },
    {
      name: 'agent/I4: a label that cannot be read is named before a host is powered on',
      setup: { spec: { nodeRegistration: { kubeletExtraLabels: ['a=$(reboot)'] } } },
      reason: 'InvalidNodeSettings',
      message: /invalid/,
    },
    {
      name: 'agent/I4: a label of Kubernetes that no kubelet gives itself is named, with those that it takes',
      setup: { spec: { nodeRegistration: { kubeletExtraLabels: ['a=b', 'kubernetes.io/role=infra'] } } },
      reason: 'InvalidNodeSettings',
      message:
        /^spec\.nodeRegistration\.kubeletExtraLabels\[1\] is "kubernetes\.io\/role=infra".*node\.kubernetes\.io\//,
    },
    {
      name: 'agent/I4: a label that is none is named on the way of the ISO, too',
      setup: {
        annotations: { [BOOT_METHOD]: 'live-iso' },
        spec: { nodeRegistration: { kubeletExtraLabels: ['rack=first floor'] } },
      },
      reason: 'InvalidNodeSettings',
      message:
        /^spec\.nodeRegistration\.kubeletExtraLabels\[0\] is "rack=first floor".*; correct it, or remove it$/,
    },
    {
      name: 'agent/I9: an override that is no ignition is named',
      setup: { annotations: { [IGNITION_OVERRIDE]: '{"no":"ignition"}' } },
      reason: 'InvalidNodeSettings',
      message: new RegExp(IGNITION_OVERRIDE),
    },
    {
      name: 'a boot method that does not exist is named',
      setup: { annotations: { [BOOT_METHOD]: 'floppy' } },
      reason: 'InvalidBootMethod',
      message: /must be ignition or live-iso; it is "floppy"/,
    },
  ])
    it(name, async () => {
      await using world = await BootstrapWorld.running();
      await world.outside.machine('a', setup);
      await world.env.settle();
      const condition = await world.condition('a', 'DataSecretAvailable');
      assert.equal(condition?.reason, reason);
      assert.match(condition?.message ?? '', message);
      const [ready] = (await world.config('a')).status?.v1beta1Conditions ?? [];
      assert.equal(ready?.severity, 'Warning');
      assert.equal(await world.find(InfraEnv, 'a'), undefined);
    });

  it('agent/E3: an override for discovery that is no JSON is left out, and people are told', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a', { annotations: { [DISCOVERY_IGNITION_OVERRIDE]: '{' } });
    await world.env.settle();
    assert.equal((await world.find(InfraEnv, 'a'))?.spec?.ignitionConfigOverride, undefined);
    assert.ok((await world.events()).some((text) => text.startsWith('DiscoveryIgnitionOverrideIgnored')));
  });

  it('agent/B10: an InfraEnv of that name for another cluster is not used', async () => {
    await using world = await BootstrapWorld.running();
    await world.env.client.create(InfraEnv, {
      apiVersion: 'agent-install.openshift.io/v1beta1',
      kind: 'InfraEnv',
      metadata: key('a'),
      spec: { clusterRef: { name: 'other', namespace: NAMESPACE }, pullSecretRef: { name: 'pull' } },
    });
    await world.outside.machine('a');
    await world.env.settle();
    const condition = await world.condition('a', 'DataSecretAvailable');
    assert.equal(condition?.reason, 'InfraEnvFailed');
    assert.match(condition?.message ?? '', /brings hosts to ClusterDeployment metal\/other/);
  });
});

describe('the life of a config', () => {
  it('agent/B17, agent/X11: does nothing while it or its Cluster is paused, not even when it is deleted', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.pause();
    await world.outside.machine('a');
    await world.env.settle();
    const paused = await world.condition('a', 'Paused');
    assert.deepEqual(
      [paused?.status, paused?.reason, paused?.message],
      ['True', 'Paused', 'Cluster spec.paused is set to true'],
    );
    assert.equal(await world.find(InfraEnv, 'a'), undefined);
    await world.outside.pause('one', false);
    await world.env.settle();
    assert.equal((await world.condition('a', 'Paused'))?.status, 'False');
    assert.notEqual(await world.find(InfraEnv, 'a'), undefined);
    const annotate = (value: string | null) =>
      world.env.client.patch(OpenshiftAssistedConfig, key('a'), {
        type: 'merge',
        body: { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } },
      });
    await annotate('');
    await world.env.client.delete(OpenshiftAssistedConfig, key('a'));
    await world.env.advance(120_000);
    assert.deepEqual((await world.config('a')).metadata.finalizers, [CONFIG_FINALIZER]);
    await annotate(null);
    await world.env.settle();
    assert.equal(await world.find(OpenshiftAssistedConfig, 'a'), undefined);
    assert.equal(await world.find(InfraEnv, 'a'), undefined);
  });

  it('agent/B16: a config of the control plane goes only with its Machine', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('m', { isControlPlane: true });
    await world.env.settle();
    await world.env.client.patch(Machine, key('m'), {
      type: 'merge',
      body: { metadata: { finalizers: ['x.example/y'] } },
    });
    await world.env.client.delete(OpenshiftAssistedConfig, key('m'));
    await world.env.settle();
    const condition = await world.condition('m', 'Deleting');
    assert.equal(condition?.reason, 'WaitingForMachineDeletion');
    assert.notEqual(await world.find(InfraEnv, 'm'), undefined);
    await world.env.client.delete(Machine, key('m'));
    await world.env.settle();
    assert.equal(await world.find(OpenshiftAssistedConfig, 'm'), undefined);
    assert.equal(await world.find(InfraEnv, 'm'), undefined);
  });

  it('agent/X10: a config whose Machine is gone takes its InfraEnv with it', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a', { isControlPlane: true });
    await world.env.settle();
    await world.env.client.delete(Machine, key('a'));
    await world.env.client.delete(OpenshiftAssistedConfig, key('a'));
    await world.env.settle();
    assert.equal(await world.find(OpenshiftAssistedConfig, 'a'), undefined);
    assert.equal(await world.find(InfraEnv, 'a'), undefined);
  });

  it('agent/X4: clusters of the same name in two namespaces do not touch each other', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.namespace('other');
    await world.outside.cluster('one', { namespace: 'other' });
    await world.outside.installation('one', { namespace: 'other', state: 'installing' });
    await world.outside.machine('a');
    await world.outside.machine('a', { namespace: 'other' });
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'WaitingForInfraEnvToBeReady');
    assert.equal(await world.dataSecret('a', 'other'), 'WaitingForInstallComplete');
    assert.equal((await world.find(InfraEnv, 'a'))?.spec?.clusterRef?.namespace, NAMESPACE);
    await world.env.client.delete(AgentClusterInstall, key('one'));
    await world.outside.state('adding-hosts', { namespace: 'other' });
    await world.env.settle();
    assert.equal(await world.dataSecret('a', 'other'), 'WaitingForInfraEnvToBeReady');
  });

  it('does nothing for configs that another program watches', async () => {
    await using world = await BootstrapWorld.running({ watchFilter: 'ours' });
    await world.outside.machine('a');
    await world.outside.machine('b', { labels: { [WATCH_LABEL]: 'ours' } });
    await world.env.advance(60_000);
    assert.equal((await world.config('a')).metadata.finalizers, undefined);
    assert.notEqual(await world.find(InfraEnv, 'b'), undefined);
  });

  it('writes nothing when nothing changes, and once for each change of a reason', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a');
    await world.outside.machine('b');
    await world.env.settle();
    await world.outside.infraEnvReady('a');
    await world.env.settle();
    await expectNoWrites(world.env.recorder, () => world.env.advance(15 * 60_000));
    await world.env.client.patch(Cluster, key('one'), {
      type: 'merge',
      body: { metadata: { labels: { touched: 'x' } } },
    });
    await expectNoWrites(world.env.recorder, () => world.env.settle());
    assert.deepEqual((await world.events()).map((text) => text.split(':')[0] ?? '').toSorted(), [
      'DataSecretAvailable OpenshiftAssistedConfig/a',
      'WaitingForInfraEnvToBeReady OpenshiftAssistedConfig/a',
      'WaitingForInfraEnvToBeReady OpenshiftAssistedConfig/b',
    ]);
  });
});
