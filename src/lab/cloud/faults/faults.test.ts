import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answered, type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory, until } from '../../../../test/support/scratch.ts';
import { defineKind } from '../resources/kind-definition.ts';
import type { KindFactory } from '../resources/resource-kind.ts';
import type { FaultSpec } from './fault.ts';

const volume = { name: 'v', sizeGiB: 1, zone: 'a' };
const zones = (world: CloudWorld): Promise<Answered> => world.ask('GET', '/v1/zones');
const create = (world: CloudWorld, more: object = {}, key?: string): Promise<Answered> =>
  world.ask('POST', '/v1/volumes', {
    body: { ...volume, ...more },
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
const count = (world: CloudWorld): number => world.cloud.state.list({ plural: 'volumes' }).length;

/** A world whose client has its token already: nothing is asked besides what the test asks. */
async function faultyWorld(spec: FaultSpec, name?: string): Promise<CloudWorld> {
  const world = await cloudWorld({ seed: 7 });
  await zones(world);
  world.cloud.fault(spec, name);
  return world;
}

describe('faults', () => {
  const matches: readonly { readonly match: FaultSpec['match']; readonly hits: readonly string[] }[] = [
    { match: {}, hits: ['GET zones', 'GET zone', 'POST volumes', 'POST tagged'] },
    { match: { method: 'get' }, hits: ['GET zones', 'GET zone'] },
    { match: { kind: 'volumes' }, hits: ['POST volumes', 'POST tagged'] },
    { match: { path: '/v1/zones' }, hits: ['GET zones'] },
    { match: { path: '/v1/zones*' }, hits: ['GET zones', 'GET zone'] },
    { match: { path: '/v1/zones/*' }, hits: ['GET zone'] },
    { match: { tag: { cluster: 'c1' } }, hits: ['POST tagged'] },
    { match: { tag: { cluster: 'c1', role: 'x' } }, hits: [] },
    { match: { method: 'GET', kind: 'volumes' }, hits: [] },
    { match: { nth: 2 }, hits: ['GET zone'] },
    { match: { nth: 2, method: 'POST' }, hits: ['POST tagged'] },
    { match: { probability: 0 }, hits: [] },
    { match: { probability: 1 }, hits: ['GET zones', 'GET zone', 'POST volumes', 'POST tagged'] },
  ];
  for (const { match, hits } of matches) {
    it(`lab/C11: that match ${JSON.stringify(match)} hit ${hits.join(', ') || 'nothing'}`, async () => {
      await using world = await faultyWorld({ match, effect: { status: 503 } });
      const requests = {
        'GET zones': () => zones(world),
        'GET zone': () => world.ask('GET', '/v1/zones/a'),
        'POST volumes': () => create(world),
        'POST tagged': () => create(world, { tags: { cluster: 'c1' } }),
      };
      const hit: string[] = [];
      for (const [name, request] of Object.entries(requests)) if ((await request()).status === 503) hit.push(name);
      assert.deepEqual(hit, hits);
      assert.equal(world.cloud.faults[0]?.fired, hits.length);
    });
  }

  it('lab/C11: know the tags of the object that is meant', async () => {
    await using world = await cloudWorld();
    const id = await world.make('volumes', { ...volume, tags: { cluster: 'c1' } });
    world.cloud.fault({ match: { tag: { cluster: 'c1' } }, effect: { code: 'InUse' } });
    assert.equal((await world.ask('DELETE', `/v1/volumes/${id}`)).error['code'], 'InUse');
  });

  const answers = [
    { effect: { status: 500 }, status: 500, code: 'Internal' },
    { effect: { status: 503 }, status: 503, code: 'Unavailable' },
    { effect: { status: 404 }, status: 404, code: 'NotFound' },
    { effect: { status: 418 }, status: 418, code: 'InvalidArgument' },
    { effect: { code: 'InsufficientCapacity' as const }, status: 503, code: 'InsufficientCapacity' },
    { effect: { status: 500, code: 'QuotaExceeded' as const }, status: 500, code: 'QuotaExceeded' },
    { effect: { status: 429 }, status: 429, code: 'RateLimited' },
  ];
  for (const { effect, status, code } of answers) {
    it(`lab/C11: ${JSON.stringify(effect)} is answered ${status} ${code}, and nothing is done`, async () => {
      await using world = await faultyWorld({ match: { method: 'POST' }, effect });
      const answer = await create(world);
      assert.deepEqual([answer.status, answer.error['code'], count(world)], [status, code, 0]);
      assert.equal(answer.headers.get('retry-after'), status === 429 ? '1' : null);
    });
  }

  it('lab/C11: fire as often as they are told, and until they are told', async () => {
    await using world = await faultyWorld({ match: { kind: 'zones' }, effect: { status: 500 }, times: 2 });
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await zones(world)).status);
    assert.deepEqual(statuses, [500, 500, 200, 200]);
    const until = new Date(world.clock.now().getTime() + 1000).toISOString();
    world.cloud.fault({ match: { kind: 'zones' }, effect: { status: 500 }, until });
    await world.clock.advance(999);
    assert.equal((await zones(world)).status, 500);
    await world.clock.advance(1);
    assert.equal((await zones(world)).status, 200);
  });

  it('lab/C13: do not keep the world from following when what is over is forgotten', async () => {
    const gone: string[] = [];
    const ghosts: KindFactory = () =>
      defineKind(
        { plural: 'ghosts' },
        {
          singular: 'ghost',
          idPrefix: 'g',
          states: ['here', 'over'],
          deletion: { during: [], rest: { state: 'over', visibleMs: 1000 } },
          input: {},
          create: () => ({ state: 'here', fields: {} }),
          remove: () => ({ state: 'over' }),
          changed: (now, before) => void (now === undefined && gone.push(before?.id ?? '')),
        },
      );
    await using world = await cloudWorld({ kinds: [ghosts] });
    const id = await world.make('ghosts', { name: 'g' });
    await world.ask('DELETE', `/v1/ghosts/${id}`);
    world.cloud.fault({ match: { kind: 'zones' }, effect: { stale: 1 } });
    await world.pass(2000);
    // Only counted: nothing but the fault is written.
    await zones(world);
    await world.cloud.idle();
    assert.deepEqual(gone, [id]);
  });

  it('lab/C11: with a probability are the same for the same seed', async () => {
    const run = async (seed: number) => {
      await using world = await cloudWorld({ seed });
      await zones(world);
      world.cloud.fault({ match: { probability: 0.5 }, effect: { status: 500 } });
      const statuses = [];
      for (let n = 0; n < 40; n++) statuses.push((await zones(world)).status);
      return statuses.join(' ');
    };
    const [first, second, other] = [await run(3), await run(3), await run(4)];
    assert.equal(first, second);
    assert.notEqual(first, other);
    assert.ok(first.includes('500') && first.includes('200'));
  });

  it('lab/C11: delay by lab time', async () => {
    await using world = await faultyWorld({ match: { kind: 'zones' }, effect: { delayMs: 3000 } });
    let isAnswered = false;
    const answer = zones(world).finally(() => {
      isAnswered = true;
    });
    await until(
      () => world.cloud.journal({ kind: 'zones' }).some(({ faults }) => faults !== undefined),
      'it waits',
    );
    await world.clock.advance(2999);
    assert.equal(isAnswered, false);
    await world.clock.advance(1);
    assert.equal((await answer).status, 200);
  });

  it('lab/C11: hang until the client gives up, and do nothing', async () => {
    await using world = await faultyWorld({ match: { kind: 'volumes' }, effect: { hang: true } });
    const patience = new AbortController();
    const asked = world.ask('POST', '/v1/volumes', { body: volume, signal: patience.signal });
    await until(
      () => world.cloud.journal({ kind: 'volumes' }).some(({ faults }) => faults !== undefined),
      'it hangs',
    );
    await world.clock.advance(3_600_000);
    patience.abort();
    await assert.rejects(asked);
    await until(() => world.cloud.journal({ kind: 'volumes' })[0]?.isCut === true, 'the cloud has noticed');
    assert.equal(count(world), 0);
  });

  it('lab/C11: dropAfter request cuts the connection, and nothing has happened', async () => {
    await using world = await faultyWorld({ match: { method: 'POST', nth: 1 }, effect: { dropAfter: 'request' } });
    await assert.rejects(create(world));
    assert.equal(count(world), 0);
    assert.equal((await create(world)).status, 202);
  });

  it('lab/C11: dropAfter commit does it and cuts the connection: without a key a second try makes a second one', async () => {
    await using world = await faultyWorld({ match: { method: 'POST', nth: 1 }, effect: { dropAfter: 'commit' } });
    await assert.rejects(create(world));
    assert.equal(count(world), 1);
    assert.equal((await create(world)).status, 202);
    assert.equal(count(world), 2);
  });

  it('lab/C11: dropAfter commit with a key leaves exactly one, whose answer the second try gets', async () => {
    await using world = await faultyWorld({ match: { method: 'POST', nth: 1 }, effect: { dropAfter: 'commit' } });
    await assert.rejects(create(world, {}, 'key'));
    const again = await create(world, {}, 'key');
    assert.equal(again.status, 202);
    assert.deepEqual(
      world.cloud.state.list({ plural: 'volumes' }).map(({ id }) => id),
      [again.body['id']],
    );
  });

  it('lab/C11: dropAfter commit cuts the connection of what is refused, too', async () => {
    await using world = await faultyWorld({ match: { method: 'POST' }, effect: { dropAfter: 'commit' } });
    await assert.rejects(create(world, { zone: 'nowhere' }));
    assert.equal(count(world), 0);
  });

  it('lab/C11: truncate sends a part of the answer', async () => {
    await using world = await faultyWorld({ match: { kind: 'zones' }, effect: { truncate: true } });
    await assert.rejects(zones(world));
    assert.equal(world.cloud.journal({ kind: 'zones' }).at(-1)?.isCut, true);
  });

  it('lab/C11: truncate sends a part of an object, too', async () => {
    await using world = await cloudWorld();
    const bucket = await world.make('buckets', { name: 'things' });
    const path = `/v1/buckets/${bucket}/objects/a`;
    await world.ask('PUT', path, { body: 'x'.repeat(200_000) });
    world.cloud.fault({ match: { method: 'GET' }, effect: { truncate: true } });
    const authorization = `Bearer ${await world.token('lab-admin')}`;
    const response = await fetch(`${world.cloud.url}${path}`, { headers: { authorization } });
    assert.deepEqual([response.status, response.headers.get('content-length')], [200, '200000']);
    await assert.rejects(response.text());
  });

  it('lab/C11: stale makes reads lag behind', async () => {
    await using world = await cloudWorld();
    const id = await world.make('buckets', { name: 'old' });
    await world.clock.advance(10_000);
    await world.ask('PATCH', `/v1/buckets/${id}`, { body: { tags: { new: 'yes' } } });
    const read = async () => (await world.ask('GET', `/v1/buckets/${id}`)).body['generation'];
    const soon = world.cloud.fault({ match: {}, effect: { stale: 5000 } });
    assert.equal(await read(), 1);
    await world.clock.advance(5000);
    assert.equal(await read(), 2);
    soon[Symbol.dispose]();
    world.cloud.fault({ match: {}, effect: { stale: true } });
    assert.equal((await world.ask('GET', `/v1/buckets/${id}`)).status, 404, 'a minute ago it was not there');
    assert.equal((await world.look('buckets', id))['generation'], 2);
  });

  it('lab/C11: stateStuck keeps what was begun from ending, until the fault goes', async () => {
    await using world = await cloudWorld();
    const fault = world.cloud.fault({ match: { kind: 'volumes', nth: 1 }, effect: { stateStuck: true } });
    const [stuck, free] = [await world.make('volumes', volume), await world.make('volumes', volume)];
    await world.pass(60_000);
    assert.equal((await world.look('volumes', stuck))['state'], 'creating');
    assert.equal((await world.look('volumes', free))['state'], 'available');
    fault[Symbol.dispose]();
    await world.pass(1);
    assert.equal((await world.look('volumes', stuck))['state'], 'available');
  });

  it('lab/C11: stateStuck may end at a time, and goes on over a restart', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path });
    const until = new Date(first.clock.now().getTime() + 30_000).toISOString();
    first.cloud.fault({ match: { kind: 'volumes' }, effect: { stateStuck: true }, until });
    const id = await first.make('volumes', volume);
    await first.pass(10_000);
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    await second.pass(19_500);
    assert.equal((await second.look('volumes', id))['state'], 'creating');
    await second.pass(500);
    assert.equal((await second.look('volumes', id))['state'], 'available');
  });

  it('lab/C11: stateStuck does not keep an object from being deleted', async () => {
    await using world = await cloudWorld();
    world.cloud.fault({ match: { method: 'POST' }, effect: { stateStuck: true } });
    const id = await world.make('volumes', volume);
    await world.ask('DELETE', `/v1/volumes/${id}`);
    await world.pass(1000);
    assert.equal((await world.ask('GET', `/v1/volumes/${id}`)).status, 404);
  });

  it('lab/C11: work together: each does its part', async () => {
    await using world = await cloudWorld();
    world.cloud.fault({ match: { kind: 'volumes' }, effect: { stateStuck: true } }, 'a');
    world.cloud.fault({ match: { kind: 'volumes', nth: 1 }, effect: { dropAfter: 'commit' } }, 'b');
    await assert.rejects(create(world));
    await world.pass(10_000);
    assert.deepEqual(
      world.cloud.state.list({ plural: 'volumes' }).map(({ state }) => state),
      ['creating'],
    );
    assert.deepEqual(world.cloud.journal({ kind: 'volumes' })[0]?.faults, ['a', 'b']);
  });

  it('lab/C11: are set, read and taken away over HTTP by an administrator, and nobody else', async () => {
    await using world = await cloudWorld();
    const body = { match: { kind: 'zones' }, effect: { status: 503 }, times: 1 };
    assert.equal((await world.ask('PUT', '/lab/faults/flaky', { body, as: 'lab-provider' })).status, 403);
    assert.equal((await world.ask('PUT', '/lab/faults/flaky', { body })).status, 200);
    assert.equal((await zones(world)).status, 503);
    const { body: fault } = await world.ask('GET', '/lab/faults/flaky');
    assert.deepEqual(fault, { name: 'flaky', ...body, matched: 1, fired: 1 });
    assert.equal((await world.ask('GET', '/lab/faults')).items.length, 1);
    assert.equal((await world.ask('DELETE', '/lab/faults/flaky')).status, 202);
    assert.deepEqual(world.cloud.faults, []);
  });

  const bad = [
    { body: { match: {}, effect: {} }, says: /a fault needs an effect/ },
    { body: { match: {}, effect: { staus: 500 } }, says: /effect\.staus: did you mean status\?/ },
    { body: { match: { nth: 0 }, effect: { hang: true } }, says: /^match\.nth: / },
    { body: { match: { probability: 2 }, effect: { hang: true } }, says: /^match\.probability: / },
    { body: { match: {}, effect: { status: 200 } }, says: /^effect\.status: / },
    { body: { match: {}, effect: { hang: true }, until: 'tomorrow' }, says: /^until: / },
    { body: { effect: { hang: true } }, says: /^match: is missing/ },
  ];
  for (const { body, says } of bad) {
    it(`lab/C11: ${JSON.stringify(body)} is no fault`, async () => {
      await using world = await cloudWorld();
      const { status, error } = await world.ask('PUT', '/lab/faults/x', { body });
      assert.equal(status, 400);
      assert.match(String(error['message']), says);
    });
  }

  it('lab/C11: have names that are fit for a path', async () => {
    await using world = await cloudWorld();
    const body = { match: {}, effect: { hang: true } };
    assert.equal((await world.ask('PUT', '/lab/faults/__proto__', { body })).status, 400);
    assert.equal((await world.ask('PUT', '/lab/faults/a%20b', { body })).status, 400);
  });

  it('lab/C11: keep their counts over a restart', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path });
    await zones(first);
    first.cloud.fault({ match: { kind: 'zones', nth: 2 }, effect: { status: 500 } });
    assert.equal((await zones(first)).status, 200);
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    assert.equal((await zones(second)).status, 500);
    assert.equal((await zones(second)).status, 200);
  });
});

