import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BalancedCluster, FINALIZER } from '../../../test/support/balanced-services.ts';
import { fakeProvider, usualSettings } from '../../../test/support/cloud-controllers.ts';
import { uncoveredWrites } from '../../../test/support/role-coverage.ts';
import type { BalancerPlan } from '../../sdk/capabilities/load-balancers.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { expectExactRbac } from '../../testing/exact-rbac.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { expectNoWrites } from '../../testing/recorder.ts';
import { serviceLb } from './index.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

describe('the service controller', () => {
  it('ccm/S4: writes and calls nothing while nothing changes', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    cluster.forgetCalls();
    await expectNoWrites(cluster.env.recorder, () => cluster.env.advance(12 * HOUR_MS));
    assert.deepEqual(cluster.calls, []);
  });

  it('ccm/S14: writes no Service again after a restart', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    cluster.env.recorder.clear();
    await cluster.restart();
    assert.deepEqual(cluster.servicePatches, []);
    const [first, second] = cluster.cloud
      .callsOf('loadBalancers.ensure')
      .map(({ args }) => args[0] as BalancerPlan);
    assert.equal(first?.idempotencyToken, second?.idempotencyToken);
  });

  it('ccm/P14: uses exactly the rights that it asks for, and writes no more than every cluster allows it', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    await cluster.addNode('n3');
    await cluster.delete('web');
    expectExactRbac(cluster.env, { manager: 'service' });
    const parts = serviceLb.parts({
      manager: cluster.manager,
      provider: fakeProvider(cluster.cloud),
      settings: usualSettings(),
    });
    const role = 'system:controller:service-controller';
    const needs = parts.flatMap((part) => part.needs ?? []);
    const [controller] = parts;
    assert.ok(controller !== undefined && 'bind' in controller);
    assert.deepEqual(await uncoveredWrites(cluster.env.client, { ...controller, needs }, role), []);
    assert.ok(needs.every(({ resource, verbs }) => resource === 'services/status' || !verbs.includes('patch')));
  });

  it('ccm/P3: is left out where the cloud has no load balancers', () => {
    const cloud = new FakeCloud();
    const settings = usualSettings();
    const { instances } = cloud.capabilities;
    assert.equal(serviceLb.skipReason({ provider: fakeProvider(cloud), settings }), undefined);
    const provider = fakeProvider(cloud, { instances });
    assert.equal(serviceLb.skipReason({ provider, settings }), 'provider fake has no load balancers');
  });

  it('ccm/S13: goes on after a crash behind the finalizer, and behind the balancer', async () => {
    for (const isMade of [false, true]) {
      await using cluster = await BalancedCluster.prepare();
      const { metadata } = await cluster.create('web', { metadata: { finalizers: [FINALIZER] } });
      const name = `a${metadata.uid?.replaceAll('-', '')}`.slice(0, 32);
      const ingress = [{ ip: '203.0.113.77' }];
      const plan = { name } as BalancerPlan;
      if (isMade) cluster.cloud.balancers.set(name, { plan, backends: [], ingress });
      await cluster.run();
      assert.deepEqual(await cluster.ingress('web'), [
        { ip: isMade ? '203.0.113.77' : '203.0.113.1', ipMode: 'VIP' },
      ]);
      assert.deepEqual(cluster.backendNames, ['n1', 'n2']);
    }
  });

  it('ccm/S18: goes on with a pending balancer after a restart', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.cloud.on('loadBalancers.ensure', () => ({ kind: 'pending', retryAfterMs: 30_000, why: 'slow' }));
    await cluster.create('web');
    await cluster.stop();
    cluster.cloud.on('loadBalancers.ensure', undefined);
    await cluster.run();
    assert.equal((await cluster.ingress('web')).length, 1);
  });

  it('ccm/S9: goes on with a deletion that another process began, also behind the removal', async () => {
    for (const isRemoved of [false, true]) {
      await using cluster = await BalancedCluster.start();
      await cluster.create('web');
      await cluster.stop();
      await cluster.delete('web');
      if (isRemoved) cluster.cloud.balancers.clear();
      await cluster.run();
      assert.equal(await cluster.get('web'), undefined);
      assert.equal(cluster.cloud.balancers.size, 0);
    }
  });

  it('ccm/I2: removes what an ensure left behind that a process began and nobody ended', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.cloud.on('loadBalancers.ensure', () => {
      throw new ProviderError('uncertain', 'the connection broke');
    });
    await cluster.create('web');
    await cluster.stop();
    await cluster.delete('web');
    await cluster.run();
    assert.deepEqual(cluster.calls, ['ensure', 'find', 'remove']);
    assert.equal(await cluster.get('web'), undefined);
  });

  it('ccm/S2: cleans up what changed its type while no process ran', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    await cluster.stop();
    await cluster.patch('web', { spec: { type: 'NodePort' } });
    await cluster.run();
    assert.equal(cluster.cloud.balancers.size, 0);
    assert.deepEqual(await cluster.finalizers('web'), []);
  });

  it('ccm/B13: gives the cloud a signal that ends with the process, and tells nobody of what it cut off', async () => {
    await using cluster = await BalancedCluster.start();
    let isCut = false;
    cluster.cloud.on(
      'loadBalancers.ensure',
      (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            isCut = true;
            reject(signal.reason as Error);
          });
        }),
    );
    await cluster.create('web');
    await cluster.stop();
    assert.equal(isCut, true);
    assert.deepEqual(await cluster.reasons('web'), ['EnsuringLoadBalancer']);
  });
});

