import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';

const instance = { name: 'w-1', type: 'lab.medium', zone: 'a' };
const HOUR_MS = 3_600_000;

const act = (world: CloudWorld, id: string, action: string) =>
  world.ask('POST', `/v1/instances/${id}/actions`, { body: { action } });
const stateOf = async (world: CloudWorld, id: string) => (await world.look('instances', id))['state'];

describe('instances', () => {
  it('lab/C13: have an address, a host name, a provider identifier and a card, which stay over stop and start', async () => {
    await using world = await cloudWorld();
    const id = await world.make('instances', instance);
    const made = await world.look('instances', id);
    assert.match(String(made['privateAddress']), /^10\.77\.31\.\d+$/);
    assert.equal(made['publicAddress'], String(made['privateAddress']).replace(/^10/, '127'));
    assert.equal(made['hostname'], 'w-1.a.lab.internal');
    assert.equal(made['providerID'], `lab://a/${id}`);
    assert.match(String(made['mac']), /^02(:[0-9a-f]{2}){5}$/);
    assert.deepEqual([made['vcpus'], made['memoryMiB'], made['gpus']], [2, 8192, 0]);
    await world.pass(3000);
    await act(world, id, 'stop');
    await world.pass(2000);
    await act(world, id, 'start');
    await world.pass(2000);
    const again = await world.look('instances', id);
    assert.equal(again['state'], 'running');
    for (const fact of ['privateAddress', 'publicAddress', 'hostname', 'providerID', 'mac'])
      assert.equal(again[fact], made[fact], fact);
  });

  it('lab/C13: keep the host name when they are renamed', async () => {
    await using world = await cloudWorld();
    const id = await world.make('instances', instance);
    await world.ask('PATCH', `/v1/instances/${id}`, { body: { name: 'other' } });
    const renamed = await world.look('instances', id);
    assert.deepEqual([renamed['name'], renamed['hostname']], ['other', 'w-1.a.lab.internal']);
  });

  it('lab/C13: each have their own address, also beside those that are terminated', async () => {
    await using world = await cloudWorld();
    const ids = [await world.make('instances', instance), await world.make('instances', instance)];
    await world.ask('DELETE', `/v1/instances/${ids[0]}`);
    await world.pass(2000);
    ids.push(await world.make('instances', instance));
    const facts = await Promise.all(ids.map((id) => world.look('instances', id)));
    assert.equal(new Set(facts.map((fact) => fact['privateAddress'])).size, 3);
    assert.equal(new Set(facts.map((fact) => fact['mac'])).size, 3);
  });

  it('lab/C13: tell power apart from existence', async () => {
    await using world = await cloudWorld();
    const id = await world.make('instances', instance);
    const powerOf = async () => (await world.look('instances', id))['powerState'];
    assert.equal(await powerOf(), 'off');
    await world.pass(3000);
    assert.equal(await powerOf(), 'on');
    await act(world, id, 'stop');
    assert.equal(await powerOf(), 'off');
    await world.pass(2000);
    assert.deepEqual([await stateOf(world, id), await powerOf()], ['stopped', 'off']);
  });

  it('lab/C13: are seen as terminated for an hour, which proves that they are gone, and then no more', async () => {
    await using world = await cloudWorld({ consistencyMs: 2000, tokenLifeSeconds: 100_000 });
    const id = await world.make('instances', instance);
    assert.equal(
      (await world.ask('GET', `/v1/instances/${id}`)).status,
      404,
      'a 404 proves nothing within the window',
    );
    await world.pass(3000);
    assert.equal((await world.ask('DELETE', `/v1/instances/${id}`)).body['state'], 'shutting-down');
    assert.equal((await world.ask('DELETE', `/v1/instances/${id}`)).status, 202);
    await world.pass(4000);
    assert.equal((await world.ask('GET', `/v1/instances/${id}`)).body['state'], 'terminated');
    const again = await world.ask('DELETE', `/v1/instances/${id}`);
    assert.deepEqual(
      [again.status, again.error['code']],
      [404, 'NotFound'],
      'there is nothing to delete any more',
    );
    await world.clock.advance(HOUR_MS - 2001);
    assert.equal((await world.ask('GET', `/v1/instances/${id}`)).body['state'], 'terminated');
    await world.clock.advance(1);
    assert.equal((await world.ask('GET', `/v1/instances/${id}`)).status, 404);
    assert.equal((await world.ask('GET', '/v1/instances')).items.length, 0);
  });

  const steps = [
    { from: 'pending', action: 'start', want: 202, state: 'pending' },
    { from: 'pending', action: 'stop', want: 409, state: 'pending' },
    { from: 'running', action: 'start', want: 202, state: 'running' },
    { from: 'running', action: 'stop', want: 202, state: 'stopping' },
    { from: 'running', action: 'reboot', want: 202, state: 'rebooting' },
    { from: 'stopping', action: 'stop', want: 202, state: 'stopping' },
    { from: 'stopping', action: 'start', want: 409, state: 'stopping' },
    { from: 'stopped', action: 'stop', want: 202, state: 'stopped' },
    { from: 'stopped', action: 'start', want: 202, state: 'starting' },
    { from: 'stopped', action: 'reboot', want: 409, state: 'stopped' },
    { from: 'rebooting', action: 'reboot', want: 202, state: 'rebooting' },
    { from: 'shutting-down', action: 'start', want: 409, state: 'shutting-down' },
    { from: 'terminated', action: 'start', want: 409, state: 'terminated' },
  ];
  for (const { from, action, want, state } of steps) {
    it(`lab/C13: that are ${from} answer ${action} with ${want} and are ${state} then`, async () => {
      await using world = await cloudWorld();
      const id = await world.make('instances', instance);
      await bringTo(world, id, from);
      const { status, error } = await act(world, id, action);
      assert.deepEqual([status, await stateOf(world, id)], [want, state]);
      if (want === 409) assert.equal(error['code'], 'IncorrectState');
    });
  }

  describe('of a wish that cannot be', () => {
    let world: CloudWorld;
    before(async () => {
      world = await cloudWorld();
    });
    after(() => world[Symbol.asyncDispose]());

    const bad = [
      { more: { zone: 'c' }, status: 400, says: /zone: there is no "c": did you mean a\?|known are a, b/ },
      { more: { type: 'lab.smal' }, status: 400, says: /type: there is no "lab.smal": did you mean lab.small\?/ },
      { more: { imageId: 'img-000000000000' }, status: 404, says: /there is no image img-000000000000/ },
      { more: { networkId: 'net-000000000000' }, status: 404, says: /there is no network net-/ },
      { more: { userData: '%%%' }, status: 400, says: /userData: must be base64/ },
      { more: { userData: 'A'.repeat(65_540) }, status: 400, says: /userData: has at most 65536 characters/ },
      { more: { name: 'Not A Host' }, status: 400, says: /name: must be a name such as worker-1/ },
      { more: { placement: { rack: '1' } }, status: 400, says: /placement\.rack/ },
    ];
    for (const { more, status, says } of bad) {
      it(`lab/C13: ${JSON.stringify(more).slice(0, 40)} are not made, with the reason`, async () => {
        const answer = await world.ask('POST', '/v1/instances', { body: { ...instance, ...more } });
        assert.equal(answer.status, status);
        assert.match(String(answer.error['message']), says);
      });
    }

    it('lab/C13: userData of 64 KiB in base64 is kept, and never shown', async () => {
      const userData = Buffer.from('canary'.repeat(8192)).toString('base64');
      assert.equal(userData.length, 65_536);
      const answer = await world.ask('POST', '/v1/instances', { body: { ...instance, userData } });
      assert.equal(answer.status, 202);
      assert.ok(!answer.text.includes('userData'));
      assert.equal(
        world.cloud.state.get({ plural: 'instances' }, String(answer.body['id']))?.hidden?.['userData'],
        userData,
      );
    });

    it('lab/C13: an image that is not there yet is a reason to try again', async () => {
      const imageId = await world.make('images', { name: 'i', format: 'raw' });
      const { status, error } = await world.ask('POST', '/v1/instances', { body: { ...instance, imageId } });
      assert.deepEqual(
        [status, error['code'], error['retryable'], error['target']],
        [409, 'IncorrectState', true, 'imageId'],
      );
    });
  });

  it('lab/C3: are InsufficientCapacity in a zone that has none, at create and at start', async () => {
    await using world = await cloudWorld();
    const id = await world.make('instances', instance);
    await bringTo(world, id, 'stopped');
    await world.ask('PATCH', '/v1/zones/a', { body: { available: false } });
    assert.equal(
      (await world.ask('POST', '/v1/instances', { body: instance })).error['code'],
      'InsufficientCapacity',
    );
    assert.equal((await act(world, id, 'start')).error['code'], 'InsufficientCapacity');
    assert.equal((await world.ask('POST', '/v1/instances', { body: { ...instance, zone: 'b' } })).status, 202);
  });
});

/** The way to each state, as actions and the time they take. */
const WAYS: Readonly<Record<string, readonly (string | number)[]>> = {
  pending: [],
  running: [3000],
  stopping: [3000, 'stop'],
  stopped: [3000, 'stop', 2000],
  rebooting: [3000, 'reboot'],
  'shutting-down': ['delete'],
  terminated: ['delete', 2000],
};

async function bringTo(world: CloudWorld, id: string, state: string): Promise<void> {
  for (const step of WAYS[state] ?? []) {
    if (typeof step === 'number') await world.pass(step);
    else if (step === 'delete') await world.ask('DELETE', `/v1/instances/${id}`);
    else await act(world, id, step);
  }
  assert.equal(await stateOf(world, id), state);
}
