import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CloudNodeWorld, machine } from '../../../test/support/cloud-node-world.ts';
import { Event, Node } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { Transport, TransportRequest } from '../../kube/transport/transport.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { expectExactRbac } from '../../testing/exact-rbac.ts';
import { HeldStreams } from '../../testing/held-streams.ts';
import { expectNoWrites } from '../../testing/recorder.ts';
import { UNINITIALIZED_TAINT } from './desired.ts';

const SYNCED = 'Normal Synced ×1 from cloud-node-controller';
const SECOND_MS = 1000;

const isUpdate = ({ method, target }: TransportRequest): boolean =>
  method === 'PUT' && target.startsWith('/api/v1/nodes/');
const isStatusPatch = ({ method, target }: TransportRequest): boolean =>
  method === 'PATCH' && /^\/api\/v1\/nodes\/[^/]+\/status/.test(target);
const isMirror = ({ method, target }: TransportRequest): boolean =>
  method === 'PATCH' && target.startsWith('/api/v1/nodes/n1?');
const CONFLICT = { kind: 'refuse', status: 409, reason: 'Conflict' } as const;

/** Reads of single nodes from the server. */
const readsOf = ({ env }: CloudNodeWorld): number =>
  env.recorder.requests.filter(({ method, target }) => method === 'GET' && target.startsWith('/api/v1/nodes/'))
    .length;

