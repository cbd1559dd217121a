import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BootstrapWorld, NAMESPACE } from '../../../test/support/agent-bootstrap-world.ts';
import { IGNITION_OVERRIDE, OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import { expectNoWrites } from '../../testing/recorder.ts';
import { installIgnition } from '../ignition/install-ignition.ts';
import { AGENT_MACHINE_ANNOTATION } from './agent-machine.ts';

const SHARED = 'one-workers-x86-64';
const WORKER = { isLiveIso: true, template: 'workers' } as const;
const key = (name: string) => ({ namespace: NAMESPACE, name });

async function specOf(world: BootstrapWorld, name: string) {
  return (await world.env.client.get(Agent, key(name))).spec;
}

/** Of the Agent: the Machine it is marked with, its role and whether it is approved. */
async function fateOf(world: BootstrapWorld, name: string) {
  const { metadata, spec } = await world.env.client.get(Agent, key(name));
  return [metadata.annotations?.[AGENT_MACHINE_ANNOTATION], spec.role, spec.approved];
}

describe('an Agent of the InfraEnv of a Machine', () => {
  it('agent/G3, agent/G5, agent/G7, agent/G8: gets the role of its Machine, the ignition of the node and the arguments of the installer', async () => {
    await using world = await BootstrapWorld.running();
    const spec = {
      nodeRegistration: { name: '$METADATA_NAME', kubeletExtraLabels: ['metal3.io/uuid=$METADATA_UUID'] },
      kernelArguments: [{ operation: 'append', value: 'quiet' }],
    } as const;
    await world.outside.machine('m', { isControlPlane: true, spec });
    await world.outside.machine('w');
    await world.env.settle();
    await world.outside.agent('host-m', 'm');
    await world.outside.agent('host-w', 'w');
    await world.env.settle();
    const { hostname, nodeLabels, ...master } = await specOf(world, 'host-m');
    assert.deepEqual([hostname, nodeLabels], [undefined, undefined]);
    assert.deepEqual(master, {
      approved: true,
      role: 'master',
      clusterDeploymentName: { name: 'one', namespace: NAMESPACE },
      ignitionConfigOverrides: installIgnition({ pullSecretRef: { name: 'pull' }, ...spec }, undefined),
      installerArgs: '["--append-karg","quiet"]',
    });
    const worker = await specOf(world, 'host-w');
    assert.deepEqual([worker.role, worker.approved, worker.installerArgs], ['worker', true, '[]']);
    assert.ok((await world.events()).some((text) => text === 'AgentApproved Agent/host-w: The host is Machine w'));
  });

  it('agent/G6: is written once, and again when the override of the config changes', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('w');
    await world.env.settle();
    await world.outside.agent('host', 'w');
    await world.env.settle();
    await expectNoWrites(world.env.recorder, () => world.env.advance(10 * 60_000));
    const override = JSON.stringify({ ignition: { version: '3.1.0' }, storage: { files: [{ path: '/etc/x' }] } });
    const body = { metadata: { annotations: { [IGNITION_OVERRIDE]: override } } };
    await world.env.client.patch(OpenshiftAssistedConfig, key('w'), { type: 'merge', body });
    await world.env.settle();
    assert.match((await specOf(world, 'host')).ignitionConfigOverrides ?? '', /\/etc\/x/);
  });

  it('agent/G4: of two on one InfraEnv the oldest that is approved stays so, and people are told of the other', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('w');
    await world.env.settle();
    await world.outside.agent('zzz', 'w');
    await world.env.advance(5_000);
    await world.outside.agent('aaa', 'w', { isApproved: true });
    await world.env.settle();
    assert.deepEqual(await fateOf(world, 'zzz'), ['w', 'worker', true]);
    assert.deepEqual(await fateOf(world, 'aaa'), ['w', 'worker', false]);
    assert.ok(
      (await world.events()).some((text) =>
        text.startsWith('DuplicateAgent Agent/aaa: Machine w has the host zzz'),
      ),
    );
    const condition = await world.condition('w', 'AgentsMatched');
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'DuplicateAgent']);
    assert.match(condition?.message ?? '', /Agent aaa claim/);
    await world.env.client.delete(Agent, key('zzz'));
    await world.env.advance(60_000);
    assert.equal((await specOf(world, 'aaa')).approved, true);
    assert.equal((await world.condition('w', 'AgentsMatched'))?.status, 'True');
  });

  it('agent/G1, agent/G2, agent/X12: foreign Agents are left alone without an error', async () => {
    await using world = await BootstrapWorld.running();
    await world.env.client.create(Agent, {
      apiVersion: 'agent-install.openshift.io/v1beta1',
      kind: 'Agent',
      metadata: key('unlabelled'),
      spec: { approved: false, role: '' },
    });
    await world.outside.agent('lost', 'no-such-infra-env');
    await world.env.advance(60_000);
    for (const name of ['unlabelled', 'lost']) assert.deepEqual(await fateOf(world, name), [undefined, '', false]);
    assert.deepEqual(await world.events(), []);
  });

  it('agent/G1: is found when it comes before the InfraEnv, its Machine or its config are known', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.agent('early', 'w');
    await world.env.settle();
    await world.outside.machine('w');
    await world.env.settle();
    assert.deepEqual(await fateOf(world, 'early'), ['w', 'worker', true]);
  });

  it('agent/X9: a worker that comes while an installation runs is held; who takes part in it stays', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('a');
    await world.outside.machine('b');
    await world.env.settle();
    await world.outside.agent('host-a', 'a');
    await world.env.settle();
    await world.outside.state('installing');
    await world.outside.agent('host-b', 'b');
    await world.env.advance(120_000);
    assert.deepEqual(await fateOf(world, 'host-a'), ['a', 'worker', true]);
    assert.deepEqual(await fateOf(world, 'host-b'), ['b', 'worker', false]);
    assert.equal((await world.condition('b', 'AgentsMatched'))?.reason, 'AgentHeld');
    assert.ok((await world.events()).some((text) => text.startsWith('AgentHeld Agent/host-b')));
    await world.outside.state('adding-hosts');
    await world.env.settle();
    assert.deepEqual(await fateOf(world, 'host-b'), ['b', 'worker', true]);
    assert.equal((await world.condition('b', 'AgentsMatched'))?.status, 'True');
  });

  it('agent/X11: is left alone while its Cluster is paused', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.machine('w');
    await world.env.settle();
    await world.outside.pause();
    await world.outside.agent('host', 'w');
    await world.env.advance(60_000);
    assert.deepEqual(await fateOf(world, 'host'), [undefined, '', false]);
    await world.outside.pause('one', false);
    await world.env.settle();
    assert.deepEqual(await fateOf(world, 'host'), ['w', 'worker', true]);
  });
});

