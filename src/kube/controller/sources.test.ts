import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind, KubeObject, ObjectMeta, OwnerReference } from '../../api/object.ts';
import { retryError } from '../../base/errors.ts';
import type { Cache, ObjectEvent } from '../cache/cache.ts';
import { Channel } from './channel.ts';
import { controllerFor } from './controller.ts';
import { Rig, WIDGET } from './controller-rig.ts';
import { mappedKeys, ownerKeys, selfKeys } from './event-keys.ts';
import {
  and,
  annotationChanged,
  byType,
  generationChanged,
  labelChanged,
  labelMatches,
  not,
  or,
  type Predicate,
  resourceVersionChanged,
} from './predicates.ts';
import { DONE } from './reconcile.ts';

const tools = { cache: {} as Cache };
const object = (metadata: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'ns', ...metadata },
});
const event = (type: ObjectEvent['type'], now: KubeObject, old?: KubeObject): ObjectEvent => ({
  type,
  object: now,
  ...(old !== undefined && { old }),
  isInInitialList: false,
  isFinalStateUnknown: false,
});
const update = (old: Partial<ObjectMeta>, now: Partial<ObjectMeta>) => event('update', object(now), object(old));
const owner = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'example.com/v1beta1',
  kind: 'Widget',
  name,
  uid: name,
  controller: true,
  ...more,
});

describe('handlers', () => {
  it('runtime/R3: an object stands for itself', () => {
    assert.deepEqual(selfKeys(event('delete', object()), tools), [{ namespace: 'ns', name: 'a' }]);
  });

  const owners = [
    { name: 'the controller, whatever its version', refs: [owner('w')], want: ['w'] },
    { name: 'no owner that is not the controller', refs: [owner('w', { controller: false })], want: [] },
    { name: 'no owner of another kind', refs: [owner('w', { kind: 'Gadget' })], want: [] },
    { name: 'no owner of another group', refs: [owner('w', { apiVersion: 'other.com/v1' })], want: [] },
    { name: 'no owner of the core group', refs: [owner('w', { apiVersion: 'v1' })], want: [] },
  ];
  for (const { name, refs, want } of owners)
    it(`runtime/R3: an owned object stands for ${name}`, () => {
      const keys = ownerKeys(WIDGET)(event('create', object({ ownerReferences: refs })), tools);
      assert.deepEqual(
        keys,
        want.map((each) => ({ namespace: 'ns', name: each })),
      );
    });

  it('runtime/R3: all owners where the option says so, without namespace where the owner has none', () => {
    const cluster: Kind = { ...WIDGET, scope: 'Cluster' };
    const ownerReferences = [owner('w', { controller: false }), owner('v')];
    const keys = ownerKeys(cluster, { allOwners: true })(event('create', object({ ownerReferences })), tools);
    assert.deepEqual(keys, [{ name: 'w' }, { name: 'v' }]);
  });

  it('runtime/R3: an update stands for the owner before and the owner after', () => {
    const moved = update({ ownerReferences: [owner('old')] }, { ownerReferences: [owner('new')] });
    assert.deepEqual(
      ownerKeys(WIDGET)(moved, tools).map(({ name }) => name),
      ['old', 'new'],
    );
  });

  it('runtime/R3: a map sees both sides of an update, and each key counts once', () => {
    const byLabel = mappedKeys(({ metadata: { labels = {} } }) => Object.values(labels).map((name) => ({ name })));
    const moved = update({ labels: { a: 'x', b: 'y' } }, { labels: { a: 'y', b: 'z' } });
    assert.deepEqual(
      byLabel(moved, tools).map(({ name }) => name),
      ['x', 'y', 'z'],
    );
  });

  it('a map may name what a label does not hold: then there is no key', () => {
    const byLabel = mappedKeys(({ metadata: { labels = {} } }) => [{ name: labels['widget'] as string }]);
    assert.deepEqual(byLabel(event('create', object()), tools), []);
  });

  it('runtime/R3: an event that is mapped through objects that are not read yet waits until they are', async () => {
    const rig = new Rig();
    let isRead = false;
    const predicate: Predicate = () => {
      if (isRead) return true;
      isRead = true;
      throw retryError('CacheNotSynced', 'boats have not been read yet');
    };
    rig.cluster.put({ metadata: { name: 'a' } });
    await rig.run(() => DONE, { predicates: [predicate] });
    await rig.rest();
    assert.deepEqual([rig.runs.map(({ name }) => name), rig.said], [['a'], []]);
  });

  it('runtime/R3: what a handler throws is logged and counted, and the next event is heard', async () => {
    const rig = new Rig();
    let calls = 0;
    const predicate: Predicate = () => {
      if (calls++ === 0) throw new Error('broken predicate');
      return true;
    };
    await rig.run(() => DONE, { predicates: [predicate] });
    for (const name of ['a', 'b']) rig.cluster.put({ metadata: { name } });
    await rig.rest();
    assert.deepEqual([rig.runs.map(({ name }) => name), rig.said], [['b'], ['error Dropped an event']]);
    assert.equal(await rig.metric('slipway_controller_handler_errors_total{controller="widget"}'), 1);
  });
});

