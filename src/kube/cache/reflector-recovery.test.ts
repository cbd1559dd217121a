import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  added,
  boat,
  bookmark,
  CacheWorld,
  failure,
  initialEnd,
  listOf,
  modified,
  removed,
  settle,
} from '../../../test/support/cache-world.ts';
import type { KubeObject } from '../../api/object.ts';
import { retryError } from '../../base/errors.ts';
import { NetworkError } from '../client/api-error.ts';
import type { WatchEvent } from '../client/kube-client.ts';

const cut = () => new NetworkError('connection reset', { mayHaveHappened: false });
const tooLarge = () => failure(504, 'Timeout', { message: 'Timeout: Too large resource version: 99, current: 7' });

/** When, in virtual milliseconds, the cache asked for a watch, while every attempt fails for `forMs`. */
async function attemptsWhile(world: CacheWorld, error: () => Error, forMs: number): Promise<number[]> {
  const times: number[] = [];
  world.server.onWatch = () => {
    times.push(world.clock.monotonicMs());
    throw error();
  };
  if (world.server.streams.length === 0) world.subscribe();
  else world.server.stream.fail(error());
  await settle();
  for (let elapsed = 0; elapsed < forMs; elapsed += 100) await world.clock.advance(100);
  world.server.onWatch = () => {};
  return times;
}

