import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BalancedCluster } from '../../../test/support/balanced-services.ts';
import { Node } from '../../api/generated/core-v1.ts';
import type { BalancerRef } from '../../sdk/capabilities/load-balancers.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { UNINITIALIZED_TAINT } from '../node/desired.ts';
import { EXCLUSION_LABEL } from './eligible-nodes.ts';

const SET = 'loadBalancers.setBackends';
const down = () => {
  throw new ProviderError('unavailable', 'the cloud is down');
};

async function balanced(nodes = ['n1', 'n2']): Promise<BalancedCluster> {
  const cluster = await BalancedCluster.start({ nodes });
  await cluster.create('web');
  cluster.forgetCalls();
  return cluster;
}

/** Holds calls of a method until it is opened. */
function gate(cluster: BalancedCluster, method: string): { open(): Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  cluster.cloud.on(method, () => promise);
  return {
    open: async () => {
      cluster.cloud.on(method, undefined);
      resolve();
      await cluster.env.settle();
    },
  };
}

describe('backends', () => {
  it('ccm/S22, ccm/S25: follow nodes that come and go', async () => {
    await using cluster = await balanced();
    await cluster.addNode('n3');
    await cluster.env.settle();
    assert.deepEqual(cluster.backendNames, ['n1', 'n2', 'n3']);
    await cluster.deleteNode('n1');
    assert.deepEqual(cluster.backendNames, ['n2', 'n3']);
    assert.deepEqual(cluster.calls, ['setBackends', 'setBackends']);
    assert.equal(
      (await cluster.events('web')).at(-1),
      'Normal UpdatedLoadBalancer: Updated load balancer with new hosts',
    );
  });

  it('ccm/S21, ccm/S22, ccm/C20: follow the exclusion, and not a label that excludes nobody', async () => {
    await using cluster = await balanced();
    await cluster.patchNode('n1', { metadata: { labels: { [EXCLUSION_LABEL]: 'false' } } });
    assert.deepEqual(cluster.calls, []);
    await cluster.patchNode('n1', { metadata: { labels: { [EXCLUSION_LABEL]: '' } } });
    assert.deepEqual(cluster.backendNames, ['n2']);
    assert.deepEqual(cluster.calls, ['setBackends']);
  });

  it('ccm/S20, ccm/C21: do not follow readiness', async () => {
    await using cluster = await balanced();
    const conditions = [{ type: 'Ready', status: 'False', reason: 'x', message: 'x' }];
    await cluster.env.client.patch(
      Node,
      { name: 'n1' },
      { type: 'merge', body: { status: { conditions } } },
      { subresource: 'status' },
    );
    await cluster.env.settle();
    await cluster.env.advance(600_000);
    assert.deepEqual(cluster.calls, []);
  });

  it('ccm/C22, ccm/B4: take a node when it gets its provider ID, with one call for each Service', async () => {
    await using cluster = await balanced();
    await cluster.create('second');
    await cluster.addNode('n3', { spec: { providerID: '' } });
    await cluster.env.settle();
    cluster.forgetCalls();
    await cluster.patchNode('n3', { spec: { providerID: 'fake://n3' } });
    assert.deepEqual(cluster.calls, ['setBackends', 'setBackends']);
    const names = cluster.cloud.callsOf(SET).map(({ args }) => (args[0] as BalancerRef).service.name);
    assert.deepEqual(names.toSorted(), ['second', 'web']);
    for (const { backends } of cluster.cloud.balancers.values())
      assert.deepEqual(backends.at(-1)?.providerID, 'fake://n3');
  });

  it('ccm/B4: wait for a node that is not initialised, though it has its provider ID from the kubelet', async () => {
    await using cluster = await balanced();
    await cluster.addNode('n3', { spec: { taints: [{ key: UNINITIALIZED_TAINT, effect: 'NoSchedule' }] } });
    await cluster.env.settle();
    assert.deepEqual(cluster.calls, []);
    await cluster.patchNode('n3', { spec: { taints: [] } });
    assert.deepEqual(cluster.backendNames, ['n1', 'n2', 'n3']);
  });

  it('ccm/S20: take every node at once when nobody is to wait', async () => {
    await using cluster = await BalancedCluster.start({ settings: { holdBackUninitializedNodes: false } });
    await cluster.create('web');
    await cluster.addNode('n3', { spec: { providerID: '' }, addresses: [] });
    await cluster.env.settle();
    assert.deepEqual(cluster.backendNames, ['n1', 'n2', 'n3']);
  });

  it('ccm/S25: are none after the last node, with a warning', async () => {
    await using cluster = await balanced(['n1']);
    await cluster.deleteNode('n1');
    assert.deepEqual(cluster.backendNames, []);
    const warning = 'Warning UnAvailableLoadBalancer: There are no available nodes for LoadBalancer';
    assert.equal((await cluster.events('web')).at(-1), warning);
  });

  it('ccm/S23: are not those of Services that want no balancer', async () => {
    await using cluster = await balanced();
    await cluster.create('inner', { spec: { type: 'ClusterIP' } });
    await cluster.create('other', { spec: { loadBalancerClass: 'example.com/x' } });
    await cluster.addNode('n3');
    await cluster.env.settle();
    assert.deepEqual(cluster.calls, ['setBackends']);
  });

  it('ccm/S25: are somebody else’s where he says so', async () => {
    await using cluster = await balanced();
    cluster.cloud.on(SET, () => 'elsewhere');
    await cluster.addNode('n3');
    await cluster.env.settle();
    assert.deepEqual(cluster.calls, ['setBackends']);
    assert.equal((await cluster.reasons('web')).at(-1), 'EnsuredLoadBalancer');
  });

  it('ccm/S26, ccm/C23: are no trouble of a balancer that is gone', async () => {
    await using cluster = await balanced();
    cluster.cloud.balancers.clear();
    await cluster.addNode('n3');
    await cluster.env.settle();
    assert.deepEqual(cluster.calls, ['setBackends']);
    cluster.cloud.on(SET, down);
    await cluster.addNode('n4');
    await cluster.env.advance(600_000);
    assert.deepEqual(cluster.calls, ['setBackends', 'setBackends', 'find']);
    assert.equal((await cluster.reasons('web')).at(-1), 'EnsuredLoadBalancer');
  });

  it('ccm/S24, ccm/S26: are repaired by a whole ensure when they cannot be set', async () => {
    await using cluster = await balanced(Array.from({ length: 21 }, (_, at) => `n${at + 10}`));
    cluster.cloud.on(SET, down);
    await cluster.addNode('n99');
    await cluster.env.settle();
    assert.deepEqual(cluster.calls, ['setBackends', 'find', 'ensure']);
    assert.equal(cluster.backendNames.length, 22);
    const names = Array.from({ length: 20 }, (_, at) => `n${at + 10}`).join(' ');
    const hosts = `[${names} <2 more>] [node names limited, total number of nodes: 22]`;
    const note = `Error updating load balancer with new hosts ${hosts}, error: the cloud is down`;
    assert.deepEqual((await cluster.events('web')).slice(2, 3), [`Warning UpdateLoadBalancerFailed: ${note}`]);
    assert.match(await cluster.manager.metrics.text(), /^service_controller_nodesync_error_total 1$/m);
  });

  it('ccm/S26: are repaired also when nobody can say whether the balancer is there', async () => {
    await using cluster = await balanced();
    cluster.cloud.on(SET, down);
    cluster.cloud.on('loadBalancers.find', down);
    await cluster.addNode('n3');
    await cluster.env.settle();
    assert.deepEqual(cluster.calls, ['setBackends', 'find', 'ensure']);
    assert.ok((await cluster.reasons('web')).includes('UpdateLoadBalancerFailed'));
  });

  it('ccm/B12: wait for the first ensure after a start, which sets them itself', async () => {
    await using cluster = await balanced();
    await cluster.create('second');
    await cluster.stop();
    cluster.forgetCalls();
    await cluster.addNode('n3');
    // One of both is being ensured, the other waits for its turn.
    const ensuring = gate(cluster, 'loadBalancers.ensure');
    await cluster.run();
    assert.deepEqual(cluster.calls, ['ensure']);
    await ensuring.open();
    assert.deepEqual(cluster.calls, ['ensure', 'ensure']);
    for (const { backends } of cluster.cloud.balancers.values()) assert.equal(backends.length, 3);
  });

  it('ccm/S23: are set for all Services, at most so many at once', async () => {
    await using cluster = await BalancedCluster.start({ settings: { concurrentServiceSyncs: 2 } });
    for (const name of ['a', 'b', 'c', 'd']) await cluster.create(name);
    let [active, most] = [0, 0];
    cluster.cloud.on(SET, async () => {
      most = Math.max(most, ++active);
      await cluster.env.clock.sleep(1000);
      active--;
    });
    await cluster.addNode('n3');
    await cluster.env.advance(10_000);
    assert.equal(most, 2);
    assert.equal(cluster.cloud.callsOf(SET).length, 4);
  });

  it('ccm/S28: are counted and timed under the names that upstream has', async () => {
    await using cluster = await balanced();
    await cluster.addNode('n3');
    await cluster.env.settle();
    const text = await cluster.manager.metrics.text();
    assert.match(text, /^service_controller_loadbalancer_sync_total 2$/m);
    assert.match(text, /^service_controller_nodesync_error_total 0$/m);
    assert.match(text, /^service_controller_nodesync_latency_seconds_bucket\{le="16384"\} [1-9]/m);
    assert.match(text, /^service_controller_update_loadbalancer_host_latency_seconds_count 1$/m);
  });
});

