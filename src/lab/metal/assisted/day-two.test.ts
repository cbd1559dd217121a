import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AssistedWorld, CLUSTER, NAMESPACE, RELEASE } from '../../../../test/support/assisted-world.ts';
import { Agent, InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import { Node, Secret } from '../../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../../api/hive/hive-v1.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { conditionIn } from './assisted-conditions.ts';
import { workloadWish } from './workload-wish.ts';

const KEY = { namespace: NAMESPACE, name: CLUSTER };

/** On one host, and pace for tests that look at what comes after it. */
async function installed(): Promise<AssistedWorld> {
  const world = await AssistedWorld.start({ pace: 0.1 });
  await world.addCluster({ controlPlaneAgents: 1 });
  await world.addHosts('m1');
  await world.env.advance(60_000);
  await world.approve('m1');
  await world.untilState('adding-hosts');
  return world;
}

const facts = async (world: AssistedWorld, infraEnv: string) => {
  const { status } = await world.agent(infraEnv);
  return [status?.debugInfo?.state, status?.kind, status?.progress?.currentStage];
};

const nodeNames = async ({ clusters }: AssistedWorld): Promise<readonly string[]> => {
  const nodes = await clusters.find(KEY)?.client.live.list(Node);
  return nodes?.items.map(({ metadata }) => metadata.name).toSorted() ?? [];
};

describe('a cluster that is installed', () => {
  it('agent/S22: takes each further host by itself when it is approved', async () => {
    await using world = await installed();
    await world.addHosts('w1', 'w2');
    await world.env.advance(60_000);
    assert.deepEqual(await facts(world, 'w1'), ['known', 'AddToExistingClusterHost', undefined]);
    await world.approve('w1');
    await world.env.advance(300_000);
    assert.deepEqual(await facts(world, 'w1'), ['added-to-existing-cluster', 'AddToExistingClusterHost', 'Done']);
    assert.deepEqual(await facts(world, 'w2'), ['known', 'AddToExistingClusterHost', undefined]);
    assert.deepEqual(await nodeNames(world), ['m1', 'w1']);
    assert.equal(await world.state(), 'adding-hosts');
  });

  it('agent/S22: keeps the kubeconfig and the counts of its installation', async () => {
    await using world = await installed();
    const secret = { namespace: NAMESPACE, name: `${CLUSTER}-admin-kubeconfig` };
    const before = await world.env.client.live.get(Secret, secret);
    const body = { spec: { provisionRequirements: { controlPlaneAgents: 1, workerAgents: 7 } } };
    await world.env.client.patch(AgentClusterInstall, KEY, { type: 'merge', body });
    await world.env.advance(600_000);
    assert.equal(await world.state(), 'adding-hosts');
    assert.deepEqual((await world.env.client.live.get(Secret, secret)).data, before.data);
  });

  it('agent/S23: goes with its installation, its Agents and its nodes when it is deleted', async () => {
    await using world = await installed();
    await world.addHosts('w1');
    await world.env.advance(60_000);
    await world.env.client.delete(ClusterDeployment, KEY);
    await world.env.advance(60_000);
    assert.equal(await world.env.client.live.find(ClusterDeployment, KEY), undefined);
    assert.equal(await world.env.client.live.find(AgentClusterInstall, KEY), undefined);
    assert.deepEqual(await world.agents(), []);
    assert.equal(world.clusters.find(KEY), undefined);
    // A host that was not installed looks for its cluster in vain.
    await world.env.advance(600_000);
    assert.deepEqual(await world.agents(), []);
    const { problem } = world.hosts.powered.find(({ host }) => host.name === 'w1') ?? {};
    assert.equal(problem, 'the service answers 409');
  });

  it('agent/S23: an InfraEnv goes at once, and takes its Agents with it', async () => {
    await using world = await installed();
    await world.addHosts('w1');
    await world.env.advance(60_000);
    await world.env.client.delete(InfraEnv, { namespace: NAMESPACE, name: 'w1' });
    await world.env.advance(10_000);
    assert.equal(await world.env.client.live.find(InfraEnv, { namespace: NAMESPACE, name: 'w1' }), undefined);
    assert.deepEqual(await world.agents('w1'), []);
  });

  it('agent/S17: a host whose Agent was deleted registers again', async () => {
    await using world = await installed();
    await world.addHosts('w1');
    await world.env.advance(60_000);
    const { metadata } = await world.agent('w1');
    await world.env.client.delete(Agent, { namespace: NAMESPACE, name: metadata.name });
    await world.env.advance(60_000);
    const again = await world.agent('w1');
    assert.equal(again.metadata.name, metadata.name);
    assert.notEqual(again.metadata.uid, metadata.uid);
  });

  it('agent/S15: a machine that is wiped leaves its cluster, and is new when it is switched on again', async () => {
    await using world = await installed();
    const [host] = await world.addHosts('w1');
    await world.env.advance(60_000);
    await world.approve('w1');
    await world.env.advance(300_000);
    await world.hosts.wipe(host?.id ?? '');
    await world.hosts.wipe('unknown');
    assert.deepEqual(
      world.hosts.powered.map(({ host: { name } }) => name),
      ['m1'],
    );
    assert.deepEqual(
      world.hosts.record.map(({ name, event }) => `${name} ${event}`),
      ['m1 on', 'w1 on', 'w1 off'],
    );
  });

  it('agent/S18: uses exactly the rights it asks for', async () => {
    await using world = await installed();
    await world.addHosts('w1');
    await world.env.advance(60_000);
    // So that a Secret has to be brought up to date.
    const secret = { namespace: NAMESPACE, name: `${CLUSTER}-admin-kubeconfig` };
    await world.env.client.patch(Secret, secret, { type: 'merge', body: { data: { kubeconfig: 'eA==' } } });
    await world.stopManager();
    await world.startManager();
    await world.env.client.delete(ClusterDeployment, KEY);
    await world.env.client.delete(InfraEnv, { namespace: NAMESPACE, name: 'w1' });
    await world.env.advance(60_000);
    expectExactRbac(world.env);
  });
});

describe('platforms', () => {
  const CASES = [
    { name: 'None unless told otherwise', spec: {}, want: ['None', false, undefined] },
    {
      name: 'BareMetal where both addresses are given',
      spec: { apiVIPs: ['192.0.2.1'], ingressVIPs: ['192.0.2.2'] },
      want: ['BareMetal', false, undefined],
    },
    {
      name: 'External with a cloud controller manager',
      spec: {
        platformType: 'External',
        external: { platformName: 'acme', cloudControllerManager: 'External' },
      },
      want: ['External', true, 'acme'],
    },
    { name: 'External without', spec: { platformType: 'External' }, want: ['External', false, undefined] },
  ] as const;
  for (const { name, spec, want } of CASES) {
    it(`agent/S20: the cluster is of platform ${name}`, () => {
      const meta = { apiVersion: 'x', kind: 'x', metadata: { name: 'ocp', namespace: 'n', uid: '12345678-0' } };
      const wish = workloadWish(
        { ...meta, spec: { ...spec, provisionRequirements: { controlPlaneAgents: 1 } } },
        {
          ...meta,
          spec: { clusterName: 'a-name-that-is-too-long-for-it', baseDomain: 'example.com', platform: {} },
        },
        { version: '4.20.1', image: 'i' },
      );
      assert.deepEqual([wish.platform, wish.hasExternalCloudProvider, wish.platformName], want);
      assert.equal(wish.infraId, 'a-name-that-is-too-lo-12345');
      assert.equal(wish.isSingleNode, true);
    });
  }
});

describe('an installation that lacks something', () => {
  it('agent/S18: says what, and begins when it is there', async () => {
    await using world = await AssistedWorld.start();
    await world.addCluster({ controlPlaneAgents: 1 }, { imageSetRef: { name: 'later' } });
    const synced = async () => {
      const { status, reason, message } =
        conditionIn((await world.install()).status?.conditions, 'SpecSynced') ?? {};
      return `${status} ${reason}: ${message}`;
    };
    assert.match(await synced(), /^False InputError: .*there is no ClusterImageSet later; create it$/);
    assert.equal(await world.state(), '');
    const set = { apiVersion: 'hive.openshift.io/v1', kind: 'ClusterImageSet', metadata: { name: 'later' } };
    await world.env.client.create(ClusterImageSet, { ...set, spec: { releaseImage: 'unknown:1' } });
    await world.env.settle();
    assert.match(await synced(), /nobody has the release image unknown:1 of ClusterImageSet later/);
    const body = { spec: { releaseImage: RELEASE } };
    await world.env.client.patch(ClusterImageSet, { name: 'later' }, { type: 'merge', body });
    await world.env.settle();
    assert.deepEqual([await world.state(), await synced()], ['insufficient', 'True SyncOK: The spec was applied']);
  });
});
