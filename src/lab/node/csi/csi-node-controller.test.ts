import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { driver, FakeDrivers } from '../../../../test/support/fake-drivers.ts';
import { Node } from '../../../api/generated/core-v1.ts';
import { CSINode } from '../../../api/generated/storage-v1.ts';
import type { CSINodeDriver } from '../../../api/generated/storage-v1-types.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { csiNode } from './csi-node-controller.ts';
import { nextDrivers, nodeMarks } from './csi-node-object.ts';

const NODE = 'w-1';
const node = { metadata: { name: NODE } };

async function rig(drivers: FakeDrivers, { hasNode = true } = {}) {
  const env = await TestEnv.start();
  if (hasNode) await env.client.create(Node, node);
  await env.startManager({ add: [csiNode({ node: NODE, drivers })] });
  /** The server shows an empty list as null, or not at all. */
  const told = async () => {
    const found = await env.client.find(CSINode, { name: NODE });
    const drivers: readonly CSINodeDriver[] | null = found?.spec.drivers ?? null;
    return found === undefined
      ? undefined
      : (drivers ?? []).map(({ topologyKeys, ...rest }) => ({ ...rest, topologyKeys: topologyKeys ?? [] }));
  };
  const labelled = async () => (await env.client.get(Node, { name: NODE })).metadata;
  return { env, told, labelled, [Symbol.asyncDispose]: () => env[Symbol.asyncDispose]() };
}

/** It belongs to no Node any more, and nobody but the controller takes it away. */
async function disown(env: TestEnv): Promise<void> {
  const { resourceVersion = '' } = (await env.client.get(CSINode, { name: NODE })).metadata;
  const body = { metadata: { resourceVersion, ownerReferences: null } };
  await env.client.patch(CSINode, { name: NODE }, { type: 'merge', body });
  await report(env);
  await env.advance(100);
}

/** The node tells how it is, as it does every five minutes. */
async function report(env: TestEnv): Promise<void> {
  for (const phase of ['Running', null]) {
    const body = { status: { phase } };
    await env.client.patch(Node, { name: NODE }, { type: 'merge', body }, { subresource: 'status' });
  }
  await env.settle();
}