describe('two that want the same balancer', () => {
  it('ccm/B3: a deletion waits for the ensure that runs', async () => {
    await using cluster = await BalancedCluster.start({ settings: { concurrentServiceSyncs: 2 } });
    const ensuring = gate(cluster, 'loadBalancers.ensure');
    await cluster.create('web');
    await cluster.delete('web');
    assert.deepEqual(cluster.calls, ['ensure']);
    await ensuring.open();
    assert.deepEqual(cluster.calls, ['ensure', 'find', 'remove']);
    assert.equal(cluster.cloud.balancers.size, 0);
    assert.equal(await cluster.get('web'), undefined);
  });

  it('ccm/B3: a change of nodes waits for the ensure that runs, and then sets what it has missed', async () => {
    await using cluster = await BalancedCluster.start();
    const ensuring = gate(cluster, 'loadBalancers.ensure');
    await cluster.create('web');
    await cluster.addNode('n3');
    await cluster.env.settle();
    assert.deepEqual(cluster.calls, ['ensure']);
    await ensuring.open();
    assert.deepEqual(cluster.calls, ['ensure', 'setBackends']);
    assert.deepEqual(cluster.backendNames, ['n1', 'n2', 'n3']);
  });

  it('ccm/B3: a change of nodes leaves a balancer alone that is being removed, then and later', async () => {
    await using cluster = await balanced();
    const removing = gate(cluster, 'loadBalancers.remove');
    await cluster.delete('web');
    await cluster.addNode('n3');
    await cluster.env.settle();
    assert.deepEqual(cluster.calls, ['find', 'remove']);
    await removing.open();
    await cluster.addNode('n4');
    await cluster.env.settle();
    assert.deepEqual(cluster.calls, ['find', 'remove']);
    assert.equal(cluster.cloud.balancers.size, 0);
  });

  it('ccm/B3: one balancer that takes long does not hold up the others', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    const ensuring = gate(cluster, 'loadBalancers.ensure');
    await cluster.create('slow');
    await cluster.addNode('n3');
    await cluster.env.settle();
    assert.deepEqual(
      cluster.cloud.callsOf(SET).map(({ args }) => (args[0] as BalancerRef).service.name),
      ['web'],
    );
    await ensuring.open();
    assert.equal(cluster.cloud.callsOf(SET).length, 2);
  });
});
