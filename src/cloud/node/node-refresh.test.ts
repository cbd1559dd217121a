import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeProvider } from '../../../test/support/cloud-controllers.ts';
import { CloudNodeWorld, machine } from '../../../test/support/cloud-node-world.ts';
import { Node } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { isWrite, type Transport } from '../../kube/transport/transport.ts';
import type { Instances, PresentInstance } from '../../sdk/capabilities/instances.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { expectNoWrites } from '../../testing/recorder.ts';

const SECOND_MS = 1000;
const PERIOD_MS = 300 * SECOND_MS;
const INITIALIZED = { taints: [], providerID: 'fake://i-1' };
const internal = (...addresses: readonly string[]): Pick<PresentInstance, 'addresses'> => ({
  addresses: addresses.map((address) => ({ type: 'InternalIP', address })),
});
const at = (...addresses: readonly string[]) => machine(internal(...addresses));
const label = (world: CloudNodeWorld, name: string, labels: Readonly<Record<string, string>>) =>
  world.env.client.patch(Node, { name }, { type: 'merge', body: { metadata: { labels } } });
/** Lets a promise that never settles stand for a process that is dead. */
const never = <T>(): Promise<T> => new Promise(() => {});

describe('the periodic pass over the nodes', () => {
  it('ccm/N16: begins at once, and again a period after the end of the one before', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1', INITIALIZED, at('10.0.0.2'));
    const { clock } = world.env;
    const asked: number[] = [];
    world.cloud.on('instances.describeMany', async () => {
      asked.push(clock.monotonicMs());
      await clock.sleep(10 * SECOND_MS);
    });
    const startMs = clock.monotonicMs();
    await world.run();
    await world.env.advance(2 * PERIOD_MS + 30 * SECOND_MS);
    const since = asked.map((ms) => ms - startMs);
    assert.deepEqual(since, [0, PERIOD_MS + 10 * SECOND_MS, 2 * (PERIOD_MS + 10 * SECOND_MS)]);
    assert.deepEqual(await world.addresses('n1'), ['InternalIP 10.0.0.2', 'Hostname n1.internal']);
  });

  it('ccm/N16, ccm/A6: follows the addresses of machines, and writes only when they change', async () => {
    await using world = await CloudNodeWorld.start();
    const pair = ['10.0.0.1', '10.0.0.2'] as const;
    await world.add('n1', { ...INITIALIZED, ...internal(...pair) }, at(...pair));
    await expectNoWrites(world.env.recorder, async () => {
      await world.run();
      await world.env.advance(PERIOD_MS);
    });
    world.cloud.instances.set('n1', at(...[...pair].toReversed()));
    await world.env.advance(PERIOD_MS);
    assert.deepEqual(await world.addresses('n1'), ['InternalIP 10.0.0.2', 'InternalIP 10.0.0.1']);
    assert.deepEqual(world.writes(), ['PATCH nodes/n1/status']);
  });

  it('ccm/N16, ccm/A1: skips tainted nodes, nodes without a machine, and machines without addresses', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    await world.add('tainted', {}, { state: 'unmanaged' });
    await world.add('absent', INITIALIZED, { state: 'absent', evidence: 'gone' });
    await world.add('unmanaged', INITIALIZED, { state: 'unmanaged' });
    await world.add('bare', INITIALIZED, at());
    await expectNoWrites(world.env.recorder, async () => {
      await world.run();
      await world.env.advance(PERIOD_MS);
    });
    const calls = world.cloud.callsOf('instances.describeMany').flatMap(({ args }) => args);
    const names = (calls.at(-1) as readonly { readonly nodeName: string }[]).map(({ nodeName }) => nodeName);
    assert.deepEqual(names, ['absent', 'bare', 'unmanaged']);
  });

  it('ccm/N16: refreshes no label, zone, type or provider ID unless told to', async () => {
    await using world = await CloudNodeWorld.start();
    const found = machine({ ...internal('10.0.0.1'), providerID: 'fake://2', zone: 'z1', labels: { rack: '7' } });
    await world.add('n1', { ...INITIALIZED, ...internal('10.0.0.1') }, found);
    await expectNoWrites(world.env.recorder, async () => {
      await world.run();
      await world.env.advance(PERIOD_MS);
    });
  });

  it('ccm/N16: one node that cannot be asked about or written does not stop the others', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    for (const name of ['n1', 'n2', 'n3']) await world.add(name, INITIALIZED, at('10.0.0.2'));
    const { instances } = world.cloud.capabilities;
    world.cloud.on('instances.describe', ([ref]) => {
      if ((ref as { readonly nodeName: string }).nodeName === 'n1') throw new ProviderError('denied', 'no');
    });
    world.env.faults.arm({
      matches: ({ target }) => target.startsWith('/api/v1/nodes/n2/status'),
      fault: { kind: 'refuse', status: 403, reason: 'Forbidden' },
      times: 1,
    });
    const single: Instances = { declare: () => ({}), describe: (ref, call) => instances.describe(ref, call) };
    const provider = fakeProvider(world.cloud, { instances: single });
    const manager = await world.run({ concurrentNodeStatusUpdates: 2 }, { provider });
    assert.deepEqual(await world.addresses('n3'), ['InternalIP 10.0.0.2', 'Hostname n3.internal']);
    assert.deepEqual(await world.addresses('n2'), ['Hostname n2.internal']);
    const counted = (kind: string) =>
      world.metric(manager, `slipway_cloud_node_sync_errors_total{kind="${kind}"}`);
    assert.deepEqual([await counted('denied'), await counted('api')], [1, 1]);
    await world.env.advance(PERIOD_MS);
    assert.deepEqual(await world.addresses('n2'), ['InternalIP 10.0.0.2', 'Hostname n2.internal']);
  });

  it('ccm/B13: shows on an initialised node that its addresses do not fit any more, once, and takes it back', async () => {
    await using world = await CloudNodeWorld.start({ log: SILENT_LOG });
    await world.add('n1', { ...INITIALIZED, nodeIP: '10.0.0.1' }, at('10.0.0.2'));
    const manager = await world.run();
    await world.env.advance(2 * PERIOD_MS);
    assert.match(String(await world.problems('n1')), /^True NodeAddressMismatch: /);
    assert.deepEqual(await world.addresses('n1'), ['Hostname n1.internal']);
    assert.deepEqual(await world.events('n1'), ['Warning NodeAddressMismatch ×1 from cloud-node-controller']);
    assert.deepEqual(world.writes(), ['PATCH nodes/n1/status']);
    assert.equal(await world.metric(manager, 'slipway_cloud_node_sync_errors_total{kind="mismatch"}'), 3);
    world.cloud.instances.set('n1', at('10.0.0.2', '10.0.0.1'));
    await world.env.advance(PERIOD_MS);
    assert.deepEqual(await world.problems('n1'), []);
    assert.deepEqual(await world.addresses('n1'), ['InternalIP 10.0.0.1', 'Hostname n1.internal']);
    assert.deepEqual(world.writes(), ['PATCH nodes/n1/status']);
  });

  it('ccm/N16: gives the addresses of a machine to no other node of the same name', async () => {
    await using world = await CloudNodeWorld.start();
    let asked = 0;
    world.cloud.on('instances.describeMany', async () => {
      if (asked++ > 0) return undefined;
      await world.env.client.delete(Node, { name: 'n1' });
      await world.add('n1', { ...INITIALIZED, ...internal('10.0.0.9') }, at('10.0.0.9'));
      return new Map([['n1', at('10.0.0.2')]]);
    });
    await world.add('n1', INITIALIZED);
    await world.run();
    assert.deepEqual(await world.addresses('n1'), ['InternalIP 10.0.0.9']);
    assert.deepEqual(world.writes(), []);
  });

  it('ccm/N16: ends with the program, also in the middle of a pass', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1', INITIALIZED);
    world.cloud.on('instances.describeMany', (_, { signal }) => world.env.clock.sleep(3600 * SECOND_MS, signal));
    const manager = await world.run();
    await expectNoWrites(world.env.recorder, () => world.env.stopManager(manager));
  });
});