describe('a reflector after a failure', () => {
  it('runtime/I4: retries at once, then after 0.8 s doubled up to 30 s, jittered', async () => {
    await using world = new CacheWorld();
    await world.synced(10);
    await world.clock.advance(200_000);
    const [first = 0, ...later] = await attemptsWhile(world, cut, 200_000);
    assert.equal(first, 200_000);
    const gaps = later.map((time, at) => time - ([first, ...later][at] ?? 0));
    const bounds = [800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000];
    for (const [at, least] of bounds.entries()) {
      const gap = gaps[at] ?? 0;
      // Time is looked at every 100 ms.
      assert.ok(gap >= least && gap <= Math.min(30_000, least * 2) + 100, `gap ${at} is ${gap}`);
    }
    assert.ok(gaps.every((gap) => gap <= 30_100));
    assert.equal(world.complaints.length, 1, 'one line however long it lasts');
  });

  it('runtime/I4: starts over after two minutes of health, not before', async () => {
    await using world = new CacheWorld();
    await world.synced(10);
    world.server.stream.fail(cut());
    await settle();
    world.server.stream.send(bookmark(11));
    await settle();
    await world.clock.advance(119_000);
    world.server.stream.fail(cut());
    await settle();
    assert.equal(world.server.streams.length, 2, 'waits');
    await world.clock.advance(4_000);
    assert.equal(world.server.streams.length, 3);
    world.server.stream.send(bookmark(12));
    await settle();
    await world.clock.advance(120_000);
    world.server.stream.fail(cut());
    await settle();
    assert.equal(world.server.streams.length, 4, 'at once');
  });

  it('runtime/I4: a server that ends every stream at once is not asked in a loop', async () => {
    await using world = new CacheWorld();
    await world.synced(10);
    for (let second = 0; second < 30; second++) {
      if (!world.server.stream.isClosed) world.server.stream.end();
      await settle(2);
      await world.clock.advance(1_000);
    }
    assert.ok(world.server.streams.length <= 7, `${world.server.streams.length} streams`);
  });

  it('runtime/I5, sample case 7: lists again from the last version after a 410, and reports deletions unseen', async () => {
    for (const reason of ['Expired', 'Gone']) {
      await using world = new CacheWorld();
      await world.synced(10, boat('a', { version: 5 }), boat('b', { version: 6 }), boat('c', { version: 7 }));
      world.server.stream.fail(failure(410, reason));
      await settle();
      const { resourceVersion, sendInitialEvents } = world.server.stream.options;
      assert.deepEqual({ resourceVersion, sendInitialEvents }, { resourceVersion: '10', sendInitialEvents: true });
      world.server.stream.send(added(boat('a', { version: 5 })), added(boat('c', { version: 20 })));
      world.server.stream.send(added(boat('d', { version: 21 })));
      await settle();
      assert.deepEqual(world.names, ['a@5', 'b@6', 'c@7'], 'the old state until the new one is whole');
      world.server.stream.send(initialEnd(22));
      await settle();
      assert.deepEqual(world.told, ['delete b@6?', 'update c@7>c@20', 'create d@21']);
      assert.equal(world.boats.resourceVersion, '22');
      assert.equal(world.boats.health.relists, 1);
    }
  });

  it('runtime/I5: asks for the newest state when the last version is expired or too large for a list, too', async () => {
    for (const error of [failure(410, 'Expired'), tooLarge()]) {
      await using world = new CacheWorld();
      await world.synced(10, boat('a', { version: 5 }));
      world.server.onWatch = ({ resourceVersion }) => {
        if (resourceVersion !== '') throw error;
      };
      world.server.stream.fail(failure(410, 'Expired'));
      await settle();
      await world.clock.advance(3_000);
      assert.equal(world.server.stream.options.resourceVersion, '');
      assert.equal(world.server.watches, 3);
    }
  });

  it('reliability/P23: a server with another history is listed again, and own writes of the old one are forgotten', async () => {
    await using world = new CacheWorld();
    await world.synced(90, boat('a', { version: 50 }), boat('b', { version: 60 }));
    world.cache.wrote({ ...world.boats.kind }, boat('b', { version: 95 }));
    world.server.stream.fail(tooLarge());
    await settle();
    assert.equal(world.server.streams.length, 1, 'after a second');
    await world.clock.advance(1_000);
    assert.equal(world.server.stream.options.resourceVersion, '');
    // The same version, another state.
    world.server.stream.send(
      added(boat('a', { version: 50, labels: { new: 'yes' } })),
      added(boat('b', { version: 6 })),
    );
    world.server.stream.send(initialEnd(7));
    await settle();
    assert.deepEqual(world.told, ['update a@50>a@50', 'update b@60>b@95', 'update b@95>b@6']);
    assert.deepEqual(world.names, ['a@50', 'b@6']);
    assert.equal(world.boats.get({ namespace: 'sea', name: 'a' })?.metadata.labels?.['new'], 'yes');
    assert.equal(world.boats.resourceVersion, '7');
  });

  it('runtime/I6: waits as long as a busy server says, up to a minute, and does not list again', async () => {
    for (const [code, retryAfterMs, waitsMs] of [
      [429, 20_000, 20_000],
      [503, 86_400_000, 60_000],
    ] as const) {
      await using world = new CacheWorld();
      await world.synced(10);
      world.server.stream.fail(failure(code, 'Busy', { retryAfterMs }));
      await settle();
      await world.clock.advance(waitsMs - 1);
      assert.equal(world.server.streams.length, 1);
      await world.clock.advance(1);
      assert.equal(world.server.streams.length, 2);
      assert.equal(world.server.stream.options.resourceVersion, '10');
      assert.equal(world.server.stream.options.sendInitialEvents, undefined);
    }
  });

  it('runtime/I6: reads the credentials again after a 401', async () => {
    let refreshed = 0;
    await using world = new CacheWorld({ refreshCredentials: () => refreshed++ });
    await world.synced(10);
    world.server.stream.fail(failure(401, 'Unauthorized'));
    await settle();
    assert.equal(refreshed, 1);
    await world.clock.advance(1_600);
    assert.equal(world.server.stream.options.resourceVersion, '10');
  });

  it('runtime/I6: reports a 403 and tries again, a minute apart in the end', async () => {
    await using world = new CacheWorld();
    const times = await attemptsWhile(
      world,
      () => failure(403, 'Forbidden', { message: 'boats is forbidden' }),
      400_000,
    );
    const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    assert.ok(gaps.every((gap) => gap >= 800 && gap <= 60_100));
    assert.ok((gaps.at(-1) ?? 0) >= 30_000);
    assert.equal(world.boats.health.isSynced, false);
    assert.equal(world.boats.health.problem, 'boats is forbidden');
    assert.equal(world.boats.health.problemReason, 'Forbidden');
    assert.equal(world.complaints.length, 1);
  });

  it('runtime/I6, sample case 19: finds a kind within 10 s after it is defined', async () => {
    await using world = new CacheWorld();
    const times = await attemptsWhile(world, () => failure(404, 'NotFound', { message: 'no boats' }), 60_000);
    assert.ok(times.length >= 6 && times.length <= 9, `${times.length} attempts`);
    assert.equal(world.boats.isSynced, false);
    assert.equal(world.boats.health.problem, 'no boats');
    assert.equal(world.boats.health.problemReason, 'NotServed');
    await world.clock.advance(10_000);
    world.server.stream.send(initialEnd(1));
    await settle();
    assert.equal(world.boats.isSynced, true);
    assert.equal(world.boats.health.problem, undefined);
  });

  it('goes on at the last version after one 500, lists again after an error in the middle or three of them', async () => {
    await using world = new CacheWorld();
    await world.synced(10);
    world.server.stream.fail(cut());
    await settle();
    world.server.stream.fail(failure(500, 'InternalError'));
    await settle();
    await world.clock.advance(2_000);
    assert.equal(world.server.stream.options.sendInitialEvents, undefined);
    world.server.stream.send(bookmark(11));
    world.server.stream.fail(failure(500, 'InternalError'));
    await settle();
    await world.clock.advance(4_000);
    assert.equal(world.server.stream.options.sendInitialEvents, true);
  });
});