describe('the cloud-node controller, on a new node', () => {
  it('ccm/N11, ccm/N12, ccm/N13: initialises it with one update, one status patch and one event', async () => {
    await using world = await CloudNodeWorld.start();
    const found = machine({
      instanceType: 'm1',
      zone: 'z1',
      region: 'r1',
      addresses: [
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'InternalIP', address: '10.0.0.9' },
        { type: 'ExternalIP', address: '203.0.113.5' },
      ],
      labels: { 'x/y': '2', 'acme.example/rack': '7', 'k8s.io/q': '1' },
    });
    await world.add('n1', { labels: { 'x/y': '1' }, nodeIP: '10.0.0.1' }, found);
    await world.run();
    const { metadata, spec } = await world.node('n1');
    assert.equal(spec.providerID, 'fake://i-1');
    assert.equal(await world.isTainted('n1'), false);
    assert.deepEqual(metadata.labels, {
      'x/y': '1',
      'acme.example/rack': '7',
      'node.kubernetes.io/instance-type': 'm1',
      'beta.kubernetes.io/instance-type': 'm1',
      'topology.kubernetes.io/zone': 'z1',
      'failure-domain.beta.kubernetes.io/zone': 'z1',
      'topology.kubernetes.io/region': 'r1',
      'failure-domain.beta.kubernetes.io/region': 'r1',
    });
    assert.deepEqual(await world.addresses('n1'), [
      'InternalIP 10.0.0.1',
      'ExternalIP 203.0.113.5',
      'Hostname n1.internal',
    ]);
    assert.deepEqual(await world.events('n1'), [SYNCED]);
    const [event] = (await world.env.client.live.list(Event)).items;
    assert.equal(event?.message, 'Node synced successfully');
    assert.equal(readsOf(world), 0);
    assert.deepEqual(world.writes(), ['PUT nodes/n1', 'PATCH nodes/n1/status']);
  });

  it('ccm/N1: comes to nodes that register later, and to changes of those that wait', async () => {
    await using world = await CloudNodeWorld.start();
    await world.run();
    await world.add('n1', {}, { state: 'unmanaged' });
    assert.equal(await world.isTainted('n1'), true);
    world.cloud.instances.set('n1', machine());
    await world.env.client.patch(
      Node,
      { name: 'n1' },
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
    );
    await world.env.settle();
    assert.equal(await world.isTainted('n1'), false);
  });

  it('ccm/N4, ccm/C2: tries again while the provider throws, and tells of the success once', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    let failures = 0;
    world.cloud.on('instances.describeMany', () => {
      if (failures++ < 2) throw new ProviderError('unavailable', 'not now');
    });
    await world.add('n1');
    const manager = await world.run();
    await world.env.advance(10 * SECOND_MS);
    assert.equal(world.cloud.callsOf('instances.describeMany').length, 3);
    assert.equal(await world.isTainted('n1'), false);
    assert.deepEqual(await world.events('n1'), [SYNCED]);
    assert.deepEqual(world.writes(), ['PUT nodes/n1', 'PATCH nodes/n1/status']);
    const line = 'slipway_cloud_node_sync_errors_total{kind="unavailable"}';
    assert.equal(await world.metric(manager, line), 2);
  });

  it('ccm/N4: leaves the node untouched and tries for ever, whatever kind of error it is', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    let isBroken = true;
    const kinds = ['invalid', 'unsupported', 'unauthenticated'] as const;
    const broken = (args: readonly unknown[]) => {
      const [asked] = args as readonly [{ readonly nodeName: string } | readonly { readonly nodeName: string }[]];
      const [first] = [asked].flat();
      const kind = kinds.find((one) => one === first?.nodeName);
      if (isBroken && kind !== undefined) throw new ProviderError(kind, 'no');
    };
    world.cloud.on('instances.describe', broken);
    world.cloud.on('instances.describeMany', broken);
    for (const kind of kinds) await world.add(kind);
    await world.run();
    await world.env.advance(60 * SECOND_MS);
    assert.deepEqual(world.writes(), []);
    for (const kind of kinds)
      assert.match(String(await world.events(kind)), /^Warning Cloud\w+ ×1 from cloud-node/);
    isBroken = false;
    await world.env.advance(200 * SECOND_MS);
    for (const kind of kinds) assert.equal(await world.isTainted(kind), false, kind);
  });

  it('ccm/N4: a provider that never answers holds up nobody else once its call has timed out', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    const { clock } = world.env;
    let isHanging = true;
    world.cloud.on('instances.describeMany', async () => {
      if (!isHanging) return;
      // As the guard of a connection ends it.
      await clock.sleep(60 * SECOND_MS);
      throw new ProviderError('unavailable', 'no answer within 1m0s');
    });
    await world.add('n1');
    await world.run();
    await world.env.advance(59 * SECOND_MS);
    assert.deepEqual(world.writes(), []);
    isHanging = false;
    await world.add('n2');
    await world.env.advance(10 * SECOND_MS);
    assert.deepEqual([await world.isTainted('n1'), await world.isTainted('n2')], [false, false]);
  });

  it('ccm/N1: tries all nodes together again ten times a second at most, after a hundred times', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    world.cloud.on('instances.describeMany', () => {
      throw new ProviderError('unavailable', 'not now');
    });
    const nodes = 30;
    for (let at = 0; at < nodes; at++) await world.add(`n${at}`);
    await world.run();
    await world.env.advance(10 * SECOND_MS);
    const retries = world.cloud.callsOf('instances.describeMany').length - nodes;
    // Each on its own would be tried ten times again by now.
    assert.ok(retries >= 100 && retries <= 100 + 10 * 10, `${retries} retries`);
  });

  it('ccm/N4: comes back when the cloud says so, not earlier', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    let failures = 0;
    world.cloud.on('instances.describeMany', () => {
      if (failures++ === 0) throw new ProviderError('throttled', 'later', { retryAfterMs: 30 * SECOND_MS });
    });
    await world.add('n1');
    await world.run();
    await world.env.advance(30 * SECOND_MS - 1);
    assert.equal(await world.isTainted('n1'), true);
    await world.env.advance(1);
    assert.equal(await world.isTainted('n1'), false);
  });

  it('ccm/N4, ccm/C3: does nothing to a node that is not of this cloud, and does not ask again', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1', {}, { state: 'unmanaged' });
    await world.run();
    await expectNoWrites(world.env.recorder, () => world.env.advance(60 * SECOND_MS));
    assert.equal(world.cloud.callsOf('instances.describeMany').length, 1);
    assert.deepEqual(await world.events('n1'), []);
  });

  it('ccm/N4: asks again about a node whose machine is not there', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    await world.add('n1', {}, { state: 'absent', evidence: 'not in the list' });
    const manager = await world.run();
    await world.env.advance(SECOND_MS);
    assert.deepEqual(world.writes(), []);
    assert.deepEqual(await world.events('n1'), ['Warning InstanceNotFound ×1 from cloud-node-controller']);
    assert.ok((await world.metric(manager, 'slipway_cloud_node_sync_errors_total{kind="absent"}')) > 4);
    world.cloud.instances.set('n1', machine());
    await world.env.advance(10 * SECOND_MS);
    assert.equal(await world.isTainted('n1'), false);
  });

  it('ccm/N2: is content with a node that is gone before its turn, or during it', async () => {
    await using world = await CloudNodeWorld.start();
    await world.run();
    const asked = Promise.withResolvers<void>();
    world.cloud.on('instances.describeMany', () => asked.promise);
    await world.add('n1');
    await world.add('n2');
    for (const name of ['n1', 'n2']) await world.env.client.delete(Node, { name });
    asked.resolve();
    await world.env.advance(60 * SECOND_MS);
    assert.deepEqual(world.writes(), ['PUT nodes/n1']);
    assert.equal(world.cloud.calls.length, 1);
    assert.deepEqual(await world.events('n1'), []);
  });

  it('ccm/N8, ccm/O16: keeps the taint while the kubelet uses an address that the cloud does not have, and says so', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    await world.add('n1', { nodeIP: '10.0.0.7' });
    const manager = await world.run();
    await world.env.advance(SECOND_MS);
    assert.equal(await world.isTainted('n1'), true);
    const [shown = ''] = await world.problems('n1');
    assert.match(shown, /^True NodeAddressMismatch: .*10\.0\.0\.7.*InternalIP 10\.0\.0\.1.*--node-ip/);
    // Once when it appears, once more when it lasts.
    assert.deepEqual(await world.events('n1'), ['Warning NodeAddressMismatch ×2 from cloud-node-controller']);
    assert.deepEqual(world.writes(), ['PATCH nodes/n1/status']);
    assert.ok((await world.metric(manager, 'slipway_cloud_node_sync_errors_total{kind="mismatch"}')) > 4);

    await world.env.advance(60 * SECOND_MS);
    assert.deepEqual(world.writes(), []);
    world.cloud.instances.set('n1', machine({ addresses: [{ type: 'InternalIP', address: '10.0.0.7' }] }));
    await world.env.advance(200 * SECOND_MS);
    assert.equal(await world.isTainted('n1'), false);
    assert.deepEqual(world.writes(), ['PUT nodes/n1', 'PATCH nodes/n1/status']);
    assert.deepEqual(await world.problems('n1'), []);
    assert.deepEqual(await world.addresses('n1'), ['InternalIP 10.0.0.7', 'Hostname n1.internal']);
  });

  it('ccm/C7, ccm/N5: shows what keeps a node from being initialised', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    await world.add('n1', { nodeIP: '10.1.1.1,10.1.1.2' });
    await world.add('n2', {}, machine({ providerID: '' }));
    await world.run();
    assert.match(String(await world.problems('n1')), /^True InvalidNodeAddress: .*10\.1\.1\.1,10\.1\.1\.2/);
    assert.match(String(await world.problems('n2')), /^True NoProviderID: /);
    assert.deepEqual([await world.isTainted('n1'), await world.isTainted('n2')], [true, true]);
  });

  it('ccm/N5, ccm/N7, ccm/C4, ccm/C5: keeps a provider ID, and knows the taint by its key', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1', {
      providerID: 'fake://other',
      taints: [{ key: UNINITIALIZED_TAINT, effect: 'NoExecute' }],
    });
    await world.run();
    assert.equal((await world.node('n1')).spec.providerID, 'fake://other');
    assert.equal(await world.isTainted('n1'), false);
    const [asked] = world.cloud.callsOf('instances.describeMany');
    assert.match(JSON.stringify(asked?.args), /"providerID":"fake:\/\/other"/);
  });
});

