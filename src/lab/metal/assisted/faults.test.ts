import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AssistedWorld, CLUSTER, NAMESPACE } from '../../../../test/support/assisted-world.ts';
import { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import { conditionIn } from './assisted-conditions.ts';

const KEY = { namespace: NAMESPACE, name: CLUSTER };

/** One host, approved. */
async function begun(): Promise<AssistedWorld> {
  const world = await AssistedWorld.start({ pace: 0.1 });
  await world.addCluster({ controlPlaneAgents: 1 });
  await world.addHosts('m1');
  await world.env.advance(60_000);
  await world.approve('m1');
  return world;
}

const stateOf = async (world: AssistedWorld): Promise<string | undefined> =>
  (await world.agent('m1')).status?.debugInfo?.state;
const keyOfAgent = async (world: AssistedWorld) => ({
  namespace: NAMESPACE,
  name: (await world.agent('m1')).metadata.name,
});

describe('accidents', () => {
  it('agent/F: a host that fails makes its cluster fail', async () => {
    await using world = await begun();
    world.faults.failAgent(await keyOfAgent(world), {
      kind: 'error',
      message: 'the disk is slow',
      at: 'Rebooting',
    });
    await world.untilState('error');
    assert.equal(await stateOf(world), 'error');
    const { conditions, debugInfo } = (await world.install()).status ?? {};
    assert.equal(debugInfo?.stateInfo, 'host m1: the disk is slow');
    assert.equal(conditionIn(conditions, 'Failed')?.status, 'True');
  });

  it('agent/F: a host that needs somebody goes on when that has happened', async () => {
    await using world = await begun();
    const key = await keyOfAgent(world);
    world.faults.failAgent(key, { kind: 'pending-user-action', message: 'boot order', at: 'Rebooting' });
    await world.untilState('installing-pending-user-action');
    assert.equal(await stateOf(world), 'installing-pending-user-action');
    world.faults.failAgent(key, undefined);
    await world.untilState('adding-hosts');
  });

  it('agent/F: an installation fails or is cancelled when it is to', async () => {
    for (const kind of ['error', 'cancelled'] as const) {
      await using world = await begun();
      world.faults.failInstall(KEY, { kind, message: 'asked for' });
      await world.env.advance(1000);
      assert.equal(await world.state(), kind);
    }
  });

  it('agent/F: two Agents of one InfraEnv are one too many', async () => {
    await using world = await AssistedWorld.start({ pace: 0.1 });
    await world.addCluster({ controlPlaneAgents: 1 });
    world.faults.doubleAgents({ namespace: NAMESPACE, name: 'm1' }, true);
    const [host] = await world.addHosts('m1');
    await world.env.advance(60_000);
    const agents = await world.agents('m1');
    assert.equal(agents.length, 2);
    const key = { namespace: NAMESPACE, name: host?.id ?? '' };
    const body = { spec: { approved: true, role: 'master' } };
    await world.env.client.patch(Agent, key, { type: 'merge', body });
    await world.env.advance(60_000);
    const { reason } = conditionIn((await world.install()).status?.conditions, 'RequirementsMet') ?? {};
    assert.equal(reason, 'AdditionalAgents');
  });

  it('agent/F: a host registers when the service is back', async () => {
    await using world = await AssistedWorld.start({ pace: 0.1 });
    await world.addCluster({ controlPlaneAgents: 1 });
    await world.addHosts('m1');
    world.faults.failRest('timeout');
    await world.env.advance(60_000);
    assert.match(world.hosts.powered[0]?.problem ?? '', /does not answer/);
    world.faults.failRest({ status: 500 });
    await world.env.advance(60_000);
    assert.equal(world.hosts.powered[0]?.problem, 'the service answers 500');
    world.faults.failRest(undefined);
    await world.env.advance(60_000);
    assert.equal(world.hosts.powered[0]?.problem, undefined);
    assert.equal((await world.agents('m1')).length, 1);
  });

  it('agent/F: a host whose kubelet does not start fails, and says why', async () => {
    await using world = await begun();
    const script = '#!/bin/bash\necho "CUSTOM_KUBELET_LABELS=a b=c" >> /etc/kubernetes/kubelet-env\n';
    const ignition = {
      ignition: { version: '3.1.0' },
      storage: {
        files: [{ path: '/usr/local/bin/l', contents: { source: `data:,${encodeURIComponent(script)}` } }],
      },
      systemd: {
        units: [{ name: 'kubelet-customlabels.service', enabled: true, contents: 'ExecStart=/usr/local/bin/l' }],
      },
    };
    const body = { spec: { ignitionConfigOverrides: JSON.stringify(ignition) } };
    await world.env.client.patch(Agent, await keyOfAgent(world), { type: 'merge', body });
    await world.untilState('error');
    const { stateInfo } = (await world.agent('m1')).status?.debugInfo ?? {};
    assert.match(stateInfo ?? '', /^the kubelet does not start: --node-labels has a b=c/);
  });

  it('agent/F: a host that is off waits to be switched on', async () => {
    await using world = await begun();
    const [one] = world.hosts.powered;
    assert.ok(one);
    await world.hosts.wipe(one.host.id);
    await world.env.advance(1_200_000);
    assert.equal(await world.state(), 'installing');
    assert.equal((await world.agent('m1')).status?.progress?.currentStage, 'Rebooting');
    await world.hosts.powerOn(one.host);
    await world.untilState('adding-hosts');
  });
});
