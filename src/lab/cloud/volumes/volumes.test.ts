import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Answered, type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory } from '../../../../test/support/scratch.ts';

const GIB = 1024 ** 3;
const volume = { name: 'v', sizeGiB: 2, zone: 'a' };
const instance = { name: 'w', type: 'lab.small', zone: 'a' };

const imageOf = (world: CloudWorld, id: string): string => join(world.directory, 'cloud', 'volumes', `${id}.img`);
const attach = (world: CloudWorld, id: string, instanceId: string): Promise<Answered> =>
  world.ask('POST', `/v1/volumes/${id}/actions`, { body: { action: 'attach', instanceId } });
const detach = (world: CloudWorld, id: string, instanceId?: string): Promise<Answered> =>
  world.ask('POST', `/v1/volumes/${id}/actions`, { body: { action: 'detach', instanceId } });

/** Volumes that are available and instances that run. */
async function readyWorld(volumes: readonly object[], instances: readonly object[]) {
  const world = await cloudWorld({ quotas: { instances: 100, volumes: 100, vcpus: 1000 } });
  const volumeIds = await Promise.all(volumes.map((more) => world.make('volumes', { ...volume, ...more })));
  const instanceIds = await Promise.all(
    instances.map((more) => world.make('instances', { ...instance, ...more })),
  );
  await world.pass(3000);
  const [v = '', v2 = ''] = volumeIds;
  const [i = '', i2 = ''] = instanceIds;
  return { world, v, v2, i, i2, volumeIds, instanceIds };
}