describe('the resync of balancers', () => {
  it('ccm/B5: repairs what changed in the cloud, and is not heard while nothing did', async () => {
    await using cluster = await BalancedCluster.start({ settings: { serviceResyncPeriodMs: 10 * MINUTE_MS } });
    await cluster.create('web');
    await expectNoWrites(cluster.env.recorder, () => cluster.env.advance(30 * MINUTE_MS));
    assert.equal(cluster.calls.length, 4);
    cluster.cloud.balancers.clear();
    cluster.cloud.balancers.set('other', { plan: {} as BalancerPlan, backends: [], ingress: [] });
    cluster.env.recorder.clear();
    await cluster.env.advance(10 * MINUTE_MS);
    assert.deepEqual(await cluster.ingress('web'), [{ ip: '203.0.113.2', ipMode: 'VIP' }]);
    assert.equal((await cluster.reasons('web')).filter((reason) => reason === 'EnsuredLoadBalancer').length, 2);
  });

  it('ccm/B5: says when it fails, and when all is well again', async () => {
    await using cluster = await BalancedCluster.start({ settings: { serviceResyncPeriodMs: 10 * MINUTE_MS } });
    await cluster.create('web');
    cluster.cloud.on('loadBalancers.ensure', () => {
      throw new ProviderError('unavailable', 'the cloud is down');
    });
    await cluster.env.advance(10 * MINUTE_MS);
    assert.equal((await cluster.reasons('web')).at(-1), 'SyncLoadBalancerFailed');
    cluster.cloud.on('loadBalancers.ensure', undefined);
    await cluster.env.advance(20 * MINUTE_MS);
    assert.equal((await cluster.reasons('web')).at(-1), 'EnsuredLoadBalancer');
  });

  it('ccm/B6: lets new Services go first', async () => {
    await using cluster = await BalancedCluster.start({ settings: { serviceResyncPeriodMs: 10 * MINUTE_MS } });
    for (const name of ['a', 'b', 'c']) await cluster.create(name);
    cluster.forgetCalls();
    // The first resync takes so long that everything else has to wait for it.
    cluster.cloud.on('loadBalancers.ensure', () => cluster.env.clock.sleep(MINUTE_MS));
    await cluster.env.advance(10 * MINUTE_MS);
    await cluster.create('new');
    cluster.cloud.on('loadBalancers.ensure', undefined);
    await cluster.env.advance(2 * MINUTE_MS);
    const names = cluster.cloud
      .callsOf('loadBalancers.ensure')
      .map(({ args }) => (args[0] as BalancerPlan).service.name);
    assert.deepEqual(names.slice(0, 2), ['a', 'new']);
    assert.deepEqual(names.slice(2).toSorted(), ['b', 'c']);
  });
});
