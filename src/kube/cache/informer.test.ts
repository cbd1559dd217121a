import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  added,
  BOAT,
  boat,
  bookmark,
  CacheWorld,
  eventText,
  failure,
  initialEnd,
  modified,
  settle,
} from '../../../test/support/cache-world.ts';
import type { InformerHealth } from './cache.ts';

describe('subscriptions', () => {
  it('tells a late subscriber every object as a creation, then what follows', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }), boat('b', { version: 6 }));
    const late: string[] = [];
    const subscription = world.boats.subscribe((event) => void late.push(eventText(event)));
    assert.deepEqual(late, [], 'not before subscribe has returned');
    world.server.stream.send(modified(boat('a', { version: 11 })));
    await subscription.synced;
    await settle();
    assert.deepEqual(late, ['create a@5+', 'create b@6+', 'update a@5>a@11']);
    assert.deepEqual(world.taken(), ['update a@5>a@11']);
  });

  it('is synced when the handler knows the initial list, not before', async () => {
    await using world = new CacheWorld();
    let known = -1;
    const subscription = world.subscribe();
    const synced = subscription.synced.then(() => {
      known = world.told.length;
    });
    await settle();
    world.server.stream.send(
      ...Array.from({ length: 3_000 }, (_, at) => added(boat(`b${at}`, { version: at + 1 }))),
    );
    await settle();
    assert.equal(known, -1);
    world.server.stream.send(initialEnd(4_000));
    await synced;
    assert.equal(known, 3_000);
    assert.equal(world.boats.isSynced, true);
  });

  it('tells nothing after the subscription is disposed, and goes on telling the others', async () => {
    await using world = new CacheWorld();
    const subscription = await world.synced(10);
    const others: string[] = [];
    world.boats.subscribe((event) => void others.push(eventText(event)));
    subscription[Symbol.dispose]();
    subscription[Symbol.dispose]();
    world.server.stream.send(added(boat('a', { version: 11 })));
    await settle();
    assert.deepEqual(world.told, []);
    assert.deepEqual(others, ['create a@11']);
  });

  it('a handler that throws is logged and hinders nobody', async () => {
    await using world = new CacheWorld();
    world.boats.subscribe(() => {
      throw new Error('bad handler');
    });
    await world.synced(10, boat('a', { version: 5 }));
    world.server.stream.send(added(boat('b', { version: 11 })));
    await settle();
    assert.deepEqual(world.taken(), ['create b@11']);
    assert.equal(
      world.complaints.filter(({ message }) => message === 'event handler failed: bad handler').length,
      2,
    );
  });

  it('runtime/I17: stops half a minute after the last one left, and starts anew for the next', async () => {
    await using world = new CacheWorld();
    const first = await world.synced(10, boat('a', { version: 5 }));
    const second = world.subscribe();
    await settle();
    first[Symbol.dispose]();
    await world.clock.advance(40_000);
    assert.equal(world.server.stream.isClosed, false);
    second[Symbol.dispose]();
    await world.clock.advance(29_000);
    assert.equal(world.server.stream.isClosed, false);
    const third = world.subscribe();
    await world.clock.advance(40_000);
    assert.equal(world.server.stream.isClosed, false, 'somebody came back in time');
    third[Symbol.dispose]();
    await world.clock.advance(30_000);
    await settle();
    assert.equal(world.server.stream.isClosed, true);
    assert.equal(world.boats.isSynced, false);
    assert.deepEqual(world.cache.health, []);
    world.taken();
    world.subscribe();
    await settle();
    assert.equal(world.server.streams.length, 2);
    world.server.stream.send(added(boat('b', { version: 20 })), initialEnd(21));
    await settle();
    assert.deepEqual(world.taken(), ['create b@20+'], 'nothing of the life before');
  });

  it('runtime/I16: tells every object again as an update without a change', async () => {
    await using world = new CacheWorld({ resyncMs: 60_000 });
    await world.synced(10, boat('a', { version: 5 }), boat('b', { version: 6 }));
    await world.clock.advance(53_000);
    assert.deepEqual(world.taken(), []);
    await world.clock.advance(13_000);
    await settle();
    assert.deepEqual(world.taken(), ['update a@5>a@5', 'update b@6>b@6']);
    await using quiet = new CacheWorld();
    await quiet.synced(10, boat('a', { version: 5 }));
    await quiet.clock.advance(100_000);
    assert.deepEqual(quiet.taken(), [], 'off unless told otherwise');
  });
});