describe('volumes', () => {
  it('lab/C19: are sparse files of their size', async () => {
    const { world, v } = await readyWorld([{ sizeGiB: 100 }], []);
    await using _ = world;
    const { size, blocks } = statSync(imageOf(world, v));
    assert.equal(size, 100 * GIB);
    assert.ok(blocks * 512 < 1024 * 1024, 'they take nothing until something is written');
  });

  it('lab/C19: can grow, not shrink, and keep what is in them', async () => {
    const { world, v } = await readyWorld([{}], []);
    await using _ = world;
    writeFileSync(imageOf(world, v), 'content', { flag: 'r+' });
    const grown = await world.ask('PATCH', `/v1/volumes/${v}`, { body: { sizeGiB: 3 } });
    assert.deepEqual([grown.status, grown.body['sizeGiB']], [200, 3]);
    assert.equal(statSync(imageOf(world, v)).size, 3 * GIB, 'before the client is answered');
    const shrunk = await world.ask('PATCH', `/v1/volumes/${v}`, { body: { sizeGiB: 1 } });
    assert.deepEqual([shrunk.status, shrunk.error['target']], [400, 'sizeGiB']);
    assert.match(String(shrunk.error['message']), /has 3 GiB and can only grow/);
  });

  it('lab/C19: grow while they are attached only when their type says so', async () => {
    const { world, v, v2, i } = await readyWorld([{}, { type: 'fast' }], [{}]);
    await using _ = world;
    await attach(world, v, i);
    await attach(world, v2, i);
    await world.pass(1000);
    const standard = await world.ask('PATCH', `/v1/volumes/${v}`, { body: { sizeGiB: 5 } });
    assert.deepEqual([standard.status, standard.error['code']], [409, 'IncorrectState']);
    assert.equal((await world.ask('PATCH', `/v1/volumes/${v2}`, { body: { sizeGiB: 5 } })).status, 200);
    assert.equal(statSync(imageOf(world, v2)).size, 5 * GIB);
    assert.equal((await world.ask('PATCH', `/v1/volumes/${v}`, { body: { name: 'x' } })).status, 200);
  });

  it('lab/C19: grow while they are being made, too', async () => {
    await using world = await cloudWorld();
    const id = await world.make('volumes', volume);
    await world.ask('PATCH', `/v1/volumes/${id}`, { body: { sizeGiB: 4 } });
    await world.pass(2000);
    assert.equal(statSync(imageOf(world, id)).size, 4 * GIB);
  });

  it('lab/C19: are attached to one instance, as a device whose name stays the same', async () => {
    const { world, v, i, i2 } = await readyWorld([{}], [{}, {}]);
    await using _ = world;
    const begun = await attach(world, v, i);
    const device = `/dev/disk/by-id/lab-${v}`;
    assert.equal(begun.status, 202);
    assert.deepEqual(
      [begun.body['state'], begun.body['attachments']],
      ['attaching', [{ instanceId: i, device, state: 'attaching' }]],
    );
    await world.pass(1000);
    const attached = await world.look('volumes', v);
    assert.deepEqual(
      [attached['state'], attached['attachments']],
      ['in-use', [{ instanceId: i, device, state: 'attached' }]],
    );
    const again = await attach(world, v, i);
    assert.deepEqual([again.status, again.body['generation']], [202, attached['generation']], 'again is the same');
    assert.equal((await detach(world, v, i)).body['state'], 'detaching');
    await world.pass(1000);
    await attach(world, v, i2);
    await world.pass(1000);
    assert.deepEqual((await world.look('volumes', v))['attachments'], [
      { instanceId: i2, device, state: 'attached' },
    ]);
  });

  it('lab/C19: are 409 InUse for a second instance, which is told the first', async () => {
    const { world, v, i, i2 } = await readyWorld([{}], [{}, {}]);
    await using _ = world;
    await attach(world, v, i);
    const refused = [await attach(world, v, i2)];
    await world.pass(1000);
    refused.push(await attach(world, v, i2));
    await detach(world, v);
    refused.push(await attach(world, v, i2));
    for (const { status, error } of refused)
      assert.deepEqual([status, error['code'], error['details']], [409, 'InUse', { instanceId: i }]);
  });

  it('lab/C19: with multiAttach are attached to several', async () => {
    const { world, v, i, i2 } = await readyWorld([{ multiAttach: true }], [{}, {}]);
    await using _ = world;
    await attach(world, v, i);
    const early = await attach(world, v, i2);
    assert.deepEqual([early.status, early.error['code'], early.error['retryable']], [409, 'IncorrectState', true]);
    await world.pass(1000);
    await attach(world, v, i2);
    await world.pass(1000);
    const both = await world.look('volumes', v);
    assert.equal(both['state'], 'in-use');
    assert.match(JSON.stringify(both['attachments']), new RegExp(`${i}.*attached.*${i2}.*attached`));
    await detach(world, v, i);
    await world.pass(1000);
    const one = await world.look('volumes', v);
    assert.equal(one['state'], 'in-use');
    assert.ok(!JSON.stringify(one['attachments']).includes(i));
    await detach(world, v);
    await world.pass(1000);
    assert.equal((await world.look('volumes', v))['state'], 'available');
  });

  it('lab/C19: of another zone are refused with 400', async () => {
    const { world, v, i } = await readyWorld([{ zone: 'b' }], [{}]);
    await using _ = world;
    const { status, error } = await attach(world, v, i);
    assert.deepEqual([status, error['code'], error['target']], [400, 'InvalidArgument', 'instanceId']);
    assert.match(String(error['message']), /is in zone b, instance .* in zone a/);
  });

  it('lab/C19: end at 25 for an instance, with 422', async () => {
    const { world, volumeIds, i } = await readyWorld(
      Array.from({ length: 26 }, () => ({})),
      [{}],
    );
    await using _ = world;
    for (const id of volumeIds.slice(0, 25)) assert.equal((await attach(world, id, i)).status, 202);
    const { status, error } = await attach(world, volumeIds[25] ?? '', i);
    assert.deepEqual([status, error['code']], [422, 'QuotaExceeded']);
    assert.deepEqual(error['details'], { quota: 'volumes-per-instance', limit: 25, used: 25 });
  });

  it('lab/C19: that are detached can be detached, which does nothing', async () => {
    const { world, v, i } = await readyWorld([{}], [{}]);
    await using _ = world;
    for (const instanceId of [undefined, i, 'i-000000000000']) {
      const { status, body } = await detach(world, v, instanceId);
      assert.deepEqual([status, body['state'], body['generation']], [202, 'available', 2]);
    }
  });

  it('lab/C19: are detached when their instance is terminated, and stay', async () => {
    const { world, v, v2, i, i2 } = await readyWorld([{}, { multiAttach: true }], [{}, {}]);
    await using _ = world;
    for (const [id, to] of [
      [v, i],
      [v2, i],
      [v2, i2],
    ] as const) {
      await attach(world, id, to);
      await world.pass(1000);
    }
    await world.ask('DELETE', `/v1/instances/${i}`);
    assert.equal((await world.look('volumes', v))['state'], 'in-use', 'until it is gone it may write');
    await world.pass(2000);
    const alone = await world.look('volumes', v);
    assert.deepEqual([alone['state'], alone['attachments']], ['available', []]);
    const shared = await world.look('volumes', v2);
    assert.equal(shared['state'], 'in-use');
    assert.ok(!JSON.stringify(shared['attachments']).includes(i));
  });

  it('lab/C19: that are being attached are free when their instance goes', async () => {
    const { world, v, i } = await readyWorld([{}], [{}]);
    await using _ = world;
    const fault = world.cloud.fault({ match: { kind: 'volumes' }, effect: { stateStuck: true } });
    await attach(world, v, i);
    await world.ask('DELETE', `/v1/instances/${i}`);
    await world.pass(2000);
    assert.equal((await world.look('volumes', v))['state'], 'available');
    fault[Symbol.dispose]();
    await world.pass(2000);
    assert.deepEqual((await world.look('volumes', v))['attachments'], []);
  });

  const refusals = [
    {
      name: 'to an instance that is not there',
      of: (i: string) => i.replace(/.$/, 'x'),
      status: 404,
      target: 'instanceId',
    },
    { name: 'to nothing', of: () => '', status: 404, target: 'instanceId' },
  ];
  for (const { name, of, status, target } of refusals) {
    it(`lab/C19: cannot be attached ${name}`, async () => {
      const { world, v, i } = await readyWorld([{}], [{}]);
      await using _ = world;
      const answer = await attach(world, v, of(i));
      assert.deepEqual([answer.status, answer.error['target']], [status, target]);
    });
  }

  it('lab/C19: cannot be attached while they or their instance are being made, but later', async () => {
    await using world = await cloudWorld();
    const [v, i] = [await world.make('volumes', volume), await world.make('instances', instance)];
    const early = await attach(world, v, i);
    assert.deepEqual([early.status, early.error['code'], early.error['retryable']], [409, 'IncorrectState', true]);
    await world.pass(2000);
    assert.equal((await attach(world, v, i)).error['target'], 'instanceId');
    await world.pass(1000);
    assert.equal((await attach(world, v, i)).status, 202);
  });

  it('lab/C19: that are attached cannot be deleted; the others go with their file', async () => {
    const { world, v, i } = await readyWorld([{}], [{}]);
    await using _ = world;
    await attach(world, v, i);
    const { status, error } = await world.ask('DELETE', `/v1/volumes/${v}`);
    assert.deepEqual([status, error['code'], error['details']], [409, 'InUse', { instanceId: i }]);
    await world.pass(1000);
    await detach(world, v);
    await world.pass(1000);
    await world.ask('DELETE', `/v1/volumes/${v}`);
    assert.ok(existsSync(imageOf(world, v)));
    await world.pass(1000);
    assert.ok(!existsSync(imageOf(world, v)));
  });

  it('lab/C19: need a size of their own or a snapshot, in a zone that there is', async () => {
    await using world = await cloudWorld();
    const missing = await world.ask('POST', '/v1/volumes', { body: { name: 'v', zone: 'a' } });
    assert.match(
      String(missing.error['message']),
      /sizeGiB: a volume that is not made from a snapshot needs a size/,
    );
    const nowhere = await world.ask('POST', '/v1/volumes', { body: { ...volume, zone: 'z' } });
    assert.deepEqual([nowhere.status, nowhere.error['target']], [400, 'zone']);
    assert.equal((await world.ask('POST', '/v1/volumes', { body: { ...volume, sizeGiB: 16_385 } })).status, 400);
    assert.equal((await world.ask('POST', '/v1/volumes', { body: { ...volume, type: 'floppy' } })).status, 400);
  });

  it('lab/C19: are the same after a restart', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path });
    const id = await first.make('volumes', volume);
    await first.pass(2000);
    writeFileSync(imageOf(first, id), 'content', { flag: 'r+' });
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    assert.equal((await second.look('volumes', id))['state'], 'available');
    assert.equal(statSync(imageOf(second, id)).size, 2 * GIB);
  });
});