describe('the journal', () => {
  it('lab/C11: shows every request with method, path, credential, status and identifier, and what fired', async () => {
    await using world = await cloudWorld();
    await zones(world);
    world.cloud.fault({ match: { kind: 'volumes' }, effect: { status: 503 } }, 'flaky');
    const refused = await create(world, {}, 'key-1');
    const { items } = await world.ask('GET', '/lab/journal?method=post&kind=volumes');
    assert.deepEqual(items, [
      {
        requestId: refused.headers.get('lab-request-id'),
        at: '2030-01-01T00:00:00.000Z',
        method: 'POST',
        path: '/v1/volumes',
        kind: 'volumes',
        credential: 'lab-admin',
        idempotencyKey: 'key-1',
        status: 503,
        code: 'Unavailable',
        faults: ['flaky'],
      },
    ]);
    assert.deepEqual(world.cloud.journal({ method: 'POST', kind: 'volumes' }), items);
  });

  it('lab/C11: shows strangers without a name, and no secrets', async () => {
    await using world = await cloudWorld({
      credentials: [{ clientId: 'lab-admin', clientSecret: 'canary-secret', scope: 'admin read write' }],
    });
    const token = await world.token('lab-admin');
    await world.ask('GET', '/v1/zones', { headers: { authorization: 'Bearer nonsense' } });
    const bucket = await world.make('buckets', { name: 'signed' });
    await world.ask('PUT', `/v1/buckets/${bucket}/objects/k`, { body: 'canary-body' });
    const { body } = await world.ask('POST', `/v1/buckets/${bucket}/presign`, {
      body: { method: 'GET', key: 'k' },
    });
    assert.equal((await fetch(String(body['url']))).status, 200);
    const journal = JSON.stringify(world.cloud.journal());
    const signature = new URL(String(body['url'])).searchParams.get('signature') ?? '';
    for (const secret of ['canary', token, signature]) assert.ok(!journal.includes(secret), secret);
    assert.equal(world.cloud.journal({ status: 401 })[0]?.credential, undefined);
  });

  it('lab/C11: can be read from a request on', async () => {
    await using world = await cloudWorld();
    const mark = (await zones(world)).headers.get('lab-request-id') ?? '';
    await create(world);
    assert.deepEqual(
      world.cloud.journal({ after: mark }).map(({ path }) => path),
      ['/v1/volumes'],
    );
    const { error } = await world.ask('GET', '/lab/journal?mehtod=GET');
    assert.match(String(error['message']), /did you mean method\?/);
  });
});
