import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeProvider, startCloudController, usualSettings } from '../../../test/support/cloud-controllers.ts';
import { addCloudNode, nodeEvents, readiness, setNodeStatus } from '../../../test/support/cloud-nodes.ts';
import { uncoveredWrites } from '../../../test/support/role-coverage.ts';
import { Node } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import { ProviderError, type ProviderErrorKind } from '../../sdk/provider/provider-error.ts';
import { expectExactRbac } from '../../testing/exact-rbac.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { HeldStreams } from '../../testing/held-streams.ts';
import { expectNoWrites } from '../../testing/recorder.ts';
import { TestEnv } from '../../testing/test-env.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import { nodeRoute } from './index.ts';

const [A, B, C] = ['10.244.1.0/24', '10.244.2.0/24', '10.244.3.0/24'];
const SPACING_MS = 10_000;
const clusterCIDRs = ['10.244.0.0/16'];

const start = (env: TestEnv, cloud: FakeCloud, settings: Partial<CloudSettings> = {}): Promise<Manager> =>
  startCloudController(env, nodeRoute, {
    provider: fakeProvider(cloud),
    settings: { clusterCIDRs, ...settings },
  });

const routed = (podCIDR: string) => ({ spec: { podCIDRs: [podCIDR] }, status: readiness('True') });
const routesOf = (cloud: FakeCloud): readonly string[] =>
  cloud.routes.map(({ targetNode, destinationCIDR }) => `${targetNode} ${destinationCIDR}`).toSorted();
const lists = (cloud: FakeCloud): number => cloud.callsOf('routes.list').length;

const networkOf = async ({ client }: TestEnv, name: string): Promise<string | undefined> => {
  const { status } = await client.live.get(Node, { name });
  const found = status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
};

const failing = (kind: ProviderErrorKind) => () => {
  throw new ProviderError(kind, 'the cloud says no');
};

const counted = async ({ metrics }: Manager, outcome: string, trigger: string): Promise<number> => {
  const series = `route_controller_route_sync_total{outcome="${outcome}",trigger="${trigger}"} `;
  const line = (await metrics.text()).split('\n').find((one) => one.startsWith(series));
  return Number(line?.slice(series.length));
};

