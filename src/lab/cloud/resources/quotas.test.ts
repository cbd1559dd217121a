import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloudWorld } from '../../../../test/support/cloud-world.ts';

const volume = { name: 'v', sizeGiB: 1, zone: 'a' };
const instance = { name: 'w', type: 'lab.large', zone: 'a' };

describe('quotas', () => {
  const limits = [
    { kind: 'instances', quota: 'instances', limit: 20, body: { ...instance, type: 'lab.small' } },
    { kind: 'instances', quota: 'vcpus', limit: 64, body: { ...instance, type: 'lab.xlarge' } },
    { kind: 'volumes', quota: 'volumes', limit: 50, body: volume },
    { kind: 'volumes', quota: 'volume-gib', limit: 5000, body: { ...volume, sizeGiB: 1000 } },
    { kind: 'addresses', quota: 'addresses', limit: 10, body: {} },
  ];
  for (const { kind, quota, limit, body } of limits) {
    it(`lab/C9: of ${quota} end at ${limit} unless told otherwise`, async () => {
      await using world = await cloudWorld();
      let answer = await world.ask('POST', `/v1/${kind}`, { body });
      for (let n = 0; n < limit && answer.status !== 422; n++)
        answer = await world.ask('POST', `/v1/${kind}`, { body });
      assert.deepEqual(
        [answer.status, answer.error['code'], answer.error['retryable']],
        [422, 'QuotaExceeded', false],
      );
      assert.deepEqual(answer.error['details'], { quota, limit, used: limit });
    });
  }

  it('lab/C9: of snapshots end at 100', async () => {
    await using world = await cloudWorld();
    const volumeId = await world.make('volumes', volume);
    await world.pass(2000);
    for (let n = 0; n < 100; n++) await world.make('snapshots', { name: 's', volumeId });
    const { status, error } = await world.ask('POST', '/v1/snapshots', { body: { name: 's', volumeId } });
    assert.deepEqual([status, error['details']], [422, { quota: 'snapshots', limit: 100, used: 100 }]);
  });

  it('lab/C9: are checked in one step with the create: of many at once exactly those that fit succeed', async () => {
    await using world = await cloudWorld({ quotas: { volumes: 3 } });
    await world.ask('GET', '/v1/zones');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => world.ask('POST', '/v1/volumes', { body: volume })),
    );
    assert.equal(answers.filter(({ status }) => status === 202).length, 3);
    assert.equal(answers.filter(({ status }) => status === 422).length, 7);
    assert.equal(world.cloud.state.list({ plural: 'volumes' }).length, 3);
  });

  it('lab/C9: are free again when a deletion is complete, not when it begins', async () => {
    await using world = await cloudWorld({ quotas: { volumes: 1 } });
    const id = await world.make('volumes', volume);
    await world.pass(2000);
    await world.ask('DELETE', `/v1/volumes/${id}`);
    assert.equal((await world.ask('POST', '/v1/volumes', { body: volume })).status, 422);
    await world.pass(1000);
    assert.equal((await world.ask('POST', '/v1/volumes', { body: volume })).status, 202);
  });

  it('lab/C9: of an instance are free when it is terminated, although it can be seen for an hour', async () => {
    await using world = await cloudWorld({ quotas: { instances: 1 } });
    const id = await world.make('instances', instance);
    await world.ask('DELETE', `/v1/instances/${id}`);
    assert.equal((await world.ask('POST', '/v1/instances', { body: instance })).status, 422);
    await world.pass(2000);
    assert.equal((await world.look('instances', id))['state'], 'terminated');
    assert.equal((await world.ask('POST', '/v1/instances', { body: instance })).status, 202);
  });

  it('lab/C9: are checked when an object grows', async () => {
    await using world = await cloudWorld({ quotas: { 'volume-gib': 10 } });
    const id = await world.make('volumes', { ...volume, sizeGiB: 4 });
    const { status, error } = await world.ask('PATCH', `/v1/volumes/${id}`, { body: { sizeGiB: 11 } });
    assert.deepEqual([status, error['details']], [422, { quota: 'volume-gib', limit: 10, used: 4 }]);
    assert.equal((await world.look('volumes', id))['sizeGiB'], 4);
    assert.equal((await world.ask('PATCH', `/v1/volumes/${id}`, { body: { sizeGiB: 10 } })).status, 200);
  });

  it('lab/C9: count what is in error, until it is deleted', async () => {
    await using world = await cloudWorld({ quotas: { images: 1 } });
    const body = { name: 'i', format: 'raw', source: 'http://127.0.0.1:9/nothing' };
    const id = await world.make('images', body);
    await world.pass(4000);
    assert.equal((await world.look('images', id))['state'], 'error');
    assert.equal((await world.ask('POST', '/v1/images', { body })).status, 422);
    await world.ask('DELETE', `/v1/images/${id}`);
    assert.equal((await world.ask('POST', '/v1/images', { body })).status, 202);
  });

  it('lab/C9: cost no addresses when they refuse', async () => {
    await using world = await cloudWorld({ quotas: { addresses: 1, instances: 1 } });
    const first = await world.make('addresses', {});
    for (let n = 0; n < 5; n++) assert.equal((await world.ask('POST', '/v1/addresses', { body: {} })).status, 422);
    const address = String((await world.look('addresses', first))['address']);
    await world.ask('DELETE', `/v1/addresses/${first}`);
    const second = await world.look('addresses', await world.make('addresses', {}));
    const host = (text: unknown) => Number(String(text).split('.').at(-1));
    assert.equal(host(second['address']), host(address) + 1);
  });

  it('of a scenario that no kind knows are refused at the start, with what was meant', async () => {
    await assert.rejects(
      cloudWorld({ quotas: { instance: 3 } }),
      /quotas does not know "instance": did you mean instances\?/,
    );
    await assert.rejects(
      cloudWorld({ durations: { 'volumes.create': 3 } }),
      /durations does not know "volumes.create"/,
    );
    await assert.rejects(cloudWorld({ consistencyMs: { volume: 3 } }), /did you mean volumes\?/);
  });
});