describe('the cloud-node controller, among others who write', () => {
  for (const isBehind of [false, true]) {
    const cache = isBehind ? 'the cache has not heard of it' : 'the cache has heard of it';
    it(`ccm/N11, ccm/C6: keeps what another wrote between its reading and its writing: ${cache}`, async () => {
      await using world = await CloudNodeWorld.start();
      const held = new HeldStreams();
      let asked = 0;
      world.cloud.on('instances.describeMany', async () => {
        if (asked++ > 0) return;
        if (isBehind) held.hold('nodes');
        const body = { metadata: { labels: { other: 'kept' } }, spec: { unschedulable: true } };
        await world.env.client.patch(Node, { name: 'n1' }, { type: 'merge', body });
      });
      await world.add('n1', {}, machine({ zone: 'z1' }));
      await world.run({}, { wrap: (transport) => held.around(transport) });
      await world.env.advance(SECOND_MS);
      const { metadata, spec } = await world.node('n1');
      const { labels = {} } = metadata;
      assert.deepEqual([labels['other'], labels['topology.kubernetes.io/zone']], ['kept', 'z1']);
      assert.deepEqual([spec.unschedulable, spec.providerID], [true, 'fake://i-1']);
      assert.equal(await world.isTainted('n1'), false);
      assert.deepEqual(await world.events('n1'), [SYNCED]);
      assert.equal(readsOf(world), isBehind ? 1 : 0);
      assert.deepEqual(world.writes(), ['PUT nodes/n1', 'PUT nodes/n1', 'PATCH nodes/n1/status']);
      held.releaseAll();
    });
  }

  it('ccm/N11, ccm/C6: succeeds with the fourth update after three conflicts', async () => {
    await using world = await CloudNodeWorld.start();
    const { clock, faults } = world.env;
    faults.arm({ matches: isUpdate, fault: CONFLICT, times: 3 });
    await world.add('n1', {}, machine({ zone: 'z1', region: 'r1' }));
    const startMs = clock.monotonicMs();
    await world.run();
    await world.env.advance(SECOND_MS);
    assert.deepEqual(world.writes(), ['PUT nodes/n1', 'PATCH nodes/n1/status']);
    assert.equal(faults.struck.get('refuse'), 3);
    assert.equal(Object.keys((await world.node('n1')).metadata.labels ?? {}).length, 4);
    assert.ok(clock.monotonicMs() - startMs >= 150);
    assert.equal(world.cloud.callsOf('instances.describeMany').length, 1);
  });

  for (const [conflicts, asked] of [
    [19, 1],
    [20, 2],
  ] as const) {
    it(`ccm/N11: makes twenty attempts before it begins anew: ${conflicts} conflicts`, async () => {
      await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
      world.env.faults.arm({ matches: isUpdate, fault: CONFLICT, times: conflicts });
      await world.add('n1');
      await world.run();
      await world.env.advance(10 * SECOND_MS);
      assert.equal(await world.isTainted('n1'), false);
      assert.equal(world.cloud.callsOf('instances.describeMany').length, asked);
      assert.deepEqual(await world.events('n1'), [SYNCED]);
    });
  }

  it('ccm/N11: gives nothing of a machine to another node of the same name', async () => {
    await using world = await CloudNodeWorld.start();
    let asked = 0;
    world.cloud.on('instances.describeMany', async () => {
      if (asked++ > 0) return undefined;
      await world.env.client.delete(Node, { name: 'n1' });
      await world.add('n1', {}, machine({ providerID: 'fake://i-2', zone: 'z2' }));
      return new Map([['n1', machine({ zone: 'z1' })]]);
    });
    await world.add('n1');
    await world.run();
    await world.env.advance(SECOND_MS);
    const { metadata, spec } = await world.node('n1');
    assert.deepEqual([spec.providerID, metadata.labels?.['topology.kubernetes.io/zone']], ['fake://i-2', 'z2']);
  });

  it('ccm/N12: counts a node as initialised when its addresses could not be written; the next pass repairs it', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    world.env.faults.arm({
      matches: isStatusPatch,
      fault: { kind: 'refuse', status: 403, reason: 'Forbidden' },
      times: 1,
    });
    await world.add('n1');
    const manager = await world.run();
    assert.deepEqual(await world.events('n1'), [SYNCED]);
    assert.deepEqual(await world.addresses('n1'), ['Hostname n1.internal']);
    assert.equal(await world.metric(manager, 'slipway_cloud_node_sync_errors_total{kind="api"}'), 1);
    await world.env.advance(300 * SECOND_MS);
    assert.deepEqual(await world.addresses('n1'), ['InternalIP 10.0.0.1', 'Hostname n1.internal']);
  });

  it('ccm/N11, ccm/O17: two at once come to the same end, and only one says so', async () => {
    await using world = await CloudNodeWorld.start();
    for (const name of ['n1', 'n2', 'n3']) await world.add(name, {}, machine({ zone: 'z1' }));
    await Promise.all([world.run(), world.run({}, { name: 'bootstrap' })]);
    await world.env.advance(5 * SECOND_MS);
    for (const name of ['n1', 'n2', 'n3']) {
      assert.equal(await world.isTainted(name), false);
      assert.deepEqual(await world.addresses(name), ['InternalIP 10.0.0.1', `Hostname ${name}.internal`]);
      assert.deepEqual(await world.events(name), [SYNCED]);
    }
  });

  it('ccm/N11: keeps an annotation that caches leave out, however they keep nodes', async () => {
    const key = 'kubectl.kubernetes.io/last-applied-configuration';
    for (const cache of [undefined, { byKind: {} }]) {
      await using world = await CloudNodeWorld.start();
      await world.add('n1', { annotations: { [key]: '{}' } });
      await world.run({}, cache === undefined ? {} : { cache });
      assert.equal(await world.isTainted('n1'), false);
      assert.equal((await world.node('n1')).metadata.annotations?.[key], '{}');
    }
  });
});