describe('reads', () => {
  it('runtime/A1: a read starts the informer and keeps it', async () => {
    await using world = new CacheWorld();
    assert.throws(
      () => world.boats.get({ namespace: 'sea', name: 'a' }),
      /have not been read yet: the first list/,
    );
    await settle();
    world.server.stream.send(added(boat('a', { version: 5 })), initialEnd(10));
    await settle();
    assert.equal(world.boats.get({ namespace: 'sea', name: 'a' })?.metadata.name, 'a');
    await world.clock.advance(100_000);
    assert.equal(world.server.stream.isClosed, false);
  });

  it('reliability/P32: nothing is missing before it has been read: reads say why', async () => {
    await using world = new CacheWorld();
    world.server.onWatch = () => {
      throw failure(403, 'Forbidden', { message: 'boats is forbidden' });
    };
    world.subscribe();
    await settle();
    assert.throws(() => world.boats.list(), { reason: 'CacheNotSynced', message: /boats is forbidden/ });
  });

  it('runtime/I14: merges several namespaces, each with its own watch, and refuses reads of others', async () => {
    await using world = new CacheWorld({ namespaces: ['sea', 'lake'] });
    world.subscribe();
    await settle();
    const [sea, lake] = world.server.streams;
    assert.deepEqual([sea?.options.namespace, lake?.options.namespace], ['sea', 'lake']);
    sea?.send(added(boat('a', { version: 5 })), initialEnd(10));
    await settle();
    assert.equal(world.boats.isSynced, false);
    assert.equal(world.boats.list({ namespace: 'sea' }).length, 1);
    assert.throws(() => world.boats.list(), /have not been read yet/);
    lake?.send(added(boat('c', { version: 7, namespace: 'lake' })), initialEnd(12));
    await settle();
    assert.equal(world.boats.isSynced, true);
    assert.equal(world.boats.resourceVersion, '10');
    assert.deepEqual(world.names, ['a@5', 'c@7']);
    assert.throws(() => world.boats.get({ namespace: 'pond', name: 'x' }), { reason: 'NotCached' });
    sea?.fail(failure(410, 'Expired'));
    await settle();
    world.server.stream.send(initialEnd(20));
    await settle();
    assert.deepEqual(world.names, ['c@7'], 'a list of one namespace leaves the other alone');
  });

  it('runtime/I14: passes selectors and the wish for metadata on', async () => {
    await using world = new CacheWorld({
      byKind: { 'boats.example.com': { labels: 'app=web', fields: 'spec.port=x', metadataOnly: true } },
    });
    world.subscribe();
    await settle();
    const { labels, fields, metadataOnly } = world.server.stream.options;
    assert.deepEqual(
      { labels, fields, metadataOnly },
      { labels: 'app=web', fields: 'spec.port=x', metadataOnly: true },
    );
    assert.equal(world.cache.covers(BOAT), false, 'metadata is not the object that was asked for');
  });

  it('runtime/A1: covers every kind but Secrets and ConfigMaps, unless told or subscribed', async () => {
    const core = (plural: string) => ({ ...BOAT, group: '', plural });
    await using world = new CacheWorld({ byKind: { configmaps: {} } });
    assert.deepEqual(
      ['pods', 'secrets', 'configmaps'].map((plural) => world.cache.covers(core(plural))),
      [true, false, true],
    );
    world.cache.informer(core('secrets')).subscribe(() => {});
    assert.equal(world.cache.covers(core('secrets')), true);
    await using strict = new CacheWorld({ notCached: 'throw' });
    assert.equal(strict.cache.covers(BOAT), false);
    strict.subscribe();
    assert.equal(strict.cache.covers(BOAT), true);
  });
});

