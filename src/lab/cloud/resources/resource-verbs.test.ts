import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';

const volume = { name: 'data', sizeGiB: 1, zone: 'a' };

describe('objects of the cloud', () => {
  let world: CloudWorld;

  before(async () => {
    world = await cloudWorld({ quotas: { volumes: 1000, snapshots: 1000 } });
  });
  after(() => world[Symbol.asyncDispose]());

  const prefixes = [
    { kind: 'volumes', prefix: 'vol', body: volume, status: 202 },
    { kind: 'instances', prefix: 'i', body: { name: 'w', type: 'lab.small', zone: 'a' }, status: 202 },
    { kind: 'images', prefix: 'img', body: { name: 'rhcos', format: 'raw' }, status: 201 },
    { kind: 'addresses', prefix: 'ip', body: {}, status: 201 },
    { kind: 'networks', prefix: 'net', body: { name: 'n', cidr: '10.5.0.0/16' }, status: 201 },
    { kind: 'buckets', prefix: 'b', body: { name: 'things' }, status: 201 },
  ];
  for (const { kind, prefix, body, status } of prefixes) {
    it(`lab/C2: ${kind} are created with ${status}, an identifier ${prefix}-…, and what every object has`, async () => {
      const answer = await world.ask('POST', `/v1/${kind}`, { body: { ...body, tags: { a: 'b' } } });
      assert.equal(answer.status, status, answer.text);
      assert.match(String(answer.body['id']), new RegExp(`^${prefix}-[0-9a-f]{12}$`));
      const { tags, generation, createdAt, updatedAt, state } = answer.body;
      assert.deepEqual({ tags, generation }, { tags: { a: 'b' }, generation: 1 });
      assert.equal(createdAt, updatedAt);
      assert.equal(typeof state, 'string');
      assert.equal(answer.headers.get('etag'), '"1"');
    });
  }

  it('lab/C2: snapshots and routes have their prefixes, too', async () => {
    const volumeId = await world.make('volumes', volume);
    const targetInstanceId = await world.make('instances', { name: 'w', type: 'lab.small', zone: 'a' });
    await world.pass(3000);
    assert.match(await world.make('snapshots', { name: 's', volumeId }), /^snap-[0-9a-f]{12}$/);
    const route = { destinationCidr: '10.128.0.0/23', targetInstanceId };
    assert.match(await world.make('routes', route), /^rt-[0-9a-f]{12}$/);
  });

  it('lab/C2: an item is read with its ETag, which is its generation', async () => {
    const id = await world.make('volumes', volume);
    const first = await world.ask('GET', `/v1/volumes/${id}`);
    assert.deepEqual([first.status, first.headers.get('etag'), first.body['state']], [200, '"1"', 'creating']);
    await world.pass(2000);
    const second = await world.ask('GET', `/v1/volumes/${id}`);
    assert.deepEqual(
      [second.headers.get('etag'), second.body['generation'], second.body['state']],
      ['"2"', 2, 'available'],
    );
    assert.notEqual(second.body['updatedAt'], first.body['updatedAt']);
  });

  it('lab/C2: lists come in pages, filtered by name, state and tags', async () => {
    const tags = { cluster: 'pages' };
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await world.make('volumes', { ...volume, name: `p${n}`, tags }));
    const first = await world.ask('GET', '/v1/volumes?tag.cluster=pages&limit=2');
    const token = String(first.body['nextPageToken']);
    const second = await world.ask('GET', `/v1/volumes?tag.cluster=pages&limit=2&pageToken=${token}`);
    const third = await world.ask(
      'GET',
      `/v1/volumes?tag.cluster=pages&limit=2&pageToken=${String(second.body['nextPageToken'])}`,
    );
    assert.deepEqual(
      [first, second, third].flatMap(({ items }) => items.map((item) => item['id'])),
      ids,
    );
    assert.equal(third.body['nextPageToken'], undefined);
    assert.equal((await world.ask('GET', '/v1/volumes?tag.cluster=pages&name=p3')).items.length, 1);
    assert.equal((await world.ask('GET', '/v1/volumes?tag.cluster=pages&state=available')).items.length, 0);
    assert.equal((await world.ask('GET', '/v1/volumes?limit=101')).status, 400);
    assert.equal((await world.ask('GET', '/v1/volumes?zone=a')).error['code'], 'UnknownField');
  });

  it('lab/C2: PATCH merges: what is given changes, null takes away, the rest stays', async () => {
    const id = await world.make('volumes', { ...volume, tags: { keep: '1', drop: '2' } });
    const body = { name: 'renamed', tags: { drop: null, add: '3' } };
    const answer = await world.ask('PATCH', `/v1/volumes/${id}`, { body });
    assert.equal(answer.status, 200);
    assert.deepEqual(
      [answer.body['name'], answer.body['tags'], answer.body['sizeGiB']],
      ['renamed', { keep: '1', add: '3' }, 1],
    );
    assert.equal(answer.body['generation'], 2);
    const same = await world.ask('PATCH', `/v1/volumes/${id}`, { body: { tags: { add: '3' } } });
    assert.equal(same.body['generation'], 2, 'the same again changes nothing');
    const none = await world.ask('PATCH', `/v1/volumes/${id}`, { body: { tags: null } });
    assert.deepEqual(none.body['tags'], {});
  });

  const badPatches = [
    { body: { zone: 'b' }, code: 'InvalidArgument', says: /zone: of volumes it cannot be changed later/ },
    { body: { colour: 'red' }, code: 'UnknownField', says: /there is no field colour/ },
    { body: { sizeGiB: 'large' }, code: 'InvalidArgument', says: /^sizeGiB: / },
    { body: { name: null }, code: 'InvalidArgument', says: /^name: / },
    { body: { sizeGiB: null }, code: 'InvalidArgument', says: /^sizeGiB: / },
  ];
  for (const { body, code, says } of badPatches) {
    it(`lab/C2: PATCH ${JSON.stringify(body)} is refused and changes nothing`, async () => {
      const id = await world.make('volumes', volume);
      const { status, error } = await world.ask('PATCH', `/v1/volumes/${id}`, { body });
      assert.deepEqual([status, error['code']], [400, code]);
      assert.match(String(error['message']), says);
      assert.equal((await world.look('volumes', id))['generation'], 1);
    });
  }

  it('lab/C2: If-Match with another generation is 412 for every write, and nothing happens', async () => {
    const id = await world.make('volumes', volume);
    const headers = { 'if-match': '"7"' };
    const path = `/v1/volumes/${id}`;
    const answers = [
      await world.ask('PATCH', path, { body: { name: 'x' }, headers }),
      await world.ask('DELETE', path, { headers }),
      await world.ask('POST', `${path}/actions`, { body: { action: 'detach' }, headers }),
    ];
    for (const { status, error } of answers) {
      assert.deepEqual([status, error['code'], error['details']], [412, 'PreconditionFailed', { generation: 1 }]);
    }
    assert.equal((await world.look('volumes', id))['generation'], 1);
    for (const tag of ['"1"', '*', '"9", "1"', 'W/"1"']) {
      const { status } = await world.ask('PATCH', path, { body: { name: 'data' }, headers: { 'if-match': tag } });
      assert.equal(status, 200, tag);
    }
  });

  it('lab/C2: DELETE is 202, again 202 while it goes, and 404 afterwards', async () => {
    const id = await world.make('volumes', volume);
    await world.pass(2000);
    const path = `/v1/volumes/${id}`;
    const first = await world.ask('DELETE', path);
    assert.deepEqual([first.status, first.body['state']], [202, 'deleting']);
    const second = await world.ask('DELETE', path);
    assert.deepEqual([second.status, second.body['generation']], [202, first.body['generation']]);
    assert.equal((await world.ask('PATCH', path, { body: { name: 'x' } })).error['code'], 'IncorrectState');
    await world.pass(1000);
    for (const method of ['DELETE', 'GET', 'PATCH']) {
      const body = method === 'PATCH' ? { body: {} } : {};
      const { status, error } = await world.ask(method, path, body);
      assert.deepEqual([status, error['code']], [404, 'NotFound'], method);
    }
  });

  it('lab/C2: an object that goes at once is answered 202, then 404', async () => {
    const id = await world.make('networks', { name: 'short', cidr: '10.6.0.0/16' });
    const first = await world.ask('DELETE', `/v1/networks/${id}`);
    assert.deepEqual([first.status, first.body['state']], [202, 'deleted']);
    assert.equal((await world.ask('DELETE', `/v1/networks/${id}`)).status, 404);
  });

  it('lab/C2: identifiers are never given twice, not even after a deletion', async () => {
    const seen = new Set<string>();
    for (let n = 0; n < 20; n++) {
      const id = await world.make('networks', { name: 'again', cidr: '10.7.0.0/16' });
      assert.ok(!seen.has(id));
      seen.add(id);
      await world.ask('DELETE', `/v1/networks/${id}`);
    }
  });

  const unknownActions = [
    { body: { action: 'atach' }, says: /did you mean attach\?/ },
    { body: {}, says: /known are attach, detach/ },
    { body: { action: 'toString' }, says: /known are attach, detach/ },
    { body: { action: 'attach' }, says: /^instanceId: / },
    { body: { action: 'attach', instanceId: 'i-1', force: true }, says: /there is no field force/ },
  ];
  for (const { body, says } of unknownActions) {
    it(`lab/C2: the action ${JSON.stringify(body)} is refused with what is possible`, async () => {
      const id = await world.make('volumes', volume);
      const { status, error } = await world.ask('POST', `/v1/volumes/${id}/actions`, { body });
      assert.equal(status, 400);
      assert.match(String(error['message']), says);
    });
  }

  it('lab/C5: instances and volumes may share names, buckets may not', async () => {
    assert.notEqual(await world.make('volumes', volume), await world.make('volumes', volume));
    const first = await world.make('buckets', { name: 'only-one' });
    const { status, error } = await world.ask('POST', '/v1/buckets', { body: { name: 'only-one' } });
    assert.deepEqual([status, error['code'], error['details']], [409, 'AlreadyExists', { id: first }]);
    await world.ask('DELETE', `/v1/buckets/${first}`);
    await world.make('buckets', { name: 'only-one' });
  });

  const badTags = [
    { name: 'more than 50', tags: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, ''])) },
    { name: 'a key of 129 characters', tags: { ['k'.repeat(129)]: '' } },
    { name: 'an empty key', tags: { '': 'x' } },
    { name: 'a value of 257 characters', tags: { k: 'v'.repeat(257) } },
    { name: "a key of the cloud's own", tags: { 'lab:owner': 'me' } },
    { name: 'a value that is no text', tags: { k: 1 } },
  ];
  for (const { name, tags } of badTags) {
    it(`lab/C6: tags with ${name} are refused, at create and later`, async () => {
      const { status, error } = await world.ask('POST', '/v1/volumes', { body: { ...volume, tags } });
      assert.deepEqual([status, error['code']], [400, 'InvalidArgument']);
      assert.match(String(error['target']), /^tags/);
      const id = await world.make('volumes', volume);
      assert.equal((await world.ask('PATCH', `/v1/volumes/${id}`, { body: { tags } })).status, 400);
    });
  }

  it('lab/C6: fifty tags as long as they may be are kept', async () => {
    const tags = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`${n}`.padEnd(128, 'k'), 'v'.repeat(256)]),
    );
    const id = await world.make('volumes', { ...volume, tags });
    assert.deepEqual((await world.look('volumes', id))['tags'], tags);
  });

  it('lab/C6: everything that carries a tag is found across kinds, page by page', async () => {
    const tags = { 'cluster/id': 'destroy-me' };
    const ids = [
      await world.make('volumes', { ...volume, tags }),
      await world.make('buckets', { name: 'tagged', tags }),
      await world.make('networks', { name: 'tagged', cidr: '10.8.0.0/16', tags }),
    ];
    const all = await world.ask('GET', '/v1/resources?tag.cluster/id=destroy-me');
    assert.deepEqual(
      all.items.map(({ kind, id }) => [kind, id]),
      [
        ['volumes', ids[0]],
        ['buckets', ids[1]],
        ['networks', ids[2]],
      ],
    );
    const first = await world.ask('GET', '/v1/resources?tag.cluster/id=destroy-me&limit=2');
    const rest = await world.ask(
      'GET',
      `/v1/resources?tag.cluster/id=destroy-me&limit=2&pageToken=${String(first.body['nextPageToken'])}`,
    );
    assert.deepEqual(
      [...first.items, ...rest.items].map(({ id }) => id),
      ids,
    );
  });

  it('lab/C6: an object has its tags from its first moment: nothing is kept of it without them', async () => {
    const id = await world.make('volumes', { ...volume, tags: { first: 'moment' } });
    const lines = readFileSync(join(world.directory, 'cloud', 'state.log'), 'utf8').split('\n');
    const [first = '', ...others] = lines.filter((line) => line.includes(id));
    assert.equal(JSON.parse(first).tx.put['kind/volumes'][id].tags.first, 'moment');
    assert.deepEqual(others, []);
  });
});
