// A cloud that is down for a minute, and one that has no room for another load balancer.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Node, Service } from '../../src/api/generated/core-v1.ts';
import { balancedService, CcmLab, hasTaint } from '../support/ccm-lab.ts';

const MINUTE_MS = 60_000;
const MACHINES = ['m-1', 'm-2'];
const WAITS = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };

describe('a cloud controller manager beside a cloud in trouble', () => {
  let world: CcmLab;
  before(async () => {
    world = await CcmLab.start({ scaled: 10, hosts: 1, cloud: { quotas: { 'load-balancers': 1 } } });
    await world.boot(MACHINES);
    await world.deploy();
    await world.untilInitialised(...MACHINES);
  });
  after(() => world[Symbol.asyncDispose]());

  const remove = (name: string) => world.cluster.client.delete(Service, { namespace: 'default', name });

  it('ccm/L4, ccm/S17, ccm/S18, ccm/N4: deletes nothing while the cloud is down, says so, and goes on by itself', async () => {
    world.cluster.node('m-1').partition(true);
    await world.untilReadiness('m-1', false);
    const { lab } = world;
    const running = await containers(world);
    const until = new Date(lab.clock.now().getTime() + MINUTE_MS).toISOString();
    using _down = lab.cloud.fault({ match: {}, effect: { status: 503 }, until });
    await world.cluster.client.patch(
      Node,
      { name: 'm-2' },
      { type: 'merge', body: { spec: { taints: [WAITS] } } },
    );
    await world.apply(balancedService('first'));
    await world.untilEvent('Service', 'first', /^Warning SyncLoadBalancerFailed .*(503|Unavailable|unavailable)/);
    await world.until('it says that it does not know', async () =>
      /The cloud did not say whether the machine of a node exists.*m-1/.test(await world.logs()),
    );
    assert.ok(hasTaint((await world.node('m-2')) ?? assert.fail('m-2 is gone'), WAITS.key));
    await world.until('the cloud is back', () => lab.clock.now().toISOString() > until);
    await world.untilInitialised('m-2');
    await world.untilBalanced('first');
    await world.untilEvent('Service', 'first', /^Normal EnsuredLoadBalancer /);
    assert.deepEqual(await containers(world), running);
    world.cluster.node('m-1').partition(false);
    await world.untilReadiness('m-1', true);
    const deletions = lab.writes().filter(({ method, path }) => method === 'DELETE' && path.includes('/nodes/'));
    assert.deepEqual(deletions, []);
  });

  it('ccm/S17, ccm/S18: names the quota that a load balancer does not fit into, and makes it once there is room', async () => {
    assert.equal(world.inCloud('load-balancers').length, 1);
    await world.apply(balancedService('second'));
    await world.untilEvent(
      'Service',
      'second',
      /^Warning SyncLoadBalancerFailed Error syncing load balancer: .*quota/i,
    );
    const service = await world.cluster.client.get(Service, { namespace: 'default', name: 'second' });
    assert.deepEqual(service.status?.loadBalancer?.ingress ?? [], []);
    await remove('first');
    await world.untilBalanced('second');
    assert.deepEqual(
      world.inCloud('load-balancers').map(({ tags }) => tags['kubernetes.io/service-name']),
      ['default/second'],
    );
    await remove('second');
    await world.until('the cloud has no load balancer', () => world.inCloud('load-balancers').length === 0);
  });
});

/** One name for each run of the program. */
const containers = async (world: CcmLab): Promise<readonly (string | undefined)[]> =>
  (await world.pods()).map(({ status }) => status?.containerStatuses?.[0]?.containerID);
