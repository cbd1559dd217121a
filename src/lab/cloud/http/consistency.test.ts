import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';

const W = 2000;
const bucket = { name: 'eventual' };
const CONSISTENT = { headers: { 'lab-consistent': 'true' } };

const listed = async (world: CloudWorld, asking = {}): Promise<readonly unknown[]> =>
  (await world.ask('GET', '/v1/networks', asking)).items
    .map(({ name }) => name)
    .filter((name) => name !== 'default');

const network = { name: 'n', cidr: '10.5.0.0/16' };

describe('reads within the consistency window', () => {
  it('lab/C7: are true at once unless a window is set', async () => {
    await using world = await cloudWorld();
    const id = await world.make('networks', network);
    assert.equal((await world.ask('GET', `/v1/networks/${id}`)).status, 200);
    assert.deepEqual(await listed(world), ['n']);
  });

  it('lab/C7: do not know what was just created', async () => {
    await using world = await cloudWorld({ consistencyMs: W });
    const id = await world.make('networks', network);
    assert.equal((await world.ask('GET', `/v1/networks/${id}`)).status, 404);
    assert.deepEqual(await listed(world), []);
    await world.clock.advance(W - 1);
    assert.equal((await world.ask('GET', `/v1/networks/${id}`)).status, 404);
    await world.clock.advance(1);
    assert.equal((await world.ask('GET', `/v1/networks/${id}`)).status, 200);
    assert.deepEqual(await listed(world), ['n']);
  });

  it('lab/C7: show the old generation after an update', async () => {
    await using world = await cloudWorld({ consistencyMs: W });
    const id = await world.make('networks', network);
    await world.clock.advance(W);
    await world.ask('PATCH', `/v1/networks/${id}`, { body: { name: 'renamed' } });
    const stale = await world.ask('GET', `/v1/networks/${id}`);
    assert.deepEqual([stale.body['name'], stale.headers.get('etag')], ['n', '"1"']);
    await world.clock.advance(W);
    const fresh = await world.ask('GET', `/v1/networks/${id}`);
    assert.deepEqual([fresh.body['name'], fresh.headers.get('etag')], ['renamed', '"2"']);
  });

  it('lab/C7: still list what is gone', async () => {
    await using world = await cloudWorld({ consistencyMs: W });
    const id = await world.make('networks', network);
    await world.clock.advance(W);
    await world.ask('DELETE', `/v1/networks/${id}`);
    assert.deepEqual(await listed(world), ['n']);
    assert.equal((await world.ask('GET', '/v1/resources?name=n')).items.length, 1);
    await world.clock.advance(W);
    assert.deepEqual(await listed(world), []);
    assert.equal((await world.ask('GET', `/v1/networks/${id}`)).status, 404);
  });

  it('lab/C7: are true with the header that tests send', async () => {
    await using world = await cloudWorld({ consistencyMs: W });
    const id = await world.make('networks', network);
    assert.equal((await world.ask('GET', `/v1/networks/${id}`, CONSISTENT)).status, 200);
    assert.deepEqual(await listed(world, CONSISTENT), ['n']);
    assert.equal(
      (await world.ask('GET', `/v1/networks/${id}`, { headers: { 'lab-consistent': 'false' } })).status,
      404,
    );
  });

  it('lab/C7: do not keep writes from acting on the truth', async () => {
    await using world = await cloudWorld({ consistencyMs: W });
    const id = await world.make('networks', network);
    assert.equal(
      (await world.ask('PATCH', `/v1/networks/${id}`, { body: { name: 'x' }, headers: { 'if-match': '"1"' } }))
        .status,
      200,
    );
    assert.equal(
      (await world.ask('PATCH', `/v1/networks/${id}`, { body: { name: 'y' }, headers: { 'if-match': '"1"' } }))
        .status,
      412,
    );
    await world.make('buckets', bucket);
    assert.equal((await world.ask('POST', '/v1/buckets', { body: bucket })).error['code'], 'AlreadyExists');
    assert.equal((await world.ask('DELETE', `/v1/networks/${id}`)).status, 202);
    assert.equal((await world.ask('DELETE', `/v1/networks/${id}`)).status, 404);
  });

  it('lab/C7: have a window for each kind', async () => {
    await using world = await cloudWorld({ consistencyMs: { networks: W } });
    const id = await world.make('networks', network);
    const other = await world.make('buckets', bucket);
    assert.equal((await world.ask('GET', `/v1/networks/${id}`)).status, 404);
    assert.equal((await world.ask('GET', `/v1/buckets/${other}`)).status, 200);
  });

  it('lab/C7: see what was there from the start', async () => {
    await using world = await cloudWorld({ consistencyMs: W });
    assert.equal((await world.ask('GET', '/v1/zones')).items.length, 2);
    assert.equal((await world.ask('GET', '/v1/zones/a')).status, 200);
  });

  it('lab/C7: may have a window longer than a minute', async () => {
    await using world = await cloudWorld({ consistencyMs: 90_000 });
    const id = await world.make('networks', network);
    await world.clock.advance(70_000);
    await world.make('networks', { ...network, name: 'other' });
    assert.equal((await world.ask('GET', `/v1/networks/${id}`)).status, 404);
    await world.clock.advance(20_000);
    assert.equal((await world.ask('GET', `/v1/networks/${id}`)).status, 200);
  });

  it('lab/C7: page through a list without losing or repeating what becomes visible meanwhile', async () => {
    await using world = await cloudWorld({ consistencyMs: W });
    for (let n = 0; n < 4; n++) await world.make('networks', { ...network, name: `n${n}` });
    await world.clock.advance(W);
    for (let n = 4; n < 6; n++) await world.make('networks', { ...network, name: `n${n}` });
    const first = await world.ask('GET', '/v1/networks?limit=3');
    await world.clock.advance(W);
    const rest = await world.ask('GET', `/v1/networks?limit=100&pageToken=${String(first.body['nextPageToken'])}`);
    assert.deepEqual(
      [...first.items, ...rest.items].map(({ name }) => name),
      ['default', 'n0', 'n1', 'n2', 'n3', 'n4', 'n5'],
    );
  });
});