describe('health of the cache', () => {
  it('runtime/I15: names the kinds that are not synced and why', async () => {
    await using world = new CacheWorld();
    world.server.onWatch = () => {
      throw failure(403, 'Forbidden', { message: 'boats is forbidden' });
    };
    world.subscribe();
    const waiting = assert.rejects(world.cache.waitForSync(), {
      message: 'not synced within 120 s: boats.example.com (boats is forbidden)',
    });
    await settle();
    await world.clock.advance(120_000);
    await waiting;
  });

  it('runtime/I15: resolves when everything wanted is synced, rejects when the signal aborts', async () => {
    await using world = new CacheWorld();
    await world.cache.waitForSync();
    world.subscribe();
    const stop = new AbortController();
    const stopped = assert.rejects(world.cache.waitForSync({ signal: stop.signal }), /enough/);
    stop.abort(new Error('enough'));
    await stopped;
    const waiting = world.cache.waitForSync({ timeoutMs: 1_000 });
    await settle();
    world.server.stream.send(initialEnd(1));
    await waiting;
    assert.equal(world.clock.nextDueMs, undefined, 'no timer is left');
  });

  it('runtime/I18: tells when the last event and bookmark came, how often it reconnected and listed', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    await world.clock.advance(7_000);
    world.server.stream.send(bookmark(12));
    await settle();
    await world.clock.advance(1_000);
    world.server.stream.send(modified(boat('a', { version: 13 })));
    await settle();
    world.server.stream.fail(failure(410, 'Expired', { message: 'too old' }));
    await settle();
    const before: readonly InformerHealth[] = world.cache.health;
    assert.deepEqual(before, [
      {
        resource: 'boats.example.com',
        isSynced: true,
        objects: 1,
        resourceVersion: '13',
        lastEventAt: new Date(8_000),
        lastBookmarkAt: new Date(7_000),
        reconnects: 1,
        relists: 0,
        divergences: 0,
        problem: 'too old',
        problemReason: 'Expired',
      },
    ]);
    world.server.stream.send(initialEnd(20));
    await settle();
    const [health] = world.cache.health;
    assert.equal(health?.relists, 1);
    assert.equal(health?.problem, undefined);
    assert.deepEqual(health?.emptiedAt, new Date(8_000), 'reliability/P32: the list took everything away');
    const text = await world.metrics.text();
    assert.match(text, /slipway_cache_objects\{resource="boats.example.com"\} 0/);
    assert.match(text, /slipway_cache_relists_total\{resource="boats.example.com"\} 1/);
    assert.match(text, /slipway_cache_reconnects_total\{resource="boats.example.com"\} 1/);
    assert.match(text, /slipway_cache_divergence_total\{resource="boats.example.com"\} 0/);
    world.server.stream.send(added(boat('b', { version: 21 })));
    await settle();
    assert.equal(world.cache.health[0]?.emptiedAt, undefined);
  });

  it('a quiet stream that has been open for some seconds is no problem any more', async () => {
    await using world = new CacheWorld();
    await world.synced(10);
    world.server.stream.fail(failure(503, 'Busy'));
    await settle();
    await world.clock.advance(1_600);
    assert.equal(world.boats.health.problem, '503 Busy');
    await world.clock.advance(6_000);
    assert.equal(world.boats.health.problem, undefined);
  });

  it('runs once, and before it runs reads say so', async () => {
    await using world = new CacheWorld();
    await assert.rejects(world.cache.run(new AbortController().signal), /runs already/);
  });
});
