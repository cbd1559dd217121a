import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Box } from '../../test/torture/crash-points/box-kind.ts';
import { boxController, childOf, saysDone } from '../../test/torture/crash-points/controllers.ts';
import { ConfigMap, Secret, Service } from '../api/generated/core-v1.ts';
import { isForbidden } from '../kube/client/api-error.ts';
import { controllerFor } from '../kube/controller/controller.ts';
import { after, DONE, type Reconciler } from '../kube/controller/reconcile.ts';
import { needs } from '../kube/rbac/need.ts';
import { expectExactRbac } from './exact-rbac.ts';
import { expectNoWrites } from './recorder.ts';
import { TestEnv } from './test-env.ts';

const box = (name = 'a') =>
  ({
    apiVersion: 'crash.example.com/v1',
    kind: 'Box',
    metadata: { name, namespace: 'default' },
    spec: { size: 1 },
  }) as const;

const applies: Reconciler<Box> = {
  reconcile: async (object, { client, events }) => {
    await client.apply(ConfigMap, childOf(object), { force: true });
    await saysDone(client, object);
    events.normal(object, 'Applied', 'the child is there', { action: 'Apply' });
    return DONE;
  },
};

const exactly = (...more: Parameters<typeof needs>[]) =>
  controllerFor(Box)
    .owns(ConfigMap)
    .needs(needs(ConfigMap, ['create', 'patch']), ...more.map((one) => needs(...one)))
    .reconcile(applies);

describe('TestEnv', () => {
  it('runtime/T1: runs a server, a client and a manager with the rights of its controllers in this process', async () => {
    await using env = await TestEnv.start({ kinds: [Box], allowsForbidden: true });
    const manager = await env.startManager({ add: [boxController(applies)] });
    await env.client.create(Box, box());
    await env.settle();
    const { data } = await env.client.get(ConfigMap, { namespace: 'default', name: 'a' });
    assert.deepEqual(data, { size: '1' });
    await assert.rejects(manager.client.live.list(Secret), isForbidden);
  });

  it('runtime/T1: two of them share nothing', async () => {
    await using one = await TestEnv.start({ kinds: [Box] });
    await using other = await TestEnv.start({ kinds: [Box] });
    await one.client.create(Box, box());
    assert.deepEqual((await other.client.list(Box)).items, []);
  });

  it('runtime/T2: the same seed gives the same requests, identifiers and times', async () => {
    const run = async (seed: number) => {
      await using env = await TestEnv.start({ kinds: [Box], seed });
      const leaderElection = { id: 'x', namespace: 'default' };
      await env.startManager({ add: [boxController(applies)], leaderElection });
      for (const name of ['a', 'b', 'c']) await env.client.create(Box, box(name));
      await env.advance(30_000);
      const { metadata } = await env.client.get(Box, { namespace: 'default', name: 'b' });
      return JSON.stringify([env.recorder.requests, metadata]);
    };
    const [one, same, other] = [await run(7), await run(7), await run(8)];
    assert.equal(one, same);
    assert.notEqual(one, other);
  });

  it('runtime/T2: requeues happen in virtual time, to the millisecond', async () => {
    await using env = await TestEnv.start({ kinds: [Box] });
    const atMs: number[] = [];
    const reconcile = () => {
      atMs.push(env.clock.monotonicMs());
      return Promise.resolve(after(60_000));
    };
    await env.startManager({ add: [boxController({ reconcile })] });
    await env.client.create(Box, box());
    await env.settle();
    await env.advance(10 * 60_000);
    const [startMs = 0] = atMs;
    assert.deepEqual(
      atMs,
      Array.from({ length: 11 }, (_, run) => startMs + run * 60_000),
    );
  });

  it('runtime/T4: expectNoWrites names what was written, and lets a leader renew its lease', async () => {
    await using env = await TestEnv.start({ kinds: [Box] });
    const leaderElection = { id: 'x', namespace: 'default' };
    await env.startManager({ add: [boxController(applies)], leaderElection });
    await env.client.create(Box, box());
    await env.settle();
    await env.advance(20_000);
    const leases = () => env.recorder.writes.filter(({ target }) => target.includes('/leases/')).length;
    const before = leases();
    await expectNoWrites(env.recorder, () => env.advance(20_000));
    assert.ok(leases() > before, 'the lease was renewed meanwhile');
    const change = async () => {
      await env.client.create(Box, box('b'));
      await env.settle();
    };
    await assert.rejects(expectNoWrites(env.recorder, change), /there were \d+: PATCH .*configmaps\/b/);
    env.recorder.clear();
    assert.deepEqual(env.recorder.requests, []);
  });

  it('reliability/P62: expectExactRbac passes when everything is used and nothing is missing', async () => {
    await using env = await TestEnv.start({ kinds: [Box] });
    // Nothing requests it: an admission plugin asks for it.
    const finalizers = [Box, ['update'], { subresource: 'finalizers' }] as const;
    await env.startManager({ add: [exactly([...finalizers])] });
    await env.client.create(Box, box());
    await env.settle();
    await env.advance(10_000);
    expectExactRbac(env);
  });

  it('reliability/P62: expectExactRbac names verbs that nothing used, requests without a right, and stale excuses', async () => {
    await using env = await TestEnv.start({ kinds: [Box], allowsForbidden: true });
    const manager = await env.startManager({ add: [exactly([Service, ['get']])] });
    await assert.rejects(manager.client.live.list(Service), isForbidden);
    assert.throws(() => expectExactRbac(env), /no role allows: list services.*nothing used: get services/);
    assert.throws(() => expectExactRbac(env, { unused: ['delete pods'] }), /said to be unused: delete pods/);
    assert.throws(() => env.rbacDifference('other'), /no manager other/);
  });

  it('stops a manager in order, and everything else when it ends', async () => {
    const env = await TestEnv.start({ kinds: [Box] });
    const manager = await env.startManager({ add: [boxController(applies)] });
    await env.stopManager(manager);
    await env.stopManager(manager);
    await env.client.create(Box, box());
    await env.settle();
    assert.deepEqual((await env.client.list(ConfigMap, { labels: { 'crash.example.com/box': 'a' } })).items, []);
    await env[Symbol.asyncDispose]();
  });
});