const noName: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Boat',
  metadata: { name: '', resourceVersion: '12' },
};
const BAD: readonly (readonly [string, WatchEvent | Error])[] = [
  ['a line that is no event', retryError('BadWatchEvent', 'a line of a watch cannot be used')],
  ['an error nobody foresaw', new TypeError('x is not a function')],
  ['an object of another kind', modified({ ...boat('a', { version: 12 }), kind: 'Train' })],
  ['an object without version', modified(boat('a', { version: '' }))],
  ['an object without name', modified(noName)],
  ['a version from the past for an object that is not known', added(boat('z', { version: 9 }))],
  ['a deletion from the past', removed(boat('a', { version: 9 }))],
  ['a bookmark from the past', bookmark(9)],
  ['a bookmark without version', bookmark('')],
];

describe('data that makes no sense', () => {
  for (const [what, bad] of BAD) {
    it(`reliability/P23: ${what} leads to one list and one warning, not to a loop`, async () => {
      await using world = new CacheWorld();
      await world.synced(10, boat('a', { version: 5 }));
      if (bad instanceof Error) world.server.stream.fail(bad);
      else world.server.stream.send(modified(boat('a', { version: 11 })), bad);
      await settle();
      assert.equal(world.server.streams.length, 1, 'not at once');
      assert.ok(world.server.stream.isClosed);
      await world.clock.advance(1_600);
      assert.equal(world.server.stream.options.sendInitialEvents, true);
      world.server.stream.send(added(boat('a', { version: 12 })), initialEnd(13));
      await settle();
      assert.deepEqual(world.names, ['a@12']);
      assert.equal(world.complaints.filter(({ level }) => level === 'warn').length, 1);
      assert.equal(world.told.filter((text) => text.startsWith('delete')).length, 0);
    });
  }

  it('reliability/P23: an event that came before does nothing, be it a change or a deletion', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }), boat('b', { version: 6 }));
    world.server.stream.send(removed(boat('b', { version: 11 })), modified(boat('a', { version: 12 })));
    world.server.stream.send(removed(boat('b', { version: 11 })), modified(boat('a', { version: 5 })));
    world.server.stream.send(bookmark(12), bookmark(12));
    await settle();
    assert.deepEqual(world.told, ['delete b@11', 'update a@5>a@12']);
    assert.equal(world.server.streams.length, 1);
    assert.deepEqual(world.complaints, []);
  });

  it('reliability/P23: a bookmark from the future is found out by the next event', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.server.stream.send(bookmark(9999), modified(boat('a', { version: 11 })));
    await settle();
    await world.clock.advance(1_600);
    assert.equal(world.server.stream.options.resourceVersion, '');
    assert.equal(world.server.stream.options.sendInitialEvents, true);
  });

  it('reliability/P32: keeps what it has when a list cannot be used', async () => {
    const answers = [
      () => listOf('', []),
      () => listOf('0', []),
      () => listOf(20, [noName]),
      () => listOf(20, [boat('x', { version: '' })]),
    ];
    for (const answer of answers) {
      await using world = new CacheWorld();
      world.server.onWatch = ({ sendInitialEvents }) => {
        if (sendInitialEvents === true) throw failure(422, 'Invalid');
      };
      world.server.onList = () => listOf(10, [boat('a', { version: 5 })]);
      world.subscribe();
      await settle();
      world.taken();
      world.server.onList = answer;
      world.server.stream.fail(failure(410, 'Expired'));
      await settle();
      await world.clock.advance(10_000);
      assert.deepEqual(world.names, ['a@5']);
      assert.deepEqual(world.told, []);
    }
  });
});
