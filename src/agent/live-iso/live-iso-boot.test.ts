import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BootstrapWorld, infraName, isoUrl, NAMESPACE } from '../../../test/support/agent-bootstrap-world.ts';
import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { CLUSTER_NAME_LABEL, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { Metal3Machine, Metal3MachineTemplate } from '../../api/metal3/infrastructure-v1beta2.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { expectNoWrites } from '../../testing/recorder.ts';
import { DERIVED_FROM_ANNOTATION } from './derived-template.ts';
import { SHARED_INFRA_ENV_LABEL } from './shared-infra-env.ts';

const SHARED = 'one-workers-x86-64';
const WORKER = { isLiveIso: true, template: 'workers' } as const;
const key = (name: string) => ({ namespace: NAMESPACE, name });

async function imageOf(world: BootstrapWorld, machine: string) {
  return (await world.env.client.get(Metal3Machine, key(infraName(machine)))).spec?.image;
}

async function started(): Promise<BootstrapWorld> {
  const world = await BootstrapWorld.running();
  await world.outside.template('workers');
  return world;
}

describe('a config that boots the live ISO', () => {
  it('shares one InfraEnv with all machines of its template and architecture, which the ClusterDeployment owns', async () => {
    await using world = await started();
    await world.outside.machine('a', WORKER);
    await world.outside.machine('b', WORKER);
    await world.outside.machine('c', { ...WORKER, spec: { cpuArchitecture: 'aarch64' } });
    await world.outside.machine('m', { isLiveIso: true, template: 'masters', isControlPlane: true });
    await world.env.settle();
    const { items } = await world.env.client.list(InfraEnv);
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['one-masters-x86-64', 'one-workers-aarch64', SHARED],
    );
    const shared = await world.env.client.get(InfraEnv, key(SHARED));
    assert.deepEqual(shared.metadata.labels, { [CLUSTER_NAME_LABEL]: 'one' });
    assert.deepEqual(
      (shared.metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind} ${name}`),
      ['ClusterDeployment one'],
    );
    assert.equal((await world.config('b')).metadata.labels?.[SHARED_INFRA_ENV_LABEL], SHARED);
  });

  it('has no Secret before the address of the ISO is on the machine, and then an empty one', async () => {
    await using world = await started();
    await world.outside.machine('a', WORKER);
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'WaitingForLiveISOURL');
    assert.equal(await world.find(Secret, 'a'), undefined);
    const before = world.env.recorder.writes.length;
    await world.outside.infraEnvReady(SHARED);
    await world.env.settle();
    const targets = world.env.recorder.writes.slice(before).map(({ target }) => target);
    const at = (text: string) => targets.findIndex((target) => target.includes(text));
    assert.ok(at('metal3machines') >= 0 && at('metal3machines') < at('/secrets'));
    assert.deepEqual(await world.secretData('a'), { value: '', format: 'ignition' });
    assert.deepEqual(await imageOf(world, 'a'), { url: isoUrl(SHARED), diskFormat: 'live-iso' });
    assert.equal(await world.dataSecret('a'), 'True');
    assert.deepEqual(world.service.requests, []);
  });

  it('keeps a template with the ISO in step with that of the user, which it never changes', async () => {
    await using world = await started();
    const users = () => world.env.client.get(Metal3MachineTemplate, key('workers'));
    const original = await users();
    await world.outside.machine('a', WORKER);
    await world.env.settle();
    await world.outside.infraEnvReady(SHARED);
    await world.env.settle();
    assert.deepEqual(await users(), original);
    const derived = () => world.env.client.get(Metal3MachineTemplate, key('workers-live-iso'));
    const { metadata, spec } = await derived();
    assert.equal(metadata.annotations?.[DERIVED_FROM_ANNOTATION], 'workers');
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`),
      ['Cluster one'],
    );
    assert.deepEqual(spec, {
      nodeReuse: false,
      template: {
        spec: { image: { url: isoUrl(SHARED), diskFormat: 'live-iso' }, automatedCleaningMode: 'metadata' },
      },
    });
    const body = { spec: { template: { spec: { automatedCleaningMode: 'disabled' } } } };
    await world.env.client.patch(Metal3MachineTemplate, key('workers'), { type: 'merge', body });
    await world.outside.infraEnvStatus(SHARED, { isoDownloadURL: 'https://images.example/new.iso' });
    await world.env.advance(11 * 60_000);
    const later = (await derived()).spec.template.spec;
    assert.deepEqual(
      [later.automatedCleaningMode, later.image?.url],
      ['disabled', 'https://images.example/new.iso'],
    );
    assert.equal((await imageOf(world, 'a'))?.url, isoUrl(SHARED));
  });

  it('takes a machine of the derived template for one of the user’s', async () => {
    await using world = await started();
    await world.outside.machine('a', WORKER);
    await world.env.settle();
    await world.outside.infraEnvReady(SHARED);
    await world.env.settle();
    await world.outside.machine('b', { ...WORKER, template: 'workers-live-iso' });
    await world.env.settle();
    assert.equal((await world.config('b')).metadata.labels?.[SHARED_INFRA_ENV_LABEL], SHARED);
    assert.equal(await world.dataSecret('b'), 'True');
    assert.equal((await world.env.client.list(Metal3MachineTemplate)).items.length, 2);
  });

  it('leaves a template of somebody else alone that has the name, and says so', async () => {
    await using world = await started();
    await world.outside.template('workers-live-iso');
    await world.outside.machine('a', WORKER);
    await world.env.settle();
    await world.outside.infraEnvReady(SHARED);
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'True');
    const { spec } = await world.env.client.get(Metal3MachineTemplate, key('workers-live-iso'));
    assert.equal(spec.template.spec.image?.diskFormat, 'qcow2');
    assert.ok((await world.events()).some((text) => text.startsWith('TemplateNameTaken')));
  });

  it('speaks the version of Metal3 that keeps the older contract where there is no other', async () => {
    await using world = await started();
    for (const name of ['metal3machines', 'metal3machinetemplates'])
      await world.env.client.patch(
        CustomResourceDefinition,
        { name: `${name}.infrastructure.cluster.x-k8s.io` },
        { type: 'merge', body: { metadata: { labels: { 'cluster.x-k8s.io/v1beta2': null } } } },
      );
    await world.outside.machine('a', WORKER);
    await world.env.settle();
    await world.outside.infraEnvReady(SHARED);
    await world.env.settle();
    const image = await imageOf(world, 'a');
    assert.equal(image?.format, 'live-iso');
    assert.equal(await world.dataSecret('a'), 'True');
  });

  it('says that only Metal3 boots an ISO, and waits for a machine that is not there yet', async () => {
    await using world = await started();
    await world.outside.machine('a', { ...WORKER, infraKind: 'AcmeMachine' });
    await world.env.settle();
    const condition = await world.condition('a', 'DataSecretAvailable');
    assert.equal(condition?.reason, 'UnsupportedInfrastructure');
    assert.match(condition?.message ?? '', /is a AcmeMachine of infrastructure\.cluster\.x-k8s\.io/);
    await world.outside.machine('b', WORKER);
    await world.env.client.delete(Metal3Machine, key(infraName('b')));
    await world.env.advance(60_000);
    assert.equal(await world.dataSecret('b'), 'WaitingForInfrastructureMachine');
  });

  it('names the definition that Metal3 lacks', async () => {
    await using world = await BootstrapWorld.running({ log: SILENT_LOG });
    const name = 'metal3machines.infrastructure.cluster.x-k8s.io';
    const labels = { 'cluster.x-k8s.io/v1beta2': null, 'cluster.x-k8s.io/v1beta1': null };
    await world.env.client.patch(
      CustomResourceDefinition,
      { name },
      { type: 'merge', body: { metadata: { labels } } },
    );
    await world.outside.machine('a', WORKER);
    await world.env.advance(1_000);
    const condition = await world.condition('a', 'DataSecretAvailable');
    assert.equal(condition?.reason, 'InfrastructureMachineFailed');
    assert.match(condition?.message ?? '', new RegExp(`CustomResourceDefinition ${name} has none of the labels`));
  });

  it('tells when a config wants other settings than the one that was first', async () => {
    await using world = await started();
    await world.outside.machine('a', WORKER);
    await world.env.settle();
    await world.outside.machine('b', { ...WORKER, spec: { sshAuthorizedKey: 'ssh-ed25519 AAAA' } });
    await world.env.settle();
    const told = (await world.events()).filter((text) => text.startsWith('InfraEnvSettingsIgnored'));
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /OpenshiftAssistedConfig\/b.*other settings: sshAuthorizedKey;/);
  });

  it('does not use an InfraEnv that somebody else made under the name', async () => {
    await using world = await started();
    await world.env.client.create(InfraEnv, {
      apiVersion: 'agent-install.openshift.io/v1beta1',
      kind: 'InfraEnv',
      metadata: key(SHARED),
      spec: { pullSecretRef: { name: 'pull' } },
    });
    await world.outside.machine('a', WORKER);
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'InfraEnvFailed');
    await world.env.client.delete(InfraEnv, key(SHARED));
    await world.env.advance(60_000);
    assert.equal(await world.dataSecret('a'), 'WaitingForLiveISOURL');
  });

  it('the last config takes the InfraEnv with it, and not the one before', async () => {
    await using world = await started();
    await world.outside.machine('a', WORKER);
    await world.outside.machine('b', WORKER);
    await world.env.settle();
    await world.outside.infraEnvReady(SHARED);
    await world.env.settle();
    const remove = async (name: string) => {
      await world.env.client.delete(Machine, key(name));
      await world.env.advance(60_000);
      await world.env.client.delete(OpenshiftAssistedConfig, key(name));
      await world.env.settle();
    };
    await remove('a');
    assert.notEqual(await world.find(InfraEnv, SHARED), undefined);
    await remove('b');
    assert.equal(await world.find(InfraEnv, SHARED), undefined);
    assert.deepEqual((await world.env.client.list(OpenshiftAssistedConfig)).items, []);
  });

  it('waits for an InfraEnv that is being deleted to go before it makes the next one', async () => {
    await using world = await started();
    await world.outside.machine('a', WORKER);
    await world.env.settle();
    const body = { metadata: { finalizers: ['infraenv.agent-install.openshift.io/ai-deprovision'] } };
    await world.env.client.patch(InfraEnv, key(SHARED), { type: 'merge', body });
    await world.env.client.delete(InfraEnv, key(SHARED));
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'WaitingForInfraEnvToBeReady');
    await world.env.client.patch(InfraEnv, key(SHARED), {
      type: 'merge',
      body: { metadata: { finalizers: null } },
    });
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'WaitingForLiveISOURL');
  });

  it('is held as every worker is while an installation is in progress: the host has nothing to boot', async () => {
    await using world = await started();
    await world.outside.state('installing');
    await world.outside.machine('a', WORKER);
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'WaitingForInstallComplete');
    assert.equal((await imageOf(world, 'a'))?.diskFormat, 'qcow2');
    await world.outside.state('adding-hosts');
    await world.env.settle();
    await world.outside.infraEnvReady(SHARED);
    await world.env.settle();
    assert.equal(await world.dataSecret('a'), 'True');
  });

  it('writes nothing when nothing changes', async () => {
    await using world = await started();
    await world.outside.machine('a', WORKER);
    await world.outside.machine('b', WORKER);
    await world.env.settle();
    await world.outside.infraEnvReady(SHARED);
    await world.env.settle();
    await expectNoWrites(world.env.recorder, () => world.env.advance(30 * 60_000));
  });
});