describe('the cloud-node controller, all in all', () => {
  it('ccm/B6: asks about 200 nodes in a few calls', async () => {
    await using world = await CloudNodeWorld.start();
    for (let at = 0; at < 200; at++) await world.add(`n${at}`, {}, machine({ providerID: `fake://i-${at}` }));
    await world.run({ concurrentNodeSyncs: 100, concurrentNodeStatusUpdates: 100 });
    await world.env.settle();
    const { items } = await world.env.client.live.list(Node);
    assert.deepEqual(new Set(items.map(({ spec }) => spec.providerID)).size, 200);
    assert.equal(world.writes().length, 400);
    const asked = world.cloud.callsOf('instances.describeMany').length;
    assert.ok(asked <= 20, `${asked} calls`);
    assert.equal(world.cloud.callsOf('instances.describe').length, 0);
  });

  it('ccm/N11: writes nothing when it starts again', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1', {}, machine({ zone: 'z1', labels: { rack: '7' } }));
    const manager = await world.run();
    await world.env.stopManager(manager);
    await expectNoWrites(world.env.recorder, async () => {
      await world.run({}, { name: 'again' });
      await world.env.advance(600 * SECOND_MS);
    });
  });

  it('ccm/N14: measures from the creation of the node, in the buckets of upstream', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1', {}, { state: 'unmanaged' });
    const manager = await world.run();
    await world.env.advance(20 * SECOND_MS);
    world.cloud.instances.set('n1', machine());
    await world.env.client.patch(
      Node,
      { name: 'n1' },
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
    );
    await world.env.settle();
    for (const name of [
      'node_controller_cloud_provider_taint_removal_delay_seconds',
      'node_controller_initial_node_sync_delay_seconds',
    ]) {
      const counts = await Promise.all(
        ['1', '4', '16', '64', '256', '1024', '+Inf'].map((le) =>
          world.metric(manager, `${name}_bucket{le="${le}"}`),
        ),
      );
      assert.deepEqual(counts, [0, 0, 0, 1, 1, 1, 1]);
      assert.equal(await world.metric(manager, `${name}_sum`), 20);
    }
  });

  it('ccm/N15, ccm/C9, ccm/C10: copies labels of initialised nodes, and asks no cloud about that', async () => {
    await using world = await CloudNodeWorld.start();
    const labels = { 'beta.kubernetes.io/instance-type': 'a', 'node.kubernetes.io/instance-type': 'b' };
    await world.add('n1', { taints: [], labels }, { state: 'unmanaged' });
    await world.add('n2', { taints: [], labels: { 'topology.kubernetes.io/zone': 'z' } }, { state: 'unmanaged' });
    world.env.faults.arm({
      matches: isMirror,
      fault: CONFLICT,
      times: 4,
    });
    await world.run();
    await world.env.advance(SECOND_MS);
    assert.equal((await world.node('n1')).metadata.labels?.['node.kubernetes.io/instance-type'], 'a');
    assert.deepEqual((await world.node('n2')).metadata.labels, { 'topology.kubernetes.io/zone': 'z' });
    assert.deepEqual(world.writes(), ['PATCH nodes/n1']);
  });

  for (const [what, isRaced, node] of [
    ['labels', isMirror, { taints: [], labels: { 'beta.kubernetes.io/instance-type': 'a' } }],
    ['addresses', isStatusPatch, { taints: [] }],
  ] as const) {
    it(`ccm/N15, ccm/N16: writes no ${what} of a node to another one that gets its name at the same moment`, async () => {
      await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
      await world.add('n1', node);
      let isFirst = true;
      const raced =
        (transport: Transport): Transport =>
        async (request) => {
          if (isFirst && isRaced(request)) {
            isFirst = false;
            await world.env.client.delete(Node, { name: 'n1' });
            await world.add('n1', { taints: [] }, { state: 'unmanaged' });
          }
          return await transport(request);
        };
      await world.run({}, { wrap: raced });
      await world.env.advance(10 * SECOND_MS);
      assert.equal(isFirst, false);
      assert.deepEqual((await world.node('n1')).metadata.labels ?? {}, {});
      assert.deepEqual(await world.addresses('n1'), ['Hostname n1.internal']);
    });
  }

  it('ccm/N15: makes five attempts in a row, 100 to 200 ms apart', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    const { clock, faults } = world.env;
    const sentMs: number[] = [];
    faults.arm({
      matches: (request) => {
        if (isMirror(request)) sentMs.push(clock.monotonicMs());
        return isMirror(request);
      },
      fault: CONFLICT,
      times: 6,
    });
    await world.add('n1', { taints: [], labels: { 'beta.kubernetes.io/instance-type': 'a' } });
    await world.run();
    await world.env.advance(2 * SECOND_MS);
    const pauses = sentMs.slice(1).map((ms, at) => ms - (sentMs[at] ?? 0));
    assert.ok(
      pauses.slice(0, 4).every((ms) => ms >= 100 && ms <= 200),
      pauses.join(),
    );
    assert.ok((pauses[4] ?? 100) < 100, 'the sixth is one of the next reconcile');
    assert.equal((await world.node('n1')).metadata.labels?.['node.kubernetes.io/instance-type'], 'a');
  });

  it('ccm/§2.4: uses exactly the rights that it declares', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1');
    await world.add('n2', { taints: [], labels: { 'beta.kubernetes.io/instance-type': 'a' } });
    world.env.faults.arm({ matches: isUpdate, fault: CONFLICT, times: 1 });
    await world.run();
    await world.env.advance(SECOND_MS);
    expectExactRbac(world.env, { manager: 'cloud-node' });
  });
});