describe('the CSINode of a node', () => {
  it('lab/N36: has every driver that is registered: its name for the node, topology and how many volumes', async () => {
    const drivers = new FakeDrivers();
    await using one = await rig(drivers);
    assert.deepEqual(await one.told(), []);
    const zone = { 'topology.d/zone': 'a', 'topology.d/rack': '7' };
    drivers.set(driver('d', { topology: zone, maxVolumes: 25n }), driver('e'));
    await one.env.settle();
    assert.deepEqual(await one.told(), [
      {
        name: 'd',
        nodeID: 'd-node',
        topologyKeys: ['topology.d/rack', 'topology.d/zone'],
        allocatable: { count: 25 },
      },
      { name: 'e', nodeID: 'e-node', topologyKeys: [] },
    ]);
    const { uid } = (await one.env.client.get(Node, { name: NODE })).metadata;
    const { ownerReferences } = (await one.env.client.get(CSINode, { name: NODE })).metadata;
    assert.deepEqual(ownerReferences, [{ apiVersion: 'v1', kind: 'Node', name: NODE, uid }]);
    const { labels, annotations } = await one.labelled();
    assert.equal(labels?.['topology.d/zone'], 'a');
    assert.equal(annotations?.['csi.volume.kubernetes.io/nodeid'], '{"d":"d-node","e":"e-node"}');
  });

  it('lab/N36: loses a driver that went; its topology stays', async () => {
    const drivers = new FakeDrivers();
    await using one = await rig(drivers);
    drivers.set(driver('d', { topology: { 'd/zone': 'a' } }), driver('e'));
    await one.env.settle();
    drivers.set(driver('e'));
    await one.env.settle();
    assert.deepEqual(
      (await one.told())?.map(({ name }) => name),
      ['e'],
    );
    const { labels, annotations } = await one.labelled();
    assert.equal(annotations?.['csi.volume.kubernetes.io/nodeid'], '{"e":"e-node"}');
    assert.equal(labels?.['d/zone'], 'a');
    drivers.set();
    await one.env.settle();
    assert.equal((await one.labelled()).annotations?.['csi.volume.kubernetes.io/nodeid'], undefined);
  });

  it('lab/N36: keeps, when the node starts again, drivers that have not registered yet', async () => {
    await using env = await TestEnv.start();
    const { metadata } = await env.client.create(Node, node);
    const owner = { apiVersion: 'v1', kind: 'Node', name: NODE, uid: metadata.uid ?? '' };
    const drivers = [{ name: 'x', nodeID: 'x-node' }];
    await env.client.create(CSINode, { metadata: { name: NODE, ownerReferences: [owner] }, spec: { drivers } });
    await env.startManager({ add: [csiNode({ node: NODE, drivers: new FakeDrivers() })] });
    await expectNoWrites(env.recorder, () => env.advance(60_000));
    assert.equal((await env.client.get(CSINode, { name: NODE })).spec.drivers[0]?.name, 'x');
  });

  it('lab/N36: follows a driver that calls the node something else now', async () => {
    const drivers = new FakeDrivers();
    await using one = await rig(drivers);
    drivers.set(driver('d', { nodeId: 'old' }), driver('e'));
    await one.env.settle();
    drivers.set(driver('d', { nodeId: 'new', maxVolumes: 3n }), driver('e'));
    await one.env.advance(100);
    const found = (await one.told())?.find(({ name }) => name === 'd');
    assert.deepEqual(found, { name: 'd', nodeID: 'new', topologyKeys: [], allocatable: { count: 3 } });
  });

  it('lab/N36: is made anew for a new Node of the same name, and at the next report when somebody deletes it', async () => {
    const drivers = new FakeDrivers();
    await using one = await rig(drivers);
    drivers.set(driver('d'));
    await one.env.settle();
    await one.env.client.delete(CSINode, { name: NODE });
    await report(one.env);
    assert.equal((await one.told())?.length, 1);
    await disown(one.env);
    const { uid } = (await one.env.client.get(Node, { name: NODE })).metadata;
    const found = await one.env.client.get(CSINode, { name: NODE });
    assert.equal(found.metadata.ownerReferences?.[0]?.uid, uid);
    assert.equal(found.spec.drivers.length, 1);
  });

  it('lab/N36: waits for the Node', async () => {
    const drivers = new FakeDrivers();
    drivers.set(driver('d'));
    await using one = await rig(drivers, { hasNode: false });
    assert.equal(await one.told(), undefined);
    await one.env.client.create(Node, node);
    await one.env.advance(5_000);
    assert.equal((await one.told())?.length, 1);
  });

  it('lab/N36: is written once, with exactly the rights that are declared', async () => {
    const drivers = new FakeDrivers();
    await using one = await rig(drivers);
    drivers.set(driver('d', { topology: { 'd/zone': 'a' } }));
    await one.env.settle();
    await expectNoWrites(one.env.recorder, () => one.env.advance(600_000));
    await disown(one.env);
    expectExactRbac(one.env, { unused: ['create events.k8s.io/events', 'patch events.k8s.io/events'] });
  });
});

describe('nextDrivers', () => {
  it('is nothing when everything is right, in whatever order topology keys are', () => {
    const existing = [
      { name: 'd', nodeID: 'd-node', topologyKeys: ['b', 'a'] },
      { name: 'x', nodeID: 'x' },
    ];
    const registered = [driver('d', { topology: { a: '1', b: '2' } })];
    assert.equal(nextDrivers(existing, { registered, gone: new Set() }), undefined);
  });

  it('never has more volumes than the API can say, nor fewer than one', () => {
    const count = (maxVolumes: bigint) =>
      nextDrivers([], { registered: [driver('d', { maxVolumes })], gone: new Set() })?.[0]?.allocatable?.count;
    assert.deepEqual([count(2n ** 40n), count(0n), count(-1n)], [2 ** 31 - 1, undefined, undefined]);
  });
});

describe('nodeMarks', () => {
  const marked = (annotations: Readonly<Record<string, string>>, labels = {}): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE, annotations, labels },
    spec: {},
  });

  it('leaves a label that says something else, and says so', () => {
    const registered = [driver('d', { topology: { zone: 'a', rack: '1' } })];
    const { patch, conflicts } = nodeMarks(marked({}, { zone: 'b' }), { registered, gone: new Set() });
    assert.deepEqual(conflicts, [
      'detected topology value collision: driver d reported "zone":"a" but existing label is "zone":"b"',
    ]);
    const annotations = { 'csi.volume.kubernetes.io/nodeid': '{"d":"d-node"}' };
    assert.deepEqual(patch, { metadata: { labels: { rack: '1' }, annotations } });
  });

  it('replaces an annotation that nobody can read', () => {
    for (const text of ['{', '[]', '{"d":1}']) {
      const { patch } = nodeMarks(marked({ 'csi.volume.kubernetes.io/nodeid': text }), {
        registered: [driver('e')],
        gone: new Set(),
      });
      assert.deepEqual(patch, {
        metadata: { annotations: { 'csi.volume.kubernetes.io/nodeid': '{"e":"e-node"}' } },
      });
    }
  });
});
