import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeSink, WatchWorld } from '../../../test/support/watch-world.ts';
import type { JsonObject } from '../../object/json.ts';
import { customResources } from '../crd/custom-resource.ts';
import { apiVersionOf } from '../registry/resource.ts';
import type { Converter } from '../rest/codec.ts';
import { StatusError } from '../status.ts';

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const PARTIAL = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

const CRD: JsonObject = {
  metadata: { name: 'things.test.io' },
  spec: {
    group: 'test.io',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
};
const THING = { apiVersion: 'test.io/v1', kind: 'Thing' };
const V1 = '/apis/test.io/v1/namespaces/a/things';
const V2 = '/apis/test.io/v2/namespaces/a/things';

const serveThings = ({ services: { registry } }: WatchWorld): void =>
  registry.setCustom('things.test.io', customResources(CRD));
const putThing = (world: WatchWorld, name: string, more: JsonObject = {}) =>
  world.put(name, { ...THING, ...more }, `test.io/things/${name}`);

/** A webhook that answers when it is told to, in whatever order. */
class SlowConverter implements Converter {
  readonly asked: { readonly name: unknown; readonly answer: () => void; readonly refuse: () => void }[] = [];

  convert(objects: readonly JsonObject[], to: Parameters<Converter['convert']>[1]) {
    const { promise, resolve, reject } = Promise.withResolvers<readonly JsonObject[]>();
    const converted = objects.map((object) => ({ ...object, apiVersion: apiVersionOf(to) }));
    const [{ metadata } = {}] = objects;
    this.asked.push({
      name: (metadata as JsonObject | undefined)?.['name'],
      answer: () => resolve(converted),
      refuse: () => reject(new Error('the webhook is gone')),
    });
    return promise;
  }
}

describe('forms of a watch', () => {
  it('apiserver/T14: a Table has its columns in the first line only', async () => {
    await using world = new WatchWorld();
    await world.put('a/x', { data: { k: 'v' } });
    using early = await world.watch({ accept: TABLE, query: 'resourceVersion=2' });
    using late = await world.watch({ accept: TABLE });
    await world.put('a/x');
    await world.put('a/y');
    for (const [{ sink }, count] of [
      [early, 2],
      [late, 3],
    ] as const) {
      const columns = sink.lines.map(({ object }) => object.columnDefinitions?.map(({ name }: Named) => name));
      assert.deepEqual(columns, [['Name', 'Data', 'Age'], ...Array.from({ length: count - 1 }, () => undefined)]);
    }
    const [first] = late.sink.lines;
    assert.equal(first?.object.kind, 'Table');
    assert.equal(first?.object.metadata.resourceVersion, '2');
    assert.deepEqual(first?.object.rows[0].cells.slice(0, 2), ['x', 1]);
    assert.equal(first?.object.rows[0].object.kind, 'PartialObjectMetadata');
  });
  interface Named {
    readonly name: string;
  }

  it('apiserver/T14: selects by the whole object, shows its metadata', async () => {
    await using world = new WatchWorld();
    using watch = await world.watch({ accept: PARTIAL, query: 'labelSelector=app' });
    await world.put('a/x', { metadata: { labels: { app: 'x' } }, data: { k: 'v' } });
    await world.put('a/x', { data: { k: 'v' } });
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2', 'DELETED a/x@3']);
    for (const { object } of watch.sink.lines) {
      assert.deepEqual(
        [object.kind, object.apiVersion, object.data, object.metadata.labels],
        ['PartialObjectMetadata', 'meta.k8s.io/v1', undefined, { app: 'x' }],
      );
    }
  });

  it('apiserver/T14: an unknown includeObject is refused before the stream begins', async () => {
    await using world = new WatchWorld();
    await assert.rejects(
      world.watch({ accept: TABLE, query: 'includeObject=Everything' }),
      (error) => error instanceof StatusError && error.code === 400,
    );
  });

  it('apiserver/T14: bookmarks have the form of the watch', async () => {
    await using world = new WatchWorld();
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    using table = await world.watch({ accept: TABLE, query });
    using partial = await world.watch({ accept: PARTIAL, query });
    assert.equal(table.sink.lines[0]?.object.kind, 'Table');
    assert.equal(table.sink.lines[0]?.object.metadata.resourceVersion, '1');
    assert.equal(partial.sink.lines[0]?.object.kind, 'PartialObjectMetadata');
    assert.equal(partial.sink.told[0], 'BOOKMARK@1');
  });
});

describe('a watch in another version', () => {
  it('apiserver/T12: converts each object', async () => {
    await using world = new WatchWorld();
    serveThings(world);
    await putThing(world, 'a/x', { metadata: { labels: { app: 'x' } } });
    using watch = await world.watch({ path: V2, query: 'labelSelector=app' });
    await putThing(world, 'a/x');
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2', 'DELETED a/x@3']);
    for (const { object } of watch.sink.lines) assert.equal(object.apiVersion, 'test.io/v2');
  });

  it('apiserver/T10: keeps the order whenever a webhook answers', async () => {
    const converter = new SlowConverter();
    await using world = new WatchWorld(converter);
    serveThings(world);
    using watch = await world.watch({ path: V2, query: 'resourceVersion=1&allowWatchBookmarks=true' });
    using native = await world.watch({ path: V1, query: 'resourceVersion=1' });
    for (const name of ['a/x', 'a/y', 'a/z']) await putThing(world, name);
    assert.deepEqual(native.sink.told, ['ADDED a/x@2', 'ADDED a/y@3', 'ADDED a/z@4'], 'others do not wait');
    await world.clock.advance(60_000);
    assert.deepEqual(watch.sink.told, [], 'no bookmark overtakes');
    converter.asked[0]?.answer();
    await world.settled();
    for (const { answer } of converter.asked.toReversed()) answer();
    await world.settled();
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2', 'ADDED a/y@3', 'ADDED a/z@4']);
    assert.deepEqual(
      converter.asked.map(({ name }) => name),
      ['x', 'y', 'z'],
    );
  });

  it('apiserver/T14: the columns are in the first line even if it is the last to be converted', async () => {
    const converter = new SlowConverter();
    await using world = new WatchWorld(converter);
    serveThings(world);
    for (const name of ['a/x', 'a/y']) await putThing(world, name);
    using watch = await world.watch({ path: V2, accept: TABLE });
    for (const { answer } of converter.asked.toReversed()) {
      answer();
      await world.settled();
    }
    assert.deepEqual(
      watch.sink.lines.map(({ object }) => [object.rows[0].cells[0], object.columnDefinitions !== null]),
      [
        ['x', true],
        ['y', false],
      ],
    );
  });

  it('says why it ends when an object cannot be converted', async () => {
    const converter = new SlowConverter();
    await using world = new WatchWorld(converter);
    serveThings(world);
    using watch = await world.watch({ path: V2, query: 'resourceVersion=1' });
    await putThing(world, 'a/x');
    converter.asked[0]?.refuse();
    await world.settled();
    assert.deepEqual(watch.sink.told, ['ERROR 500']);
    assert.match(watch.sink.lines[0]?.object.message, /the webhook is gone/);
    assert.ok(watch.sink.hasEnded);
    assert.equal(world.counted.terminated, 0);
  });
});

describe('a definition that changes', () => {
  const endObsolete = ({ watches, services: { registry } }: WatchWorld): void =>
    watches.endObsolete(({ group, version, plural, prefix }) => {
      const served = registry.find(group, version, plural);
      return served !== undefined && served.prefix === prefix && !served.isCustom;
    });

  it('apiserver/T13: ends its watches after the last events, and no others', async () => {
    await using world = new WatchWorld();
    serveThings(world);
    using watch = await world.watch({ path: V1 });
    using other = await world.watch();
    await putThing(world, 'a/x');
    await world.remove('a/x', 'test.io/things/a/x');
    endObsolete(world);
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2', 'DELETED a/x@3']);
    assert.ok(watch.sink.hasEnded && !watch.sink.isBroken);
    assert.ok(!other.sink.hasEnded);
  });

  it('apiserver/T13: a watch that was behind still gets its last events', async () => {
    await using world = new WatchWorld();
    serveThings(world);
    const sink = new FakeSink();
    sink.isReading = false;
    using watch = await world.watch({ path: V1, sink });
    for (let write = 0; write < 20; write++) {
      await putThing(world, 'a/x', { spec: { big: 'x'.repeat(100_000) } });
    }
    await world.remove('a/x', 'test.io/things/a/x');
    endObsolete(world);
    assert.ok(!watch.sink.hasEnded);
    for (let reads = 0; reads < 10; reads++) {
      sink.take();
      await world.settled();
    }
    assert.equal(sink.told.at(-1), 'DELETED a/x@22');
    assert.ok(sink.hasEnded && !sink.isBroken);
  });

  it('apiserver/T13: a watch that begins just after its definition went ends at once', async () => {
    await using world = new WatchWorld();
    serveThings(world);
    const { body } = await world.watches.answer(world.scope(`${V1}?watch=1`));
    world.services.registry.setCustom('things.test.io', []);
    const sink = new FakeSink();
    assert.ok(typeof body === 'function');
    using _running = body(sink);
    assert.ok(sink.hasEnded);
  });
});
