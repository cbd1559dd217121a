import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BOAT, boat, CacheWorld, modified, removed, settle } from '../../../test/support/cache-world.ts';
import { SelectorProblem } from '../../object/label-selector.ts';
import type { CacheListOptions } from './cache.ts';

const owned = { ownerReferences: [{ apiVersion: 'v1', kind: 'Port', name: 'p', uid: 'uid-port' }] };
const BOATS = [
  boat('a', { version: 1, labels: { app: 'web', tier: 'front' }, more: { spec: { port: 'hamburg', masts: 2 } } }),
  boat('b', { version: 2, labels: { app: 'db' }, more: { spec: { port: 'bremen' } }, meta: owned }),
  boat('c', { version: 3, namespace: 'lake', labels: { app: 'web' } }),
];

async function filled(indexed: string[] = []): Promise<CacheWorld> {
  const world = new CacheWorld({ byKind: { 'boats.example.com': { indexLabels: ['app'] } } });
  world.cache.index(BOAT, 'spec.port', (object) => {
    indexed.push(object.metadata.name);
    if (object.metadata.name === 'bad') throw new Error('no index today');
    const { spec } = object as { spec?: { port?: string } };
    return spec?.port === undefined ? [] : [spec.port];
  });
  await world.synced(10, ...BOATS);
  return world;
}

const CASES: readonly (readonly [CacheListOptions, string[]])[] = [
  [{}, ['a', 'b', 'c']],
  [{ namespace: 'sea' }, ['a', 'b']],
  [{ namespace: 'nowhere' }, []],
  [{ labels: 'app=web' }, ['a', 'c']],
  [{ labels: { app: 'web' }, namespace: 'sea' }, ['a']],
  [{ labels: 'app in (web,db),tier' }, ['a']],
  [{ labels: '!tier' }, ['b', 'c']],
  [{ labels: { app: 'web', tier: 'back' } }, []],
  [{ fields: 'spec.port=hamburg' }, ['a']],
  [{ fields: 'spec.port!=hamburg' }, ['b', 'c']],
  [{ fields: 'spec.masts=2' }, ['a']],
  [{ fields: 'metadata.name=b,metadata.namespace=sea' }, ['b']],
  [{ fields: 'spec.port=bremen', labels: 'app=web' }, []],
  [{ fields: 'constructor.name=Object' }, []],
];

describe('lists from the cache', () => {
  for (const [options, names] of CASES) {
    it(`runtime/I13: selects ${JSON.stringify(options)}`, async () => {
      await using world = await filled();
      assert.deepEqual(
        world.boats.list(options).map(({ metadata }) => metadata.name),
        names,
      );
    });
  }

  it('runtime/I13: a list does not change when the cache does', async () => {
    await using world = await filled();
    const before = world.boats.list();
    world.server.stream.send(removed(boat('a', { version: 11 })));
    await settle();
    assert.equal(before.length, 3);
    assert.equal(world.boats.list().length, 2);
  });

  it('runtime/I12: finds by the built-in and by own indexes, as objects come, change and go', async () => {
    await using world = await filled();
    const found = (index: string, value: string) =>
      world.boats.byIndex(index, value).map(({ metadata }) => metadata.name);
    assert.deepEqual(found('namespace', 'sea'), ['a', 'b']);
    assert.deepEqual(found('ownerUid', 'uid-port'), ['b']);
    assert.deepEqual(found('label:app', 'web'), ['a', 'c']);
    assert.deepEqual(found('spec.port', 'hamburg'), ['a']);
    world.server.stream.send(modified(boat('a', { version: 11, more: { spec: { port: 'bremen' } } })));
    world.server.stream.send(removed(boat('b', { version: 12 })));
    await settle();
    assert.deepEqual(found('spec.port', 'hamburg'), []);
    assert.deepEqual(found('spec.port', 'bremen'), ['a']);
    assert.deepEqual(found('ownerUid', 'uid-port'), []);
    assert.throws(() => found('color', 'red'), /has no index "color"/);
  });

  it('runtime/I12: runs an index function once per event; one that throws is logged and gives no value', async () => {
    const indexed: string[] = [];
    await using world = await filled(indexed);
    assert.deepEqual(indexed, ['a', 'b', 'c']);
    world.server.stream.send(modified(boat('a', { version: 11 })), modified(boat('bad', { version: 12 })));
    await settle();
    assert.deepEqual(indexed.slice(3), ['a', 'bad']);
    assert.equal(world.boats.get({ namespace: 'sea', name: 'bad' })?.metadata.name, 'bad');
    assert.match(world.complaints.map(({ message }) => message).join(), /index function failed/);
  });

  it('runtime/I12: an index that comes too late, or twice, is refused', async () => {
    await using world = await filled();
    assert.throws(() => world.cache.index(BOAT, 'late', () => []), /has started/);
    const train = { ...BOAT, plural: 'trains' };
    world.cache.index(train, 'color', () => []);
    assert.throws(() => world.cache.index(train, 'color', () => []), /has an index "color" already/);
    assert.throws(() => world.cache.index(train, 'namespace', () => []), /already/);
  });

  it('refuses a selector that is none', async () => {
    await using world = await filled();
    assert.throws(() => world.boats.list({ labels: 'a=b=c' }), SelectorProblem);
  });
});
