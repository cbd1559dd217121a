import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ConfigMap, Secret } from '../../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { isNotFound } from '../../../src/kube/client/api-error.ts';
import type { TransportRequest } from '../../../src/kube/transport/transport.ts';
import { mutable } from '../../../src/object/mutable.ts';
import type { RuntimeSuite } from '../../support/runtime-servers.ts';
import { failureOf } from '../../support/transport-world.ts';
import { CacheRig, FastClock } from './cache-rig.ts';
import { Gadget } from './gadget.ts';
import { startRelay } from './relay.ts';

/** Rewrites parameters of requests for streams. */
const changeStreams =
  (change: (query: URLSearchParams) => void) =>
  (request: TransportRequest): TransportRequest => {
    const [path = '', text = ''] = request.target.split('?');
    const query = new URLSearchParams(text);
    if (query.get('watch') !== 'true' && query.get('watch') !== '1') return request;
    change(query);
    return { ...request, target: `${path}?${query.toString()}` };
  };

/** The cache leaves out what nobody reads. */
function kept<T extends KubeObject>({ metadata: { managedFields: _unread, ...metadata }, ...object }: T) {
  return { ...object, metadata };
}

/** The cache over real sockets (section 5). */
export const cacheSuite: RuntimeSuite = (world) => {
  /** A namespace with these objects, and ways to change them. */
  const place = async (...names: readonly string[]) => {
    const namespace = await world().namespace('cache');
    const { client } = world();
    const key = (name: string) => ({ namespace, name });
    const set = async (name: string, v: string) => {
      await client.apply(ConfigMap, { metadata: key(name), data: { v } });
    };
    const remove = (name: string) => client.delete(ConfigMap, key(name));
    for (const name of names) await set(name, '1');
    return { namespace, key, set, remove, only: { namespaces: [namespace] } };
  };
  const tells = (rig: CacheRig, ...expected: readonly string[]) =>
    world()
      .eventually(() => rig.told.length >= expected.length, expected.join(', '), 15_000)
      .catch(() => {})
      .then(() => assert.deepEqual(rig.told, expected));
  const holds = async (rig: CacheRig, namespace: string) => {
    const { items } = await world().client.list(ConfigMap, { namespace });
    const states = (objects: readonly ConfigMap[]) =>
      objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).toSorted();
    const served = states(items);
    const cached = () => states(rig.cache.informer(ConfigMap).list({ namespace }));
    await world()
      .eventually(() => cached().join() === served.join(), 'the cache is what the server has')
      .catch(() => {});
    assert.deepEqual(cached(), served);
  };

  it('runtime/I1, runtime/I2: the initial state comes by a watch, changes by the same stream', async () => {
    const { set, remove, only, namespace } = await place('a', 'b');
    await using rig = await CacheRig.start(world(), { cache: only });
    assert.deepEqual(rig.told.toSorted(), ['create a=1+', 'create b=1+']);
    rig.told.length = 0;
    await set('a', '2');
    await set('c', '1');
    await remove('b');
    await tells(rig, 'update a=2', 'create c=1', 'delete b=1');
    await holds(rig, namespace);
    assert.equal(rig.asked.length, 1);
    assert.equal(rig.asked[0]?.get('sendInitialEvents'), 'true');
  });

  it('runtime/I1: a server that refuses watch-lists is listed and watched, for good', async () => {
    const { set, only, namespace } = await place('a', 'b');
    // Without this parameter every server refuses the initial events with 422.
    const change = changeStreams((query) => {
      if (query.has('sendInitialEvents')) query.delete('resourceVersionMatch');
    });
    await using rig = await CacheRig.start(world(), { cache: only, change });
    assert.deepEqual(rig.told.toSorted(), ['create a=1+', 'create b=1+']);
    rig.told.length = 0;
    await set('a', '2');
    await tells(rig, 'update a=2');
    await holds(rig, namespace);
    const [refused, list, watch] = rig.asked;
    assert.deepEqual(
      [refused?.get('sendInitialEvents'), list?.get('watch'), list?.get('resourceVersion')],
      ['true', null, '0'],
    );
    assert.deepEqual(
      [watch?.get('sendInitialEvents'), watch?.get('watch')],
      [null, list === undefined ? '' : 'true'],
    );
  });

  it('runtime/I4: what changed while the connection was cut is told once it works again', async () => {
    const { set, remove, only, namespace } = await place('a', 'b');
    await using relay = await startRelay(world().server.url);
    await using rig = await CacheRig.start(world(), { cache: only, url: relay.url });
    rig.told.length = 0;
    relay.cut();
    await remove('a');
    await set('b', '2');
    await set('c', '1');
    await set('c', '2');
    relay.heal();
    await tells(rig, 'delete a=1', 'update b=2', 'create c=1', 'update c=2');
    await holds(rig, namespace);
    assert.equal(rig.health.relists, 0);
    assert.ok(rig.health.reconnects >= 1);
  });

  it('runtime/I5: sample 7: a version that the server has forgotten means a new list, with deletions that nobody saw', async () => {
    const { only, key, namespace } = await place();
    const { client, server } = world();
    await world().define(Gadget);
    for (const name of ['a', 'b']) await client.create(Gadget, { metadata: key(name), spec: {} });
    await using relay = await startRelay(server.url);
    let isForgotten = false;
    const change = changeStreams((query) => {
      if (query.has('sendInitialEvents')) isForgotten = false;
      if (isForgotten) query.set('resourceVersion', '1');
    });
    await using rig = await CacheRig.start(world(), { kind: Gadget, cache: only, url: relay.url, change });
    const before = rig.health.resourceVersion;
    rig.told.length = 0;
    relay.cut();
    isForgotten = true;
    await client.delete(Gadget, key('a'));
    await client.scale(Gadget, key('b'), 2);
    await server.forget();
    relay.heal();
    await world().eventually(() => rig.told.length === 2, 'both changes are told');
    assert.deepEqual(rig.told.toSorted(), ['delete a=1?', 'update b=2']);
    assert.deepEqual(
      rig.cache.informer(Gadget).list({ namespace }),
      (await client.list(Gadget, { namespace })).items.map(kept),
    );
    assert.equal(rig.health.relists, 1);
    assert.ok(Number(rig.health.resourceVersion) > Number(before));
  });

  it('runtime/I8: a stream that went silent is opened anew', async () => {
    const { set, only, namespace } = await place('a');
    await using relay = await startRelay(world().server.url);
    const clock = new FastClock(45);
    await using rig = await CacheRig.start(world(), { cache: only, url: relay.url, clock });
    rig.told.length = 0;
    relay.freeze();
    await set('a', '2');
    await set('b', '1');
    await tells(rig, 'update a=2', 'create b=1');
    await holds(rig, namespace);
  });

  it('runtime/I14: metadata alone, selected by labels, in several namespaces', async () => {
    const [here, there, elsewhere] = [await place('a'), await place('b'), await place('c')];
    for (const { namespace } of [here, there, elsewhere]) {
      const labels = { wanted: 'yes' };
      await world().client.apply(ConfigMap, {
        metadata: { namespace, name: 'labelled', labels },
        data: { v: '1' },
      });
    }
    const namespaces = [here.namespace, there.namespace];
    const settings = { namespaces, labels: 'wanted=yes', metadataOnly: true };
    await using rig = await CacheRig.start(world(), { cache: { byKind: { configmaps: settings } } });
    assert.deepEqual(rig.told, ['create labelled+', 'create labelled+']);
    rig.told.length = 0;
    await here.set('new', '1');
    await world().client.apply(ConfigMap, { metadata: { ...there.key('labelled') }, data: { v: '2' } });
    // Without the label it is not one of the objects any more.
    await tells(rig, 'delete labelled');
    const [one] = rig.cache.informer(ConfigMap).list();
    assert.deepEqual(Object.keys(one ?? {}).toSorted(), ['apiVersion', 'kind', 'metadata']);
    assert.equal(rig.cache.covers(ConfigMap), false);
  });

  it('runtime/I14: fields select objects', async () => {
    const { set, only } = await place('a', 'b');
    await using rig = await CacheRig.start(world(), {
      cache: { byKind: { configmaps: { ...only, fields: 'metadata.name=b' } } },
    });
    assert.deepEqual(rig.told, ['create b=1+']);
    await set('a', '2');
    await set('b', '2');
    await tells(rig, 'create b=1+', 'update b=2');
  });

  it('runtime/I20: sample 10: a cached read after a write sees it, and the event follows once', async () => {
    const { only, key } = await place('a');
    await using rig = await CacheRig.start(world(), { cache: only });
    const { client } = rig;
    rig.told.length = 0;
    for (const v of ['2', '3', '4']) {
      await client.patch(ConfigMap, key('a'), { type: 'merge', body: { data: { v } } });
      assert.equal((await client.get(ConfigMap, key('a'))).data?.['v'], v);
    }
    await client.create(ConfigMap, { metadata: key('b'), data: { v: '1' } });
    const { items } = await client.list(ConfigMap, { namespace: key('b').namespace });
    assert.ok(items.some(({ metadata }) => metadata.name === 'b'));
    await client.delete(ConfigMap, key('b'));
    assert.ok(isNotFound(await failureOf(client.get(ConfigMap, key('b')))));
    await tells(rig, 'update a=2', 'update a=3', 'update a=4', 'create b=1', 'delete b=1');
  });

  it('runtime/A2: sample 11: objects of the cache cannot be changed, copies can', async () => {
    const { only, key } = await place('a');
    await using rig = await CacheRig.start(world(), { cache: only });
    const cached = await rig.client.get(ConfigMap, key('a'));
    assert.throws(() => Object.assign(cached.data ?? {}, { v: '2' }), TypeError);
    assert.throws(() => Object.assign(cached.metadata, { labels: {} }), TypeError);
    const copy = mutable(cached);
    copy.data = { v: '2' };
    assert.equal((await rig.client.update(ConfigMap, copy as ConfigMap)).data?.['v'], '2');
  });

  it('runtime/A1: Secrets are read from the server, not from a cache that nobody asked for', async () => {
    const { only, key } = await place();
    await world().client.create(Secret, { metadata: key('s') });
    await using rig = await CacheRig.start(world(), { cache: only });
    const count = rig.asked.length;
    await rig.client.get(Secret, key('s'));
    await rig.client.get(Secret, key('s'));
    assert.equal(rig.asked.length, count + 2);
    assert.deepEqual(
      rig.cache.health.map(({ resource }) => resource),
      ['configmaps'],
    );
  });

  it('reliability/P21: a comparison with the server finds nothing amiss', async () => {
    const { only, set } = await place('a', 'b', 'c');
    await using rig = await CacheRig.start(world(), { cache: { ...only, verification: { everyMs: 100 } } });
    for (let v = 2; v < 20; v++) await set('a', String(v));
    await world().clock.sleep(500);
    assert.equal(rig.health.divergences, 0);
  });
};
