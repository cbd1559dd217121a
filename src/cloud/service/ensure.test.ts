import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BalancedCluster, FINALIZER } from '../../../test/support/balanced-services.ts';
import { Event } from '../../api/generated/core-v1.ts';
import type { BalancerPlan } from '../../sdk/capabilities/load-balancers.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { expectNoWrites } from '../../testing/recorder.ts';

const ENSURE = 'loadBalancers.ensure';
const MINUTE_MS = 60_000;
const refused = (status: number, reason: string) => ({ kind: 'refuse', status, reason }) as const;
const isServiceWrite = ({ method, target }: { readonly method: string; readonly target: string }): boolean =>
  method === 'PATCH' && target.includes('/services/');

describe('a Service that wants a load balancer', () => {
  it('ccm/S13, ccm/S14, ccm/P14: gets the finalizer before the first call, then the balancer, then its addresses', async () => {
    await using cluster = await BalancedCluster.start();
    const held: (readonly string[])[] = [];
    cluster.cloud.on(ENSURE, async () => void held.push(await cluster.finalizers('web')));
    const { metadata } = await cluster.create('web');
    assert.deepEqual(held, [[FINALIZER]]);
    assert.deepEqual(cluster.calls, ['ensure']);
    assert.deepEqual(await cluster.events('web'), [
      'Normal EnsuringLoadBalancer: Ensuring load balancer',
      'Normal EnsuredLoadBalancer: Ensured load balancer',
    ]);
    assert.deepEqual(await cluster.ingress('web'), [{ ip: '203.0.113.1', ipMode: 'VIP' }]);
    const { uid } = metadata;
    const target = '/api/v1/namespaces/default/services/web/status';
    assert.deepEqual(cluster.servicePatches, [
      { target, body: { metadata: { uid, finalizers: [FINALIZER], '$setElementOrder/finalizers': [FINALIZER] } } },
      { target, body: { metadata: { uid }, status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } } } },
    ]);
  });

  it('ccm/S13, ccm/I5: gives the cloud the name, the cluster and the nodes', async () => {
    await using cluster = await BalancedCluster.start({ settings: { clusterName: 'prod' } });
    const { metadata } = await cluster.create('web');
    const { plan } = cluster.balancer;
    assert.equal(plan.name, `a${metadata.uid?.replaceAll('-', '')}`.slice(0, 32));
    assert.equal(plan.cluster, 'prod');
    assert.deepEqual(cluster.backendNames, ['n1', 'n2']);
    assert.ok(plan.ports.every(({ nodePort }) => nodePort > 0));
  });

  it('ccm/S17: tells from where its events come', async () => {
    await using cluster = await BalancedCluster.start();
    const { metadata } = await cluster.create('web');
    const { items } = await cluster.env.client.list(Event);
    for (const { source, involvedObject } of items) {
      assert.equal(source?.component, 'service-controller');
      assert.equal(involvedObject.uid, metadata.uid);
    }
  });

  it('ccm/S13: is warned when there is no node, and gets its balancer all the same', async () => {
    await using cluster = await BalancedCluster.start({ nodes: [] });
    await cluster.create('web');
    const warning = 'Warning UnAvailableLoadBalancer: There are no available nodes for LoadBalancer';
    assert.ok((await cluster.events('web')).includes(warning));
    assert.deepEqual(cluster.backendNames, []);
  });

  it('ccm/S13, ccm/C18: waits for its finalizer: without it, the cloud is not called', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.env.faults.arm({ matches: isServiceWrite, fault: refused(422, 'Invalid'), times: 1 });
    await cluster.create('web');
    assert.deepEqual(cluster.calls, []);
    assert.deepEqual(await cluster.reasons('web'), ['EnsuringLoadBalancer', 'SyncLoadBalancerFailed']);
    await cluster.env.advance(5000);
    assert.deepEqual(cluster.calls, ['ensure']);
    assert.equal((await cluster.ingress('web')).length, 1);
  });

  it('ccm/S14: is patched only when its addresses differ', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    cluster.env.recorder.clear();
    await cluster.patch('web', { metadata: { annotations: { a: 'b' } } });
    assert.deepEqual(cluster.calls, ['ensure', 'ensure']);
    assert.deepEqual(cluster.servicePatches, []);
    cluster.cloud.on(ENSURE, () => ({ kind: 'ready', ingress: [{ ip: '203.0.113.1', ipMode: 'Proxy' }] }));
    await cluster.patch('web', { metadata: { annotations: { a: 'c' } } });
    assert.deepEqual(await cluster.ingress('web'), [{ ip: '203.0.113.1', ipMode: 'Proxy' }]);
    const ports = [{ port: 80, protocol: 'TCP', error: 'Busy' }];
    cluster.cloud.on(ENSURE, () => ({ kind: 'ready', ingress: [{ hostname: 'lb.example', ports }] }));
    await cluster.patch('web', { metadata: { annotations: { a: 'd' } } });
    assert.deepEqual(await cluster.ingress('web'), [{ hostname: 'lb.example', ports }]);
  });

  it('ccm/S15: is left alone when somebody else makes its balancer', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.cloud.on(ENSURE, () => ({ kind: 'elsewhere' }));
    await cluster.create('web');
    assert.deepEqual(await cluster.ingress('web'), []);
    assert.deepEqual(await cluster.finalizers('web'), [FINALIZER]);
    assert.deepEqual(await cluster.reasons('web'), ['EnsuringLoadBalancer']);
    await cluster.env.advance(10 * MINUTE_MS);
    assert.deepEqual(cluster.calls, ['ensure']);
  });

  it('ccm/S16: does not take no answer for a balancer without addresses', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.cloud.on(ENSURE, () => null);
    await cluster.create('web');
    const note = 'service status returned by EnsureLoadBalancer is nil';
    assert.equal(
      (await cluster.events('web')).at(-1),
      `Warning SyncLoadBalancerFailed: Error syncing load balancer: ${note}`,
    );
    cluster.cloud.on(ENSURE, undefined);
    await cluster.env.advance(5000);
    assert.equal((await cluster.ingress('web')).length, 1);
  });

  it('ccm/S17: hears why its balancer could not be made, without secrets', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.cloud.on(ENSURE, () => {
      throw new ProviderError('unauthenticated', 'refused token=hunter2hunter2');
    });
    await cluster.create('web');
    const note = 'Error syncing load balancer: failed to ensure load balancer: refused token=[redacted]';
    assert.equal((await cluster.events('web')).at(-1), `Warning SyncLoadBalancerFailed: ${note}`);
    assert.deepEqual(await cluster.finalizers('web'), [FINALIZER]);
  });

  it('ccm/S18: is tried again after 5 s, 10 s, 20 s … 300 s, whatever the cloud says; success begins anew', async () => {
    await using cluster = await BalancedCluster.start();
    const times: number[] = [];
    cluster.cloud.on(ENSURE, () => {
      times.push(cluster.env.clock.monotonicMs());
      // Not for users to mend alone: what the cloud refuses now, it may take later.
      throw new ProviderError('invalid', 'no such subnet');
    });
    await cluster.create('web');
    await cluster.env.advance(20 * MINUTE_MS);
    const pauses = times.slice(1).map((time, at) => (time - (times[at] ?? 0)) / 1000);
    assert.deepEqual(pauses.slice(0, 8), [5, 10, 20, 40, 80, 160, 300, 300]);
    cluster.cloud.on(ENSURE, undefined);
    await cluster.env.advance(5 * MINUTE_MS);
    assert.equal((await cluster.ingress('web')).length, 1);
    cluster.forgetCalls();
    cluster.cloud.on(ENSURE, () => {
      throw new ProviderError('unavailable', 'down');
    });
    await cluster.patch('web', { metadata: { annotations: { a: 'b' } } });
    await cluster.env.advance(5000);
    assert.deepEqual(cluster.calls, ['ensure', 'ensure']);
  });

  it('ccm/S18, ccm/C19: is asked for again exactly when a pending balancer says so, and hears why once', async () => {
    await using cluster = await BalancedCluster.start();
    const times: number[] = [];
    const whys = ['two of three parts are there', 'two of three parts are there', 'waiting for an address'];
    cluster.cloud.on(ENSURE, () => {
      times.push(cluster.env.clock.monotonicMs());
      const why = whys[times.length - 1];
      return why === undefined ? undefined : { kind: 'pending', retryAfterMs: 42_000, why };
    });
    await cluster.create('web');
    assert.deepEqual(await cluster.finalizers('web'), [FINALIZER]);
    await cluster.env.advance(3 * 42_000);
    assert.deepEqual(
      times.slice(1).map((time, at) => time - (times[at] ?? 0)),
      [42_000, 42_000, 42_000],
    );
    assert.deepEqual(await cluster.events('web'), [
      'Normal EnsuringLoadBalancer: Ensuring load balancer',
      'Normal LoadBalancerPending: Waiting for the load balancer: two of three parts are there',
      'Normal LoadBalancerPending: Waiting for the load balancer: waiting for an address',
      'Normal EnsuredLoadBalancer: Ensured load balancer',
    ]);
    assert.equal((await cluster.ingress('web')).length, 1);
    const metrics = await cluster.manager.metrics.text();
    assert.match(
      metrics,
      /slipway_controller_reconciles_total\{controller="service",result="retryable_error"\} 0/,
    );
  });

  it('ccm/S18: is tried again when a throttling cloud says so', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.cloud.on(ENSURE, () => {
      throw new ProviderError('throttled', 'slow down', { retryAfterMs: 77_000 });
    });
    await cluster.create('web');
    await cluster.env.advance(76_999);
    assert.deepEqual(cluster.calls, ['ensure']);
    await cluster.env.advance(1);
    assert.deepEqual(cluster.calls, ['ensure', 'ensure']);
  });

  it('ccm/S17: waits for a quota, says so, and goes on by itself when it is free', async () => {
    await using cluster = await BalancedCluster.start();
    cluster.cloud.on(ENSURE, ([plan]) => {
      const { name } = plan as BalancerPlan;
      if (cluster.cloud.balancers.size >= 1 && !cluster.cloud.balancers.has(name))
        throw new ProviderError('quota', '1 of 1 load balancers are used');
      return undefined;
    });
    await cluster.create('first');
    await cluster.create('second');
    assert.match((await cluster.events('second')).at(-1) ?? '', /SyncLoadBalancerFailed: .*1 of 1 load balancers/);
    await cluster.delete('first');
    await cluster.env.advance(10 * MINUTE_MS);
    assert.equal((await cluster.ingress('second')).length, 1);
    assert.equal((await cluster.reasons('second')).at(-1), 'EnsuredLoadBalancer');
  });

  it('ccm/S17: hears what the cloud does not have, without a call and without being tried again', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web', { spec: { ports: [{ port: 53, protocol: 'SCTP' }] } });
    await cluster.env.advance(30 * MINUTE_MS);
    assert.deepEqual(cluster.calls, []);
    const what = 'spec.ports[0].protocol is SCTP, but this cloud balances only TCP, UDP';
    assert.deepEqual((await cluster.events('web')).slice(1), [
      `Warning SyncLoadBalancerFailed: Error syncing load balancer: ${what}`,
    ]);
    await cluster.patch('web', { spec: { ports: [{ port: 53, protocol: 'UDP' }] } });
    assert.deepEqual(cluster.calls, ['ensure']);
  });

  it('ccm/S3: gets a changed balancer for a changed port, and none for a changed label', async () => {
    await using cluster = await BalancedCluster.start();
    await cluster.create('web');
    const { idempotencyToken } = cluster.balancer.plan;
    await cluster.patch('web', { metadata: { labels: { a: 'b' } } });
    assert.deepEqual(cluster.calls, ['ensure']);
    await cluster.patch('web', { spec: { ports: [{ name: 'http', port: 8080 }] } });
    assert.deepEqual(cluster.calls, ['ensure', 'ensure']);
    assert.deepEqual(
      cluster.balancer.plan.ports.map(({ port }) => port),
      [8080],
    );
    assert.notEqual(cluster.balancer.plan.idempotencyToken, idempotencyToken);
  });

  it('ccm/S1, ccm/C16: is nobody’s when it has a class', async () => {
    await using cluster = await BalancedCluster.start();
    await expectNoWrites(cluster.env.recorder, async () => {
      await cluster.create('web', { spec: { loadBalancerClass: 'example.com/x' } });
      await cluster.patch('web', { metadata: { annotations: { a: 'b' } } });
    });
    assert.deepEqual(cluster.calls, []);
  });

  it('ccm/S5: is never worked on twice at once, and others are, as many as allowed', async () => {
    await using cluster = await BalancedCluster.start({ settings: { concurrentServiceSyncs: 2 } });
    const active: string[] = [];
    let most = 0;
    cluster.cloud.on(ENSURE, async ([plan]) => {
      const { service } = plan as BalancerPlan;
      assert.ok(!active.includes(service.name));
      active.push(service.name);
      most = Math.max(most, active.length);
      await cluster.env.clock.sleep(1000);
      active.splice(active.indexOf(service.name), 1);
    });
    for (const name of ['a', 'b', 'c', 'd']) await cluster.create(name);
    await cluster.patch('a', { metadata: { annotations: { a: 'b' } } });
    await cluster.env.advance(10_000);
    assert.equal(most, 2);
    assert.equal(cluster.calls.length, 5);
  });
});
