import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cloudWorld } from '../../../test/support/cloud-world.ts';
import { instanceCredentials } from './instance-credentials.ts';

it('lab/C28: an instance has a credential of its own that may only read, and none when it is gone', async () => {
  await using world = await cloudWorld();
  const { cloud } = world;
  const [first, second] = [
    await world.make('instances', { name: 'a', type: 'lab.small', zone: 'a' }),
    await world.make('instances', { name: 'b', type: 'lab.small', zone: 'a' }),
  ];
  await world.pass(5000);
  const credentials = instanceCredentials(cloud);
  const given = await credentials(first);
  const again = await credentials(first);
  assert.equal(again?.clientId, given?.clientId);
  const ask = (method: string, token = '') =>
    fetch(`${cloud.url}/v1/volumes`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: '{"name":"v","sizeGiB":1,"zone":"a"}' }),
    }).then(({ status }) => status);
  assert.deepEqual([await ask('GET', given?.token), await ask('POST', given?.token)], [200, 403]);
  await world.ask('DELETE', `/v1/instances/${first}`);
  await world.pass(10_000);
  assert.equal(await ask('GET', given?.token), 401, 'at once, whoever asks for credentials later');
  assert.equal(await credentials(first), undefined);
  const other = await credentials(second);
  assert.equal(await ask('GET', other?.token), 200);
  assert.equal(await credentials('i-unknown'), undefined);
});

it('lab/C28: credentials of instances that are gone are forgotten, whoever asks at the same time', async () => {
  await using world = await cloudWorld();
  const credentials = instanceCredentials(world.cloud);
  const make = (name: string) => world.make('instances', { name, type: 'lab.small', zone: 'a' });
  const dead = [await make('a'), await make('b')];
  for (const id of dead) await credentials(id);
  for (const id of dead) await world.ask('DELETE', `/v1/instances/${id}`);
  await world.pass(10_000);
  const live = [await make('c'), await make('d')];
  const given = await Promise.all([...live, ...live].map((id) => credentials(id)));
  assert.deepEqual(
    given.map((one) => one?.clientId),
    [...live, ...live].map((id) => `instance.${id}`),
  );
  const kept = world.cloud.state.entries({ shelf: 'credentials' }).map(([clientId]) => clientId);
  assert.deepEqual(
    kept.filter((clientId) => clientId.startsWith('instance.')),
    live.map((id) => `instance.${id}`),
  );
});