describe('Agents that booted one ISO', () => {
  async function twoMachines(): Promise<BootstrapWorld> {
    const world = await BootstrapWorld.running();
    await world.outside.template('workers');
    const nodeRegistration = {
      name: '$METADATA_NAME',
      kubeletExtraLabels: ['metal3.io/uuid=${METADATA_UUID}', 'zone=$METADATA_ZONE'],
      providerID: 'metal3://$METADATA_PROVIDERID',
    };
    await world.outside.machine('a', { ...WORKER, spec: { nodeRegistration } });
    await world.outside.machine('b', WORKER);
    await world.env.settle();
    await world.outside.infraEnvReady(SHARED);
    await world.env.settle();
    return world;
  }

  it('belong to the Machine whose host has their MAC address or system UUID, and get what is known of that host', async () => {
    await using world = await twoMachines();
    const host = await world.outside.host('a', { mac: 'AA:BB:CC:00:00:01' });
    const uuid = '11111111-2222-3333-4444-555555555555';
    await world.outside.host('b', { id: uuid.toUpperCase() });
    await world.outside.agent('first', SHARED, { mac: 'aa:bb:cc:00:00:01' });
    await world.outside.agent(uuid, SHARED, { mac: 'aa:bb:cc:00:00:99' });
    await world.env.settle();
    assert.deepEqual(await fateOf(world, 'first'), ['a', 'worker', true]);
    assert.deepEqual(await fateOf(world, uuid), ['b', 'worker', true]);
    const spec = await specOf(world, 'first');
    assert.equal(spec.hostname, 'host-a');
    assert.deepEqual(spec.nodeLabels, { 'metal3.io/uuid': host.metadata.uid });
    const expected = installIgnition(
      {
        nodeRegistration: {
          kubeletExtraLabels: [`metal3.io/uuid=${host.metadata.uid}`, 'zone=$METADATA_ZONE'],
          providerID: `metal3://${NAMESPACE}/host-a/m3-a`,
        },
      },
      undefined,
    );
    assert.equal(spec.ignitionConfigOverrides, expected);
    await expectNoWrites(world.env.recorder, () => world.env.advance(30 * 60_000));
  });

  it('are not approved without a Machine, whoever approves them; configs, Agent and InfraEnv name them', async () => {
    await using world = await twoMachines();
    await world.outside.host('a', { mac: 'aa:bb:cc:00:00:01' });
    await world.outside.agent('sixth', SHARED, { mac: 'aa:bb:cc:00:00:66', isApproved: true });
    await world.env.settle();
    assert.deepEqual(await fateOf(world, 'sixth'), ['', '', false]);
    for (const name of ['a', 'b']) {
      const condition = await world.condition(name, 'AgentsMatched');
      assert.equal(condition?.reason, 'AgentWithoutMachine');
      assert.match(condition?.message ?? '', /^Agent sixth booted the ISO/);
    }
    const told = (await world.events()).filter((text) => text.startsWith('AgentWithoutMachine'));
    assert.deepEqual(told.map((text) => text.split(':')[0] ?? '').toSorted(), [
      'AgentWithoutMachine Agent/sixth',
      `AgentWithoutMachine InfraEnv/${SHARED}`,
    ]);
    const body = { spec: { approved: true } };
    await world.env.client.patch(Agent, key('sixth'), { type: 'merge', body });
    await world.env.settle();
    assert.equal((await specOf(world, 'sixth')).approved, false);
    // Somebody makes a Machine for it after all.
    await world.outside.host('b', { mac: 'aa:bb:cc:00:00:66' });
    await world.env.advance(60_000);
    assert.deepEqual(await fateOf(world, 'sixth'), ['b', 'worker', true]);
    assert.equal(await world.condition('a', 'AgentsMatched'), undefined);
    assert.equal((await world.condition('b', 'AgentsMatched'))?.status, 'True');
  });

  it('wait for their inventory before anybody calls them strangers', async () => {
    await using world = await twoMachines();
    await world.outside.host('a', { mac: 'aa:bb:cc:00:00:01' });
    const agent = await world.outside.agent('slow', SHARED);
    await world.env.advance(60_000);
    assert.deepEqual(await fateOf(world, 'slow'), [undefined, '', false]);
    await world.outside.inventory(agent, 'aa-bb-cc-00-00-01');
    await world.env.settle();
    assert.deepEqual(await fateOf(world, 'slow'), ['a', 'worker', true]);
  });

  it('that could be two hosts are not approved', async () => {
    await using world = await twoMachines();
    await world.outside.host('a', { mac: 'aa:bb:cc:00:00:01' });
    await world.outside.host('b', { mac: 'aa:bb:cc:00:00:01' });
    await world.outside.agent('both', SHARED, { mac: 'aa:bb:cc:00:00:01' });
    await world.env.settle();
    assert.deepEqual(await fateOf(world, 'both'), ['', '', false]);
    assert.ok(
      (await world.events()).some((text) => text.includes('could be any of the BareMetalHosts host-a, host-b')),
    );
  });

  it('agent/B9: of a Machine that is held wait until the installation is over', async () => {
    await using world = await twoMachines();
    await world.outside.state('installing');
    await world.outside.machine('late', WORKER);
    await world.env.settle();
    await world.outside.host('late', { mac: 'aa:bb:cc:00:00:07' });
    await world.outside.agent('by-hand', SHARED, { mac: 'aa:bb:cc:00:00:07' });
    await world.env.advance(60_000);
    assert.equal(await world.dataSecret('late'), 'WaitingForInstallComplete');
    assert.equal((await specOf(world, 'by-hand')).approved, false);
    await world.outside.state('adding-hosts');
    await world.env.advance(60_000);
    assert.deepEqual(await fateOf(world, 'by-hand'), ['late', 'worker', true]);
  });

  it('keep their Machine when their host is not described any more, and go with it', async () => {
    await using world = await twoMachines();
    await world.outside.host('a', { mac: 'aa:bb:cc:00:00:01' });
    await world.outside.host('b', { mac: 'aa:bb:cc:00:00:02' });
    await world.outside.agent('one', SHARED, { mac: 'aa:bb:cc:00:00:01' });
    await world.outside.agent('two', SHARED, { mac: 'aa:bb:cc:00:00:02' });
    await world.env.settle();
    await world.env.client.delete(BareMetalHost, key('host-a'));
    const body = { status: { debugInfo: { state: 'installed' } } };
    await world.env.advance(120_000);
    await world.env.client.patch(Agent, key('one'), { type: 'merge', body }, { subresource: 'status' });
    await world.env.settle();
    assert.deepEqual(await fateOf(world, 'one'), ['a', 'worker', true]);
    await world.env.client.delete(Machine, key('a'));
    await world.env.client.delete(OpenshiftAssistedConfig, key('a'));
    await world.env.settle();
    assert.equal(await world.find(Agent, 'one'), undefined);
    assert.notEqual(await world.find(Agent, 'two'), undefined);
  });
});
