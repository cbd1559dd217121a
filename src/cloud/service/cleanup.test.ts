import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BalancedCluster, FINALIZER } from '../../../test/support/balanced-services.ts';
import { Service } from '../../api/generated/core-v1.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';

const KEY = { namespace: 'default', name: 'web' };
const CLUSTER_IP = { spec: { type: 'ClusterIP' } };
const isServiceWrite = ({ method, target }: { readonly method: string; readonly target: string }): boolean =>
  method === 'PATCH' && target.includes('/services/');
const down = () => {
  throw new ProviderError('unavailable', 'the cloud is down');
};

/** Nobody makes the balancer of the Service any more, and nobody asks the cloud either. */
async function expectGone(cluster: BalancedCluster): Promise<void> {
  assert.equal(await cluster.get('web'), undefined);
  assert.equal(cluster.cloud.balancers.size, 0);
  cluster.forgetCalls();
  await cluster.env.advance(3_600_000);
  assert.deepEqual(cluster.calls, []);
}

/** Without its finalizer, so that nothing holds it back. */
async function force(cluster: BalancedCluster): Promise<void> {
  await cluster.env.client.patch(Service, KEY, { type: 'merge', body: { metadata: { finalizers: null } } });
  await cluster.env.client.delete(Service, KEY);
}

describe('a Service that goes', () => {
  it('ccm/S9, ccm/S10: goes when its balancer is gone', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    await cluster.delete('web');
    assert.deepEqual(cluster.calls, ['ensure', 'find', 'remove']);
    assert.deepEqual((await cluster.events('web')).slice(2), [
      'Normal DeletingLoadBalancer: Deleting load balancer',
      'Normal DeletedLoadBalancer: Deleted load balancer',
    ]);
    await expectGone(cluster);
  });

  it('ccm/S9: is not held back for a balancer that there is not', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    cluster.cloud.balancers.clear();
    await cluster.delete('web');
    assert.deepEqual(cluster.calls, ['ensure', 'find']);
    assert.deepEqual((await cluster.reasons('web')).slice(2), ['DeletedLoadBalancer']);
    await expectGone(cluster);
  });

  it('ccm/S9: waits while nobody knows whether its balancer is there', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    cluster.cloud.on('loadBalancers.find', down);
    await cluster.delete('web');
    assert.deepEqual(await cluster.finalizers('web'), [FINALIZER]);
    const what = 'failed to check if load balancer exists before cleanup: the cloud is down';
    assert.equal(
      (await cluster.events('web')).at(-1),
      `Warning SyncLoadBalancerFailed: Error syncing load balancer: ${what}`,
    );
    cluster.cloud.on('loadBalancers.find', undefined);
    await cluster.env.advance(5000);
    await expectGone(cluster);
  });

  it('ccm/S12, ccm/I3, ccm/B5: waits while its balancer cannot be removed, however often that is tried', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    cluster.cloud.on('loadBalancers.remove', () => {
      throw new ProviderError('unsupported', 'still in use');
    });
    await cluster.delete('web');
    await cluster.env.advance(3_600_000);
    assert.deepEqual(await cluster.finalizers('web'), [FINALIZER]);
    const what = 'failed to delete load balancer: still in use';
    assert.ok(
      (await cluster.events('web')).includes(
        `Warning SyncLoadBalancerFailed: Error syncing load balancer: ${what}`,
      ),
    );
    cluster.cloud.on('loadBalancers.remove', undefined);
    await cluster.env.advance(300_000);
    await expectGone(cluster);
  });

  it('ccm/I2: has also what an ensure left behind that never ended well', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.cloud.on('loadBalancers.ensure', down);
    await cluster.create('web');
    await cluster.delete('web');
    assert.deepEqual(cluster.calls, ['ensure', 'find', 'remove']);
    await expectGone(cluster);
  });

  it('ccm/S19: keeps the finalizers of others, in their order', async () => {
    await using cluster = await BalancedCluster.start();
    const [first, last] = ['example.com/first', 'example.com/last'];
    await cluster.create('web', { metadata: { finalizers: [first] } });
    assert.deepEqual(await cluster.finalizers('web'), [first, FINALIZER]);
    await cluster.patch('web', { metadata: { finalizers: [first, FINALIZER, last] } });
    await cluster.delete('web');
    assert.deepEqual(await cluster.finalizers('web'), [first, last]);
    assert.deepEqual(await cluster.ingress('web'), []);
    // It is still there and of the type, but nothing is made for it any more, by no process.
    cluster.forgetCalls();
    await cluster.patch('web', { metadata: { annotations: { a: 'b' } } });
    await cluster.restart();
    await cluster.env.advance(600_000);
    assert.deepEqual(cluster.calls, []);
    assert.equal((await cluster.reasons('web')).filter((reason) => reason === 'SyncLoadBalancerFailed').length, 0);
  });

  it('ccm/S11, ccm/C24: does not fail when it is gone before its status is written', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.cloud.on('loadBalancers.ensure', () => force(cluster));
    await cluster.create('web');
    assert.deepEqual(
      cluster.env.recorder.writes.filter(isServiceWrite).map(({ status }) => status),
      [200, 404],
    );
    assert.deepEqual((await cluster.reasons('web')).slice(0, 2), ['EnsuringLoadBalancer', 'EnsuredLoadBalancer']);
    assert.ok(!(await cluster.reasons('web')).includes('SyncLoadBalancerFailed'));
    await expectGone(cluster);
  });

  it('ccm/S11: fails when its status cannot be written for another reason', async () => {
    await using cluster = await BalancedCluster.start();
    const invalid = { kind: 'refuse', status: 422, reason: 'Invalid' } as const;
    cluster.env.faults.arm({ matches: isServiceWrite, fault: invalid, skip: 1, times: 1 });
    await cluster.create('web');
    assert.match((await cluster.events('web')).at(-1) ?? '', /failed to update load balancer status: /);
    await cluster.env.advance(5000);
    assert.equal((await cluster.ingress('web')).length, 1);
  });
});

