import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { HttpInstanceCloud } from './http-instance-cloud.ts';

const SIGNAL = new AbortController().signal;

const cloudOf = (world: CloudWorld) =>
  new HttpInstanceCloud({
    url: world.cloud.url,
    token: () => world.cloud.issueToken(world.cloud.credentials()[0]?.clientId ?? '').token,
    zone: 'a',
    tags: { purpose: 'test' },
  });

describe('instances of the lab cloud over its API', () => {
  it('makes one instance for a key, however often it is asked', async () => {
    await using world = await cloudWorld();
    const cloud = cloudOf(world);
    const wish = { name: 'worker-1', userData: '{"ignition":{"version":"3.2.0"}}' };
    const first = await cloud.ensure('key', wish, SIGNAL);
    await world.pass(10_000);
    const second = await cloud.ensure('key', wish, SIGNAL);
    assert.deepEqual([second.id, second.state], [first.id, 'running']);
    assert.match(second.providerId, /^lab:\/\/a\/i-/);
    assert.match(second.hostname, /^worker-1\./);
    assert.deepEqual(
      second.addresses.map(({ type }) => type),
      ['InternalIP', 'ExternalIP', 'Hostname'],
    );
    const { items } = await world.ask('GET', '/v1/instances?tag.purpose=test');
    assert.equal(items.length, 1);
  });

  it('removes it, and makes another one afterwards, under another key or the same', async () => {
    await using world = await cloudWorld();
    const cloud = cloudOf(world);
    const wish = { name: 'worker-1', userData: '' };
    const { id } = await cloud.ensure('old', wish, SIGNAL);
    await world.pass(10_000);
    assert.equal((await cloud.find('old', SIGNAL))?.id, id);
    assert.equal(await cloud.remove('old', SIGNAL), false);
    assert.equal(await cloud.find('old', SIGNAL), undefined);
    await world.pass(10_000);
    assert.equal(await cloud.remove('old', SIGNAL), true);
    const again = await cloud.ensure('old', wish, SIGNAL);
    assert.notEqual(again.id, id);
    assert.equal((await cloud.ensure('old', wish, SIGNAL)).id, again.id);
    assert.equal(await cloud.remove('old', SIGNAL), false);
    await world.pass(10_000);
    assert.notEqual((await cloud.ensure('new', wish, SIGNAL)).id, id);
    assert.equal(await cloud.remove('unknown', SIGNAL), true);
  });

  it('tells whoever wrote the machine what the cloud refuses', async () => {
    await using world = await cloudWorld();
    const wish = { name: 'worker-1', userData: '', type: 'lab.enormous' };
    await assert.rejects(cloudOf(world).ensure('key', wish, SIGNAL), (error: unknown) => {
      assert.ok(error instanceof Error && 'disposition' in error);
      assert.equal(error.disposition, 'user');
      assert.match(error.message, /lab.enormous/);
      return true;
    });
  });
});
