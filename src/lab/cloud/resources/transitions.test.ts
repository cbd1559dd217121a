import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Body, type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory } from '../../../../test/support/scratch.ts';

const volume = { name: 'v', sizeGiB: 1, zone: 'a' };

const operationOf = async (world: CloudWorld, body: Body): Promise<Body> => {
  const answer = await world.ask('GET', `/v1/operations/${String(body['operationId'])}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};

describe('states that end by themselves', () => {
  it('lab/C10: last their time in the lab, and have an operation that tells how far they are', async () => {
    await using world = await cloudWorld({ durations: { 'volumes.creating': 4000 } });
    const { status, body, headers } = await world.ask('POST', '/v1/volumes', { body: volume });
    assert.deepEqual([status, body['state']], [202, 'creating']);
    assert.equal(headers.get('lab-operation'), body['operationId']);
    const begun = await operationOf(world, body);
    assert.deepEqual([begun['state'], begun['progress'], begun['targetId']], ['running', 0, body['id']]);
    await world.pass(2000);
    const half = await operationOf(world, body);
    assert.deepEqual([half['state'], half['progress']], ['running', 49]);
    await world.pass(1999);
    assert.equal((await world.look('volumes', String(body['id'])))['state'], 'creating');
    await world.pass(1);
    const done = await operationOf(world, body);
    assert.deepEqual([done['state'], done['progress'], done['error']], ['succeeded', 100, undefined]);
    const after = await world.look('volumes', String(body['id']));
    assert.deepEqual([after['state'], after['operationId']], ['available', undefined]);
  });

  it('lab/C10: take one to five seconds unless told otherwise', async () => {
    await using world = await cloudWorld();
    const id = await world.make('volumes', volume);
    const other = await world.make('instances', { name: 'w', type: 'lab.small', zone: 'a' });
    await world.pass(999);
    assert.equal((await world.look('volumes', id))['state'], 'creating');
    assert.equal((await world.look('instances', other))['state'], 'pending');
    await world.pass(4001);
    assert.equal((await world.look('volumes', id))['state'], 'available');
    assert.equal((await world.look('instances', other))['state'], 'running');
  });

  it('lab/C10: may all take the same time, or none', async () => {
    await using world = await cloudWorld({ durations: 0 });
    const id = await world.make('volumes', volume);
    await world.pass(1);
    assert.equal((await world.look('volumes', id))['state'], 'available');
  });

  it('lab/C10: leave the object in error with the reason when they fail, and then it can be deleted', async () => {
    await using world = await cloudWorld();
    const body = { name: 'i', format: 'raw', source: 'http://127.0.0.1:9/nothing' };
    const made = await world.ask('POST', '/v1/images', { body });
    await world.pass(4000);
    const failed = await world.look('images', String(made.body['id']));
    const reason = failed['stateReason'];
    assert.equal(failed['state'], 'error');
    assert.match(
      JSON.stringify(reason),
      /"code":"Unavailable","message":"http:\/\/127\.0\.0\.1:9\/nothing could not be fetched/,
    );
    const operation = await operationOf(world, made.body);
    assert.deepEqual([operation['state'], operation['error']], ['failed', reason]);
    assert.equal((await world.ask('DELETE', `/v1/images/${String(made.body['id'])}`)).status, 202);
  });

  it('lab/C10: give way to a deletion, and their operation says so', async () => {
    await using world = await cloudWorld();
    const made = await world.ask('POST', '/v1/instances', { body: { name: 'w', type: 'lab.small', zone: 'a' } });
    const gone = await world.ask('DELETE', `/v1/instances/${String(made.body['id'])}`);
    assert.notEqual(gone.body['operationId'], made.body['operationId']);
    const first = await operationOf(world, made.body);
    assert.equal(first['state'], 'failed');
    assert.match(JSON.stringify(first['error']), /IncorrectState.*became shutting-down/);
    await world.pass(10_000);
    assert.equal((await operationOf(world, gone.body))['state'], 'succeeded');
    assert.equal((await world.look('instances', String(made.body['id'])))['state'], 'terminated');
  });

  it('lab/C10: are one operation when one follows the other', async () => {
    await using world = await cloudWorld();
    const made = await world.ask('POST', '/v1/images', {
      body: { name: 'i', format: 'raw', source: 'http://127.0.0.1:9/nothing' },
    });
    await world.pass(1500);
    const importing = await world.look('images', String(made.body['id']));
    assert.deepEqual([importing['state'], importing['operationId']], ['importing', made.body['operationId']]);
  });

  it('lab/C10: go on after a restart with what is left of their time', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path, durations: { 'volumes.creating': 4000 } });
    const { body } = await first.ask('POST', '/v1/volumes', { body: volume });
    await first.pass(1000);
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    await second.pass(2999);
    assert.equal((await second.look('volumes', String(body['id'])))['state'], 'creating');
    await second.pass(1);
    assert.equal((await second.look('volumes', String(body['id'])))['state'], 'available');
    assert.equal((await operationOf(second, body))['state'], 'succeeded');
  });

  it('lab/C10: can be asked for a day after they have ended', async () => {
    await using world = await cloudWorld({ tokenLifeSeconds: 1_000_000 });
    const { body } = await world.ask('POST', '/v1/volumes', { body: volume });
    await world.pass(2000);
    await world.clock.advance(86_000_000);
    await world.make('volumes', volume);
    assert.equal((await operationOf(world, body))['state'], 'succeeded');
    await world.clock.advance(1_000_000);
    await world.make('volumes', volume);
    assert.equal((await world.ask('GET', `/v1/operations/${String(body['operationId'])}`)).status, 404);
  });
});
