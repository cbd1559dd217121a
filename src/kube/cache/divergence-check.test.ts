import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  added,
  boat,
  CacheWorld,
  failure,
  initialEnd,
  listOf,
  modified,
  settle,
} from '../../../test/support/cache-world.ts';

const verification = { everyMs: 300_000 };

describe('comparison with the server', () => {
  it('reliability/P21: compares metadata at the very version every five minutes and finds nothing wrong', async () => {
    await using world = new CacheWorld({ verification });
    await world.synced(10, boat('a', { version: 5 }), boat('b', { version: 6 }));
    world.server.onList = ({ continue: token }) =>
      token === undefined
        ? listOf(10, [boat('a', { version: 5 })], 'next')
        : listOf(10, [boat('b', { version: 6 })]);
    await world.clock.advance(331_000);
    const [first, second] = world.server.lists;
    assert.deepEqual(
      [first?.resourceVersion, first?.resourceVersionMatch, first?.metadataOnly, first?.limit],
      ['10', 'Exact', true, 500],
    );
    assert.deepEqual([second?.continue, second?.metadataOnly, second?.resourceVersion], ['next', true, undefined]);
    assert.equal(world.boats.health.divergences, 0);
    assert.equal(world.server.streams.length, 1);
  });

  it('reliability/P21: says nothing of what is newer than the version that it compares', async () => {
    await using world = new CacheWorld({ verification });
    await world.synced(10, boat('a', { version: 11 }), boat('b', { version: 12 }));
    world.server.onList = () => listOf(10, [boat('a', { version: 5 })]);
    await world.clock.advance(331_000);
    assert.deepEqual([world.server.lists.length, world.boats.health.divergences], [1, 0]);
  });

  it('reliability/P21: does not compare what is listed again anyway', async () => {
    await using world = new CacheWorld({ verification });
    await world.synced(10, boat('a', { version: 5 }));
    world.server.onList = () => listOf(12, []);
    world.server.onWatch = () => {
      throw failure(503, 'ServiceUnavailable');
    };
    world.server.stream.send(modified(boat('a', { version: 12 })), added(boat('b', { version: 11 })));
    await settle();
    await world.clock.advance(331_000);
    assert.deepEqual([world.server.lists, world.boats.health.divergences], [[], 0]);
  });

  const LOST = [
    ['a lost creation', [boat('a', { version: 5 }), boat('b', { version: 6 }), boat('c', { version: 7 })]],
    ['a lost update', [boat('a', { version: 7 }), boat('b', { version: 6 })]],
    ['a lost deletion', [boat('a', { version: 5 })]],
    ['another object of the same name', [boat('a', { version: 5 }), boat('b', { version: 6, uid: 'other' })]],
  ] as const;
  for (const [what, truth] of LOST) {
    it(`reliability/P21: finds ${what}, counts it, complains and lists again`, async () => {
      await using world = new CacheWorld({ verification });
      await world.synced(10, boat('a', { version: 5 }), boat('b', { version: 6 }));
      world.server.onList = () => listOf(10, truth);
      while (world.server.streams.length === 1) await world.clock.advance(1_000);
      assert.ok(world.clock.monotonicMs() >= 270_000);
      assert.equal(world.boats.health.divergences, 1);
      assert.equal(world.complaints.filter(({ level }) => level === 'error').length, 1);
      assert.deepEqual(
        [world.server.stream.options.sendInitialEvents, world.server.stream.options.resourceVersion],
        [true, ''],
      );
      world.server.stream.send(...truth.map(added), initialEnd(11));
      await settle();
      assert.deepEqual(
        world.names.toSorted(),
        truth.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`),
      );
      assert.match(await world.metrics.text(), /slipway_cache_divergence_total\{resource="boats.example.com"\} 1/);
    });
  }

  it('reliability/P21: changes during the comparison and own writes are no difference', async () => {
    await using world = new CacheWorld({ verification });
    await world.synced(10, boat('a', { version: 5 }));
    world.cache.wrote(world.boats.kind, boat('b', { version: 20 }));
    world.server.onGet = () => boat('b', { version: 20 });
    world.server.onList = () => {
      world.server.stream.send(modified(boat('a', { version: 11 })));
      return listOf(10, [boat('a', { version: 5 })]);
    };
    await world.clock.advance(331_000);
    assert.equal(world.boats.health.divergences, 0);
  });

  it('reliability/P21: a comparison that the server cannot answer says nothing', async () => {
    await using world = new CacheWorld({ verification });
    await world.synced(10, boat('a', { version: 5 }));
    world.server.onList = ({ continue: token }) => {
      if (token !== undefined) throw failure(410, 'Expired');
      return listOf(10, [], 'next');
    };
    await world.clock.advance(331_000);
    assert.equal(world.boats.health.divergences, 0);
    assert.deepEqual(world.complaints, []);
    assert.deepEqual(world.names, ['a@5']);
  });

  it('reliability/P21: compares after every list when told so', async () => {
    await using world = new CacheWorld({ verification: { everyMs: 0, isAfterLists: true } });
    world.server.onList = () => listOf(10, [boat('a', { version: 5 })]);
    await world.synced(10, boat('a', { version: 5 }));
    assert.equal(world.server.lists.length, 1);
    assert.equal(world.boats.health.divergences, 0);
  });
});