describe('the refresh of labels', () => {
  const stale = machine({
    ...internal('10.0.0.1'),
    instanceType: 'm1',
    zone: 'z1',
    labels: { rack: '1', row: '1' },
  });
  const fresh = machine({
    ...internal('10.0.0.1'),
    instanceType: 'm2',
    zone: 'z1',
    labels: { rack: '2', row: '2', 'acme.example/new': 'x', 'k8s.io/q': '1' },
  });

  it('ccm/B8: adds and updates what follows the cloud, and touches nothing of others', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1', { labels: { mine: 'a' } }, stale);
    await world.run({ refreshNodeLabels: true });
    await label(world, 'n1', { row: 'mine' });
    world.cloud.instances.set('n1', fresh);
    world.writes();
    await world.env.advance(PERIOD_MS);
    const want = {
      mine: 'a',
      rack: '2',
      row: 'mine',
      'acme.example/new': 'x',
      'node.kubernetes.io/instance-type': 'm2',
      'beta.kubernetes.io/instance-type': 'm2',
      'topology.kubernetes.io/zone': 'z1',
      'failure-domain.beta.kubernetes.io/zone': 'z1',
    };
    assert.deepEqual((await world.node('n1')).metadata.labels, want);
    assert.deepEqual(world.writes(), ['PATCH nodes/n1']);
    const { managedFields = [] } = (await world.node('n1')).metadata;
    const applied = managedFields.find(({ operation }) => operation === 'Apply');
    assert.match(applied?.manager ?? '', /\/cloud-node-controller\/labels$/);
    assert.match(JSON.stringify(applied?.fieldsV1), /"f:rack"/);

    await expectNoWrites(world.env.recorder, () => world.env.advance(2 * PERIOD_MS));
    const less = machine({ ...internal('10.0.0.1'), instanceType: 'm3', labels: {} });
    world.cloud.instances.set('n1', less);
    await world.env.advance(PERIOD_MS);
    const type = { 'node.kubernetes.io/instance-type': 'm3', 'beta.kubernetes.io/instance-type': 'm3' };
    assert.deepEqual((await world.node('n1')).metadata.labels, { ...want, ...type });
  });

  it('ccm/B8: does so in the same pass in which addresses change, and with a cache that keeps less', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1', {}, stale);
    await world.run({ refreshNodeLabels: true }, { cache: { byKind: {} } });
    world.cloud.instances.set('n1', { ...fresh, ...internal('10.0.0.2') });
    world.writes();
    await world.env.advance(PERIOD_MS);
    assert.deepEqual(world.writes(), ['PATCH nodes/n1/status', 'PATCH nodes/n1']);
    assert.equal((await world.node('n1')).metadata.labels?.['rack'], '2');
  });

  it('ccm/B8: leaves a label to whoever claims it at the very moment of the refresh', async () => {
    await using world = await CloudNodeWorld.start();
    await world.add('n1', {}, stale);
    let isArmed = false;
    const raced =
      (transport: Transport): Transport =>
      async (request) => {
        const isApply = request.method === 'PATCH' && request.target.startsWith('/api/v1/nodes/n1?');
        if (isArmed && isApply) {
          isArmed = false;
          await label(world, 'n1', { rack: 'mine' });
        }
        return await transport(request);
      };
    await world.run({ refreshNodeLabels: true }, { wrap: raced });
    world.cloud.instances.set('n1', fresh);
    isArmed = true;
    await world.env.advance(PERIOD_MS);
    assert.equal(isArmed, false);
    const labels = async () => (await world.node('n1')).metadata.labels ?? {};
    assert.deepEqual([(await labels())['rack'], (await labels())['row']], ['mine', '1']);
    await world.env.advance(PERIOD_MS);
    assert.deepEqual([(await labels())['rack'], (await labels())['row']], ['mine', '2']);
  });
});