describe('the node route controller', () => {
  it('ccm/T8, ccm/T9: makes a route for each node, with all that the cloud needs to know', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    const address = { type: 'InternalIP', address: '192.0.2.1' };
    await addCloudNode(env, 'n1', {
      spec: { podCIDRs: [A], providerID: 'fake://m-1' },
      status: { ...readiness('True'), addresses: [address] },
    });
    await start(env, cloud, { clusterName: 'prod' });
    const { metadata } = await env.client.get(Node, { name: 'n1' });
    const tags = { 'kubernetes.io/cluster/test-cluster': 'owned' };
    assert.deepEqual(cloud.callsOf('routes.list')[0]?.args, [{ cluster: 'prod', tags }]);
    assert.deepEqual(cloud.callsOf('routes.create')[0]?.args, [
      { targetNode: 'n1', targetNodeAddresses: [address], destinationCIDR: A },
      { cluster: 'prod', nameHint: metadata.uid, tags, providerID: 'fake://m-1' },
    ]);
    assert.equal(await networkOf(env, 'n1'), 'False RouteCreated');
  });

  it('ccm/T9, ccm/C28: overwrites what a network plug-in says, and no other condition', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    const calico = { type: 'NetworkUnavailable', status: 'False', reason: 'CalicoIsUp' };
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady' };
    await addCloudNode(env, 'n1', { spec: { podCIDRs: [A] }, status: { conditions: [calico, ready] } });
    await start(env, cloud);
    assert.equal(await networkOf(env, 'n1'), 'False RouteCreated');
    const { status } = await env.client.get(Node, { name: 'n1' });
    assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.reason, 'KubeletReady');
    const [patch] = env.recorder.writes.filter(({ method }) => method === 'PATCH');
    const { conditions } = (JSON.parse(patch?.body ?? '{}') as { status: { conditions: unknown[] } }).status;
    assert.equal(conditions.length, 1);
  });

  it('ccm/T4, ccm/C27: writes nothing about a node without pod CIDRs', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', { status: readiness('True') });
    await start(env, cloud);
    assert.deepEqual([cloud.callsOf('routes.create').length, await networkOf(env, 'n1')], [0, undefined]);
  });

  it('ccm/T2, ccm/B7: follows nodes as they come, get their pod CIDRs and addresses, and go', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', routed(A));
    const manager = await start(env, cloud);
    await env.advance(SPACING_MS);
    await addCloudNode(env, 'n2', { status: readiness('True') });
    await env.advance(SPACING_MS);
    assert.deepEqual(routesOf(cloud), [`n1 ${A}`]);
    const body = { spec: { podCIDRs: [B], podCIDR: B } };
    await env.client.patch(Node, { name: 'n2' }, { type: 'merge', body });
    await env.advance(SPACING_MS);
    assert.deepEqual(routesOf(cloud), [`n1 ${A}`, `n2 ${B}`]);
    await env.client.delete(Node, { name: 'n1' });
    await env.advance(SPACING_MS);
    assert.deepEqual(routesOf(cloud), [`n2 ${B}`]);
    const before = lists(cloud);
    await setNodeStatus(env, 'n2', { addresses: [{ type: 'InternalIP', address: '192.0.2.7' }] });
    await env.advance(SPACING_MS);
    assert.equal(lists(cloud), before + 1);
    assert.equal(await counted(manager, 'changed', 'node_change'), 2);
  });

  it('ccm/T2, ccm/B7: asks the cloud for nothing while only other things of nodes change', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', routed(A));
    await start(env, cloud);
    await env.advance(SPACING_MS);
    const before = cloud.calls.length;
    await setNodeStatus(env, 'n1', readiness('False'));
    await env.client.patch(Node, { name: 'n1' }, { type: 'merge', body: { metadata: { labels: { x: 'y' } } } });
    await env.advance(60 * 60_000);
    assert.equal(cloud.calls.length, before);
  });

  it('ccm/T2: runs once in ten seconds at most, however much changes', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', routed(A));
    await start(env, cloud);
    await addCloudNode(env, 'n2', routed(B));
    await env.advance(5000);
    await addCloudNode(env, 'n3', routed(C));
    await env.advance(4999);
    assert.equal(lists(cloud), 1);
    await env.advance(1);
    assert.deepEqual([lists(cloud), routesOf(cloud)], [2, [`n1 ${A}`, `n2 ${B}`, `n3 ${C}`]]);
    await env.advance(60_000);
    assert.equal(lists(cloud), 2);
  });

  it('ccm/B7, ccm/T10: repairs after twelve hours what somebody else changed, and counts it', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', routed(A));
    const manager = await start(env, cloud);
    assert.equal(await counted(manager, 'changed', 'periodic'), 1);
    cloud.routes.length = 0;
    await env.advance(12 * 60 * 60_000);
    assert.deepEqual([lists(cloud), routesOf(cloud)], [2, [`n1 ${A}`]]);
    assert.equal(await counted(manager, 'changed', 'periodic'), 2);
  });

  it('ccm/T2: looks at a fixed rate and at nothing else, when it is told not to watch', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', routed(A));
    const manager = await start(env, cloud, { watchRoutes: false, routeReconciliationPeriodMs: 3000 });
    await addCloudNode(env, 'n2', routed(B));
    await env.advance(2999);
    assert.equal(lists(cloud), 1);
    await env.advance(1);
    assert.deepEqual([lists(cloud), routesOf(cloud)], [2, [`n1 ${A}`, `n2 ${B}`]]);
    await env.advance(6000);
    assert.equal(lists(cloud), 4);
    assert.equal(await counted(manager, 'noop', 'periodic'), 2);
  });

  it('ccm/T3, ccm/T10: changes nothing while the routes cannot be listed, and goes on when they can', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    // What a single call is refused for must not end the work for ever.
    cloud.on('routes.list', failing('invalid'));
    await addCloudNode(env, 'n1', routed(A));
    const manager = await start(env, cloud);
    await expectNoWrites(env.recorder, () => env.advance(60_000));
    assert.deepEqual([cloud.callsOf('routes.create').length, lists(cloud)], [0, 7]);
    assert.equal(await counted(manager, 'error', 'periodic'), 7);
    cloud.on('routes.list', undefined);
    await env.advance(SPACING_MS);
    assert.deepEqual([routesOf(cloud), await networkOf(env, 'n1')], [[`n1 ${A}`], 'False RouteCreated']);
  });

  it('ccm/T8, ccm/T9, ccm/B13: says on the node that its route cannot be made, and tries again', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.on('routes.create', failing('quota'));
    await addCloudNode(env, 'n1', routed(A));
    await start(env, cloud);
    const { metadata } = await env.client.get(Node, { name: 'n1' });
    assert.deepEqual(await nodeEvents(env), [
      `Warning FailedToCreateRoute Could not create route ${metadata.uid} ${A} for node n1 after 0s: the cloud says no`,
    ]);
    assert.equal(await networkOf(env, 'n1'), 'True NoRouteCreated');
    assert.equal(cloud.callsOf('routes.create').length, 1);
    cloud.on('routes.create', undefined);
    await env.advance(SPACING_MS);
    assert.equal(await networkOf(env, 'n1'), 'False RouteCreated');
  });

  it('ccm/T8: tries five times where somebody else was faster', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.on('routes.create', failing('conflict'));
    await addCloudNode(env, 'n1', routed(A));
    await start(env, cloud);
    await env.advance(1000);
    assert.equal(cloud.callsOf('routes.create').length, 5);
    assert.equal(await networkOf(env, 'n1'), 'True NoRouteCreated');
  });

  it('ccm/T6: a route that cannot be removed is tried again, and nobody suffers', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.routes.push({ name: 'old', targetNode: 'gone', destinationCIDR: B });
    cloud.on('routes.remove', failing('unavailable'));
    await addCloudNode(env, 'n1', routed(A));
    await start(env, cloud);
    assert.deepEqual(routesOf(cloud), [`gone ${B}`, `n1 ${A}`]);
    assert.equal(await networkOf(env, 'n1'), 'False RouteCreated');
    cloud.on('routes.remove', undefined);
    await env.advance(SPACING_MS);
    assert.deepEqual(routesOf(cloud), [`n1 ${A}`]);
  });

  it('ccm/T1: does not run without routes or when it is told not to, and wants a cluster CIDR', () => {
    const cloud = new FakeCloud();
    const { routes: _, ...others } = cloud.capabilities;
    const provider = fakeProvider(cloud);
    const reason = (settings: Partial<CloudSettings>, by = provider) =>
      nodeRoute.skipReason({ provider: by, settings: usualSettings(settings) });
    assert.equal(reason({ clusterCIDRs }), undefined);
    assert.equal(reason({ configureCloudRoutes: false }), '--configure-cloud-routes is false');
    assert.equal(reason({}, fakeProvider(cloud, others)), 'provider fake does not offer routes');
    for (const wrong of [[], ['x'], ['10.0.0.0/8', '11.0.0.0/8']])
      assert.throws(() => reason({ clusterCIDRs: wrong }), { reason: 'InvalidClusterCIDR' });
  });

  it('writes nothing and makes no route twice, while nothing changes and after a restart', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', routed(A));
    const first = await start(env, cloud);
    await env.stopManager(first);
    await expectNoWrites(env.recorder, async () => {
      await start(env, cloud);
      await env.advance(60 * 60_000);
    });
    assert.deepEqual([cloud.callsOf('routes.create').length, cloud.callsOf('routes.remove').length], [1, 0]);
  });

  it('ccm/T9: writes the condition also when it died or failed between the route and that', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    const isPatch = ({ method }: { readonly method: string }) => method === 'PATCH';
    env.faults.arm({ matches: isPatch, fault: { kind: 'refuse', status: 422, reason: 'Invalid' }, times: 1 });
    await addCloudNode(env, 'n1', routed(A));
    const first = await start(env, cloud);
    assert.deepEqual([routesOf(cloud), await networkOf(env, 'n1')], [[`n1 ${A}`], undefined]);
    await env.stopManager(first);
    await start(env, cloud);
    assert.equal(await networkOf(env, 'n1'), 'False RouteCreated');
  });

  it('ccm/T9: writes the condition in the next run when the server refuses it once, and the others at once', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    env.faults.arm({
      matches: ({ method, target }) => method === 'PATCH' && target.startsWith('/api/v1/nodes/n1/'),
      fault: { kind: 'refuse', status: 403, reason: 'Forbidden' },
      times: 1,
    });
    await addCloudNode(env, 'n1', routed(A));
    await addCloudNode(env, 'n2', routed(B));
    const manager = await start(env, cloud);
    assert.deepEqual([await networkOf(env, 'n1'), await networkOf(env, 'n2')], [undefined, 'False RouteCreated']);
    assert.equal(await counted(manager, 'error', 'periodic'), 1);
    await env.advance(SPACING_MS);
    assert.equal(await networkOf(env, 'n1'), 'False RouteCreated');
  });

  it('ccm/T9: is content with a node that goes while its route is made', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.on('routes.create', () => env.client.delete(Node, { name: 'n1' }));
    await addCloudNode(env, 'n1', routed(A));
    const manager = await start(env, cloud);
    assert.equal(await counted(manager, 'changed', 'periodic'), 1);
  });

  it('ccm/T8, ccm/B13: says nothing of a route that is not made because the program stops', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.on('routes.create', (_, { signal }) => env.clock.sleep(3_600_000, signal));
    await addCloudNode(env, 'n1', routed(A));
    const manager = await start(env, cloud);
    await expectNoWrites(env.recorder, () => env.stopManager(manager));
    assert.deepEqual([await nodeEvents(env), await networkOf(env, 'n1')], [[], undefined]);
  });

  it('ccm/T7: takes the time that many slow calls take', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    const slowMs = 10 * 60_000;
    cloud.on('routes.create', () => env.clock.sleep(slowMs));
    await addCloudNode(env, 'n1', routed(A));
    const manager = await start(env, cloud);
    await env.advance(slowMs);
    assert.equal(await networkOf(env, 'n1'), 'False RouteCreated');
    assert.equal(await counted(manager, 'changed', 'periodic'), 1);
  });

  it('ccm/T3: comes back when the cloud says so, not earlier', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.on('routes.list', () => {
      if (lists(cloud) === 1) throw new ProviderError('throttled', 'later', { retryAfterMs: 45_000 });
    });
    await addCloudNode(env, 'n1', routed(A));
    await start(env, cloud);
    await env.advance(45_000 - 1);
    assert.equal(lists(cloud), 1);
    await env.advance(1);
    assert.deepEqual([lists(cloud), routesOf(cloud)], [2, [`n1 ${A}`]]);
  });

  it('reliability/P32: removes the routes of all nodes only when the server says twice that there is none', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.routes.push({ name: 'old', targetNode: 'n1', destinationCIDR: A });
    await start(env, cloud);
    await env.advance(SPACING_MS - 1);
    assert.deepEqual(routesOf(cloud), [`n1 ${A}`]);
    await env.advance(1);
    assert.deepEqual(routesOf(cloud), []);
    const before = lists(cloud);
    await env.advance(60_000);
    assert.equal(lists(cloud), before, 'an empty cluster is no reason to look over and over');
  });

  it('reliability/P32: believes the server more than a cache that is empty', async () => {
    const held = new HeldStreams();
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.routes.push({ name: 'old', targetNode: 'n1', destinationCIDR: A });
    await startCloudController(env, nodeRoute, {
      provider: fakeProvider(cloud),
      settings: { clusterCIDRs },
      wrap: (way) => held.around(way),
    });
    held.hold('nodes');
    await addCloudNode(env, 'n1', routed(A));
    await env.advance(60_000);
    assert.deepEqual([routesOf(cloud), cloud.callsOf('routes.remove').length], [[`n1 ${A}`], 0]);
    held.releaseAll();
  });

  it('ccm/§2.4: needs what it uses, and no more than every cluster gives to the controller', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.on('routes.create', failing('quota'));
    // It looks for nodes itself before it removes the last route.
    cloud.routes.push({ name: 'old', targetNode: 'gone', destinationCIDR: B });
    const manager = await start(env, cloud);
    await env.advance(2 * SPACING_MS);
    assert.deepEqual(routesOf(cloud), []);
    await addCloudNode(env, 'n1', routed(A));
    await env.advance(SPACING_MS);
    expectExactRbac(env, { manager: 'route' });
    assert.deepEqual(await uncoveredWrites(env.client, manager, 'system:controller:route-controller'), []);
  });
});
