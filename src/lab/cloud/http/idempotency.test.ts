import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Answered, type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory, until } from '../../../../test/support/scratch.ts';

const volume = { name: 'v', sizeGiB: 1, zone: 'a' };
const DAY_MS = 86_400_000;

const keyed = (world: CloudWorld, key: string, body: object = volume, as = 'lab-admin'): Promise<Answered> =>
  world.ask('POST', '/v1/volumes', { body, headers: { 'idempotency-key': key }, as });

const count = (world: CloudWorld): number => world.cloud.state.list({ plural: 'volumes' }).length;

describe('requests with an Idempotency-Key', () => {
  it('lab/C4: are answered the same again, and done once', async () => {
    await using world = await cloudWorld();
    const first = await keyed(world, 'k');
    await world.pass(2000);
    const second = await keyed(world, 'k');
    assert.equal(count(world), 1);
    assert.deepEqual([second.status, second.text], [first.status, first.text]);
    assert.equal(second.headers.get('etag'), first.headers.get('etag'));
    assert.equal(second.headers.get('lab-operation'), first.headers.get('lab-operation'));
  });

  it('lab/C4: are the same whatever the order of the fields', async () => {
    await using world = await cloudWorld();
    const first = await keyed(world, 'k', { name: 'v', sizeGiB: 1, zone: 'a', tags: { b: '1', a: '2' } });
    const second = await keyed(world, 'k', { tags: { a: '2', b: '1' }, zone: 'a', sizeGiB: 1, name: 'v' });
    assert.equal(second.text, first.text);
    assert.equal(count(world), 1);
  });

  const others = [
    { name: 'a field', path: '/v1/volumes', body: { ...volume, name: 'other' } },
    { name: 'a field more', path: '/v1/volumes', body: { ...volume, tags: {} } },
    { name: 'another kind', path: '/v1/instances', body: volume },
  ];
  for (const { name, path, body } of others) {
    it(`lab/C4: for something else (${name}) are 409 IdempotencyMismatch`, async () => {
      await using world = await cloudWorld();
      await keyed(world, 'k');
      const { status, error } = await world.ask('POST', path, { body, headers: { 'idempotency-key': 'k' } });
      assert.deepEqual([status, error['code'], error['retryable']], [409, 'IdempotencyMismatch', false]);
      assert.equal(count(world), 1);
    });
  }

  it('lab/C4: are the same even when the object has been deleted since', async () => {
    await using world = await cloudWorld();
    const first = await keyed(world, 'k');
    await world.pass(2000);
    await world.ask('DELETE', `/v1/volumes/${String(first.body['id'])}`);
    await world.pass(2000);
    assert.equal(count(world), 0);
    assert.equal((await keyed(world, 'k')).text, first.text);
    assert.equal(count(world), 0);
  });

  it('lab/C4: are new after a day of lab time', async () => {
    await using world = await cloudWorld({ tokenLifeSeconds: 200_000 });
    const first = await keyed(world, 'k');
    await world.clock.advance(DAY_MS - 1);
    assert.equal((await keyed(world, 'k')).body['id'], first.body['id']);
    await world.clock.advance(1);
    assert.notEqual((await keyed(world, 'k')).body['id'], first.body['id']);
  });

  it('lab/C4: are 409 IncorrectState, to be tried again, while the first is running', async () => {
    await using world = await cloudWorld();
    world.cloud.fault({ match: { method: 'POST', kind: 'volumes', nth: 1 }, effect: { delayMs: 5000 } });
    const first = keyed(world, 'k');
    await until(
      () => world.cloud.journal({ kind: 'volumes' }).some(({ faults }) => faults !== undefined),
      'it runs',
    );
    const second = await keyed(world, 'k');
    assert.deepEqual(
      [second.status, second.error['code'], second.error['retryable']],
      [409, 'IncorrectState', true],
    );
    await world.clock.advance(5000);
    const done = await first;
    assert.equal(done.status, 202);
    assert.equal((await keyed(world, 'k')).text, done.text);
  });

  it('lab/C4: belong to the client that sent them', async () => {
    await using world = await cloudWorld();
    const mine = await keyed(world, 'k');
    const theirs = await keyed(world, 'k', volume, 'lab-provider');
    assert.notEqual(mine.body['id'], theirs.body['id']);
  });

  it('lab/C4: may be tried again when they were refused: nothing has happened', async () => {
    await using world = await cloudWorld({ quotas: { volumes: 1 } });
    const id = await world.make('volumes', volume);
    await world.pass(2000);
    assert.equal((await keyed(world, 'k')).status, 422);
    await world.ask('DELETE', `/v1/volumes/${id}`);
    await world.pass(2000);
    assert.equal((await keyed(world, 'k')).status, 202);
  });

  it('lab/C4: are known for actions, too', async () => {
    await using world = await cloudWorld();
    const id = await world.make('instances', { name: 'w', type: 'lab.small', zone: 'a' });
    await world.pass(3000);
    const act = () =>
      world.ask('POST', `/v1/instances/${id}/actions`, {
        body: { action: 'reboot' },
        headers: { 'idempotency-key': 'once' },
      });
    const first = await act();
    await world.pass(5000);
    assert.equal((await act()).text, first.text);
    assert.equal((await world.look('instances', id))['state'], 'running', 'it was rebooted once');
  });

  for (const key of ['', 'k'.repeat(129)]) {
    it(`lab/C4: of ${key.length} characters are refused`, async () => {
      await using world = await cloudWorld();
      const { status, error } = await keyed(world, key);
      assert.deepEqual([status, error['target']], [400, 'Idempotency-Key']);
    });
  }

  it('lab/C4: with 128 characters, and those that objects of the language have, are keys as any other', async () => {
    await using world = await cloudWorld();
    const ids = new Set<unknown>();
    for (const key of ['k'.repeat(128), '__proto__', 'constructor', '1']) {
      const { body } = await keyed(world, key);
      assert.equal((await keyed(world, key)).body['id'], body['id']);
      ids.add(body['id']);
    }
    assert.equal(ids.size, 4);
  });

  it('lab/C4: are known after a restart', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path });
    const answer = await keyed(first, 'k');
    const strange = await keyed(first, '__proto__');
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    assert.equal((await keyed(second, 'k')).text, answer.text);
    assert.equal((await keyed(second, '__proto__')).text, strange.text);
    assert.equal(count(second), 2);
  });

  it('lab/C4: give one object for each key, however repeats and losses follow each other', async () => {
    await using world = await cloudWorld();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const name = `run-${run++}`;
        const ids = new Map<string, Set<unknown>>();
        for (const each of steps) {
          const answered = await asked(world, name, each);
          ids.set(each.key, new Set([...(ids.get(each.key) ?? []), ...answered]));
        }
        for (const [key, found] of ids) assert.ok(found.size <= 1, `${key} was answered with several objects`);
        const made = world.cloud.state.list({ plural: 'volumes' }).filter(({ tags }) => tags['run'] === name);
        assert.equal(new Set(made.map(({ tags }) => tags['key'])).size, made.length, 'a key made two objects');
        for (const { id } of made) await world.ask('DELETE', `/v1/volumes/${id}`);
        await world.pass(1000);
      }),
      { numRuns: 20 },
    );
  });
});

const step = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  /** Where the first of the repeats is cut, if anywhere. */
  loss: fc.constantFrom(undefined, 'request' as const, 'commit' as const),
  repeats: fc.integer({ min: 1, max: 3 }),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** The objects that repeats of one request at the same time were answered with. */
async function asked(world: CloudWorld, run: string, { key, loss, repeats }: Step): Promise<readonly unknown[]> {
  const effect = { dropAfter: loss };
  using _fault = loss && world.cloud.fault({ match: { tag: { run }, nth: 1 }, effect });
  const body = { ...volume, tags: { run, key }, name: key };
  const requests = Array.from({ length: repeats }, () =>
    keyed(world, `${run}-${key}`, body).catch(() => undefined),
  );
  const answers = await Promise.all(requests);
  return answers.filter((answer) => answer?.status === 202).map((answer) => answer?.body['id']);
}