describe('a process that dies', () => {
  /** Dies with its n-th write to a node, before or after the server has it. */
  const mortal = (n: number, isDelivered: boolean) => {
    let writes = 0;
    let isDead = false;
    return (transport: Transport): Transport =>
      async (request) => {
        if (isDead) return await never();
        if (!isWrite(request) || !request.target.startsWith('/api/v1/nodes/') || ++writes < n) {
          return await transport(request);
        }
        isDead = true;
        if (isDelivered) await transport(request);
        return await never();
      };
  };

  for (const [n, isDelivered] of [
    [1, false],
    [1, true],
    [2, false],
    [2, true],
  ] as const) {
    it(`ccm/N12, ccm/N16: leaves nothing behind that its successor does not finish: write ${n}, ${isDelivered ? 'delivered' : 'lost'}`, async () => {
      await using world = await CloudNodeWorld.start();
      await world.add('n1', {}, machine({ zone: 'z1', labels: { rack: '7' } }));
      const dead = await world.run({}, { name: 'first', wrap: mortal(n, isDelivered) });
      world.env.abandon(dead);
      await world.run({}, { name: 'second' });
      const { metadata, spec } = await world.node('n1');
      assert.equal(await world.isTainted('n1'), false);
      assert.deepEqual([metadata.labels?.['rack'], spec.providerID], ['7', 'fake://i-1']);
      assert.deepEqual(await world.addresses('n1'), ['InternalIP 10.0.0.1', 'Hostname n1.internal']);
    });
  }
});