describe('predicates', () => {
  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const rows: readonly { name: string; predicate: Predicate; given: ObjectEvent; want: boolean }[] = [
    {
      name: 'generationChanged passes another generation',
      predicate: generationChanged,
      given: update({ generation: 1 }, { generation: 2 }),
      want: true,
    },
    {
      name: 'generationChanged drops a change of the status',
      predicate: generationChanged,
      given: update({ generation: 1, resourceVersion: '1' }, { generation: 1, resourceVersion: '2' }),
      want: false,
    },
    {
      name: 'generationChanged passes the beginning of a deletion',
      predicate: generationChanged,
      given: update({ generation: 1 }, { generation: 1, ...deleted }),
      want: true,
    },
    {
      name: 'generationChanged passes new versions of kinds without generation',
      predicate: generationChanged,
      given: update({ resourceVersion: '1' }, { resourceVersion: '2' }),
      want: true,
    },
    {
      name: 'generationChanged passes creations',
      predicate: generationChanged,
      given: event('create', object()),
      want: true,
    },
    {
      name: 'generationChanged passes deletions',
      predicate: generationChanged,
      given: event('delete', object(), object()),
      want: true,
    },
    {
      name: 'labelChanged passes another value',
      predicate: labelChanged,
      given: update({ labels: { a: '1' } }, { labels: { a: '2' } }),
      want: true,
    },
    {
      name: 'labelChanged passes another key',
      predicate: labelChanged,
      given: update({ labels: { a: '1' } }, { labels: { b: '1' } }),
      want: true,
    },
    {
      name: 'labelChanged passes a first label',
      predicate: labelChanged,
      given: update({}, { labels: { a: '1' } }),
      want: true,
    },
    {
      name: 'labelChanged drops equal labels',
      predicate: labelChanged,
      given: update({ labels: { a: '1' } }, { labels: { a: '1' } }),
      want: false,
    },
    {
      name: 'annotationChanged passes another value',
      predicate: annotationChanged,
      given: update({ annotations: { a: '1' } }, { annotations: { a: '2' } }),
      want: true,
    },
    {
      name: 'annotationChanged drops equal ones',
      predicate: annotationChanged,
      given: update({ labels: { a: '1' } }, { labels: { a: '2' } }),
      want: false,
    },
    {
      name: 'resourceVersionChanged drops a resync',
      predicate: resourceVersionChanged,
      given: update({ resourceVersion: '1' }, { resourceVersion: '1' }),
      want: false,
    },
    {
      name: 'labelMatches passes who matches',
      predicate: labelMatches('app=web'),
      given: event('create', object({ labels: { app: 'web' } })),
      want: true,
    },
    {
      name: 'labelMatches passes who did match',
      predicate: labelMatches('app'),
      given: update({ labels: { app: 'web' } }, {}),
      want: true,
    },
    {
      name: 'labelMatches drops others',
      predicate: labelMatches('app=web'),
      given: event('create', object()),
      want: false,
    },
    {
      name: 'and drops what one drops',
      predicate: and(generationChanged, not(generationChanged)),
      given: event('create', object()),
      want: false,
    },
    {
      name: 'or passes what one passes',
      predicate: or(not(generationChanged), generationChanged),
      given: event('create', object()),
      want: true,
    },
    {
      name: 'byType asks the predicate of the type',
      predicate: byType({ delete: () => false }),
      given: event('delete', object()),
      want: false,
    },
    {
      name: 'byType passes other types',
      predicate: byType({ delete: () => false }),
      given: event('create', object()),
      want: true,
    },
  ];
  for (const { name, predicate, given, want } of rows)
    it(`runtime/R4: ${name}`, () => assert.equal(predicate(given), want));

  it('runtime/R4: predicates of creations see which ones belong to the initial list', async () => {
    const rig = new Rig();
    rig.cluster.put({ metadata: { name: 'old' } });
    await rig.run(() => DONE, { predicates: [({ isInInitialList }) => !isInInitialList] });
    rig.cluster.put({ metadata: { name: 'new' } });
    await rig.rest();
    assert.deepEqual(
      rig.runs.map(({ name }) => name),
      ['new'],
    );
  });
});