describe('a Service that wants no balancer any more', () => {
  it('ccm/S9, ccm/S10: loses its balancer, the finalizer and the addresses', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    await cluster.patch('web', CLUSTER_IP);
    assert.deepEqual(cluster.calls, ['ensure', 'find', 'remove']);
    assert.deepEqual(await cluster.finalizers('web'), []);
    assert.deepEqual(await cluster.ingress('web'), []);
    await cluster.patch('web', { spec: { type: 'LoadBalancer' } });
    assert.equal(cluster.cloud.balancers.size, 1);
    assert.equal((await cluster.ingress('web')).length, 1);
  });

  it('ccm/C15: loses what another process has left: balancer, finalizer and addresses, with two patches', async () => {
    await using cluster = await BalancedCluster.prepare();
    await cluster.create('web', { metadata: { finalizers: [FINALIZER] }, spec: { type: 'ClusterIP' } });
    await cluster.patch('web', { status: { loadBalancer: { ingress: [{ ip: '8.8.8.8' }] } } }, 'status');
    assert.equal((await cluster.ingress('web')).length, 1);
    cluster.cloud.on('loadBalancers.find', () => []);
    await cluster.run();
    assert.deepEqual(cluster.calls, ['find', 'remove']);
    assert.deepEqual(await cluster.finalizers('web'), []);
    assert.deepEqual(await cluster.ingress('web'), []);
    assert.equal(cluster.servicePatches.length, 2);
  });

  it('ccm/C17: loses it also when it has a class, if there is one', async () => {
    for (const isThere of [true, false]) {
      await using cluster = await BalancedCluster.prepare();
      const service = await cluster.create('web', {
        metadata: { finalizers: [FINALIZER] },
        spec: { loadBalancerClass: 'example.com/x' },
      });
      await cluster.delete('web');
      const name = `a${service.metadata.uid?.replaceAll('-', '')}`.slice(0, 32);
      cluster.cloud.on('loadBalancers.find', ([ref]) => {
        assert.equal((ref as { readonly name: string }).name, name);
        return isThere ? [] : undefined;
      });
      await cluster.run();
      assert.deepEqual(cluster.calls, isThere ? ['find', 'remove'] : ['find']);
      assert.equal(await cluster.get('web'), undefined);
    }
  });

  it('ccm/S9: is cleaned up though its spec makes no sense any more', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    const annotations = { 'service.beta.kubernetes.io/load-balancer-source-ranges': 'office' };
    await cluster.patch('web', { metadata: { annotations } });
    assert.equal((await cluster.reasons('web')).at(-1), 'SyncLoadBalancerFailed');
    await cluster.delete('web');
    await expectGone(cluster);
  });
});

describe('a Service whose finalizer was taken by force', () => {
  it('ccm/S6, ccm/S8: still loses its balancer, and is remembered until that is done', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    cluster.cloud.on('loadBalancers.remove', down);
    await force(cluster);
    await cluster.env.settle();
    cluster.cloud.on('loadBalancers.remove', undefined);
    await cluster.env.advance(5000);
    assert.deepEqual((await cluster.events('web')).slice(2), [
      'Normal DeletingLoadBalancer: Deleting load balancer',
      'Warning DeleteLoadBalancerFailed: Error deleting load balancer: failed to delete load balancer: the cloud is down',
      'Normal DeletedLoadBalancer: Deleted load balancer',
    ]);
    await expectGone(cluster);
  });

  it('ccm/S7: loses it before the next one of its name gets one', async () => {
    await using cluster = await BalancedCluster.start();
    const { metadata: old } = await cluster.create('web');
    cluster.forgetCalls();
    cluster.cloud.on('loadBalancers.remove', down);
    await force(cluster);
    const { metadata: young } = await cluster.create('web');
    assert.notEqual(old.uid, young.uid);
    assert.deepEqual(new Set(cluster.calls), new Set(['remove']));
    cluster.cloud.on('loadBalancers.remove', undefined);
    await cluster.env.advance(300_000);
    assert.deepEqual(new Set(cluster.calls), new Set(['remove', 'ensure']));
    assert.equal(cluster.balancer.plan.service.uid, young.uid);
    assert.equal((await cluster.ingress('web')).length, 1);
  });

  it('ccm/S6: is nothing to do for a key that nobody knows', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('other', CLUSTER_IP as { readonly spec: { readonly type: 'ClusterIP' } });
    await cluster.delete('other');
    assert.deepEqual(cluster.calls, []);
  });
});