describe('priorities of events', () => {
  it('runtime/Q4: what changes now overtakes the initial list (sample 17)', async () => {
    const rig = new Rig();
    for (let name = 0; name < 50; name++) rig.cluster.put({ metadata: { name: `old-${name}` } });
    await rig.run(() => rig.clock.sleep(10).then(() => DONE));
    rig.cluster.put({ metadata: { name: 'live' } });
    await rig.pass(30);
    assert.deepEqual(
      rig.runs.slice(0, 3).map(({ name }) => name),
      ['old-0', 'live', 'old-1'],
    );
  });

  it('runtime/Q4: what changes now overtakes a resync', async () => {
    const rig = new Rig();
    for (const name of ['a', 'b', 'c']) rig.cluster.put({ metadata: { name } });
    await rig.run(() => rig.clock.sleep(10).then(() => DONE));
    await rig.pass(100);
    rig.runs.length = 0;
    rig.cluster.resync();
    await rig.rest();
    rig.cluster.put({ metadata: { name: 'live' } });
    await rig.pass(100);
    assert.deepEqual(
      rig.runs.map(({ name }) => name),
      ['a', 'live', 'b', 'c'],
    );
  });
});

describe('sources of a controller', () => {
  it('runtime/R3: owned and watched objects and channels make their keys ready', async () => {
    const configMaps = new Rig({ ...WIDGET, group: '', kind: 'ConfigMap', plural: 'configmaps' });
    const rig = new Rig();
    const channel = new Channel();
    for (const name of ['a', 'b', 'c', 'd']) rig.cluster.put({ metadata: { name } });
    // One cluster that serves both kinds.
    const cache: Partial<Cache> = {
      informer: (kind) => (kind.kind === 'Widget' ? rig : configMaps).cluster.cache.informer(kind),
    };
    const seen: string[] = [];
    const controller = controllerFor(WIDGET)
      .owns(configMaps.cluster.kind)
      .watches(configMaps.cluster.kind, () => [{ namespace: 'default', name: 'b' }], [labelMatches('mapped')])
      .watchesChannel(channel)
      .reconcile({ reconcile: ({ metadata }) => (seen.push(metadata.name), Promise.resolve(DONE)) });
    const bound = controller.bind({ ...rig.environment, cache: cache as Cache });
    const ended = bound.runnables.map((part) => part.run(rig.stop.signal));
    await rig.rest();
    seen.length = 0;
    configMaps.cluster.put({ metadata: { name: 'one', ownerReferences: [owner('a')] } });
    configMaps.cluster.put({ metadata: { name: 'two', labels: { mapped: 'yes' } } });
    channel.send({ namespace: 'default', name: 'c' }, { afterMs: 5 });
    await rig.rest();
    assert.deepEqual(seen.toSorted(), ['a', 'b']);
    await rig.pass(5);
    assert.deepEqual(seen.toSorted(), ['a', 'b', 'c']);
    rig.stop.abort();
    await Promise.all(ended);
    assert.equal(channel.send({ name: 'late' }), true);
    assert.equal(bound.activity.ready, 0);
  });

  it('a channel keeps 1,024 keys until somebody listens, each once', () => {
    const channel = new Channel();
    for (let key = 0; key < 1024; key++) assert.equal(channel.send({ name: `${key}` }), true);
    assert.deepEqual([channel.send({ name: '7' }), channel.send({ name: 'more' })], [true, false]);
    const heard: string[] = [];
    channel.subscribe(({ name }) => heard.push(name));
    assert.deepEqual([heard.length, heard[0]], [1024, '0']);
  });
});
