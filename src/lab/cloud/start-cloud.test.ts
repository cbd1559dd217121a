import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { type CloudWorldOptions, cloudWorld } from '../../../test/support/cloud-world.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { CloudError } from './cloud-error.ts';
import { defineAction, defineKind } from './resources/kind-definition.ts';
import type { KindFactory } from './resources/resource-kind.ts';
import type { KindName, ResourceRecord } from './resources/resource-record.ts';

interface LampFields {
  readonly colour: string;
  readonly watts?: number | undefined;
}

const LAMPS: KindName<LampFields> = { plural: 'lamps' };

interface LampWorld {
  readonly events: string[];
  work: () => Promise<Partial<LampFields> | undefined>;
}

/** A kind that nobody but this test knows. */
const lamps =
  (world: LampWorld): KindFactory =>
  ({ transact }) =>
    defineKind(LAMPS, {
      singular: 'lamp',
      idPrefix: 'lamp',
      states: ['mounting', 'dark', 'lit', 'unmounting', 'error'],
      name: { isUnique: true },
      quotas: { lamps: 3 },
      deletion: { during: ['unmounting'] },
      input: { colour: z.enum(['red', 'green']) },
      changes: { colour: z.enum(['red', 'green']), watts: z.int().optional() },
      create: ({ input, name }) => {
        if (name === 'forbidden') throw new CloudError('InUse', 'no');
        return { state: 'mounting', fields: { colour: input.colour } };
      },
      remove: () => ({ state: 'unmounting' }),
      actions: {
        light: defineAction({ watts: z.int() }, (_, { watts }) => ({ state: 'lit', fields: { watts } })),
      },
      transitions: {
        mounting: { durationMs: 1000, work: () => world.work(), finish: () => ({ state: 'dark' }) },
        unmounting: { durationMs: 1000, finish: () => 'gone' },
      },
      view: ({ state }) => ({ bright: state === 'lit' }),
      subresources: {
        switch: {
          methods: ['PUT'],
          serve: async (record, { body, caller }) => {
            await transact((transaction) => transaction.change(record, { state: 'lit' }));
            return { status: 200, body: { by: caller.clientId, body: body ?? null } };
          },
        },
      },
      seed: (transaction) => {
        if (transaction.list(LAMPS).length === 0)
          transaction.add(LAMPS, { name: 'first', state: 'dark', fields: { colour: 'red' } });
      },
      changed: (now, before) => void world.events.push(`${nameOf(before)} → ${nameOf(now)}`),
      dispose: async () => void world.events.push('disposed'),
    });

const nameOf = (record: ResourceRecord | undefined): string =>
  record === undefined ? '-' : `${record.name} ${record.state}`;

const lampWorld = (): LampWorld => ({ events: [], work: async () => undefined });

describe('a kind of its own', () => {
  it('lab/C2: gets paths, identifiers, lists, patches, actions and subresources without the core knowing it', async () => {
    const lampsWorld = lampWorld();
    await using world = await cloudWorld({ kinds: [lamps(lampsWorld)] });
    const id = await world.make('lamps', { name: 'desk', colour: 'green', tags: { room: '1' } });
    assert.match(id, /^lamp-[0-9a-f]{12}$/);
    await world.pass(1000);
    const lit = await world.ask('POST', `/v1/lamps/${id}/actions`, { body: { action: 'light', watts: 40 } });
    assert.deepEqual(
      [lit.status, lit.body['state'], lit.body['watts'], lit.body['bright']],
      [202, 'lit', 40, true],
    );
    const patched = await world.ask('PATCH', `/v1/lamps/${id}`, { body: { watts: null, colour: 'red' } });
    assert.deepEqual([patched.body['colour'], patched.body['watts']], ['red', undefined]);
    const switched = await world.ask('PUT', `/v1/lamps/${id}/switch`, { body: { on: true } });
    assert.deepEqual(switched.body, { by: 'lab-admin', body: { on: true } });
    assert.deepEqual(
      (await world.ask('GET', '/v1/lamps')).items.map(({ name }) => name),
      ['first', 'desk'],
    );
    assert.equal((await world.ask('GET', '/v1/resources?tag.room=1')).items[0]?.['kind'], 'lamps');
    assert.equal(
      (await world.ask('POST', '/v1/lamps', { body: { name: 'forbidden', colour: 'red' } })).status,
      409,
    );
    assert.equal(
      (await world.ask('POST', '/v1/lamps', { body: { name: 'x', color: 'red' } })).error['target'],
      'color',
    );
    assert.equal(
      (await world.ask('POST', '/v1/lamps', { body: { name: 'desk', colour: 'red' } })).error['code'],
      'AlreadyExists',
    );
    assert.equal((await world.ask('DELETE', `/v1/lamps/${id}`)).body['state'], 'unmounting');
  });

  it('is told every change in order, everything that is there at the start, and the end', async () => {
    await using directory = await scratchDirectory();
    const first = lampWorld();
    const world = await cloudWorld({ directory: directory.path, kinds: [lamps(first)] });
    const id = await world.make('lamps', { name: 'desk', colour: 'red' });
    await world.pass(1000);
    await world.ask('DELETE', `/v1/lamps/${id}`);
    await world.pass(1000);
    await world[Symbol.asyncDispose]();
    assert.deepEqual(first.events, [
      '- → first dark',
      '- → desk mounting',
      'desk mounting → desk dark',
      'desk dark → desk unmounting',
      'desk unmounting → -',
      'disposed',
    ]);
    const second = lampWorld();
    await using _again = await cloudWorld({
      directory: directory.path,
      clock: world.clock,
      kinds: [lamps(second)],
    });
    assert.deepEqual(second.events, ['- → first dark'], 'it is there, and not made again');
  });

  it('lab/C10: is in error with the reason when its work fails, and keeps what its work found', async () => {
    const lampsWorld = lampWorld();
    await using world = await cloudWorld({ kinds: [lamps(lampsWorld)] });
    lampsWorld.work = async () => ({ watts: 7 });
    const good = await world.make('lamps', { name: 'good', colour: 'red' });
    await world.pass(1000);
    assert.equal((await world.look('lamps', good))['watts'], 7);
    lampsWorld.work = async () => {
      throw new CloudError('InsufficientCapacity', 'no socket left');
    };
    const bad = await world.make('lamps', { name: 'bad', colour: 'red' });
    await world.pass(1000);
    const failed = await world.look('lamps', bad);
    assert.deepEqual(
      [failed['state'], failed['stateReason']],
      ['error', { code: 'InsufficientCapacity', message: 'no socket left' }],
    );
    const lit = await world.ask('POST', `/v1/lamps/${bad}/actions`, { body: { action: 'light', watts: 1 } });
    assert.equal(lit.body['stateReason'], undefined, 'the reason goes with the state');
  });

  it('lab/C9: counts against its own quota', async () => {
    await using world = await cloudWorld({ kinds: [lamps(lampWorld())], quotas: { lamps: 1 } });
    const { status, error } = await world.ask('POST', '/v1/lamps', { body: { name: 'x', colour: 'red' } });
    assert.deepEqual([status, error['details']], [422, { quota: 'lamps', limit: 1, used: 1 }]);
  });

  it('must not contradict itself, nor be there twice', async () => {
    const options = { singular: 'x', idPrefix: 'x', states: ['a'] };
    assert.throws(
      () => defineKind({ plural: 'xs' }, { ...options, deletion: { during: ['b'] } }),
      /xs: b is not one of a/,
    );
    await assert.rejects(
      cloudWorld({ kinds: [lamps(lampWorld()), lamps(lampWorld())] }),
      /there are two kinds lamps/,
    );
  });
});

describe('a cloud', () => {
  it('lab/C13: goes on where it ended: everything that was acknowledged is there', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path, zones: ['x', 'y'] });
    const ids = {
      volumes: await first.make('volumes', { name: 'v', sizeGiB: 1, zone: 'x', tags: { a: 'b' } }),
      instances: await first.make('instances', { name: 'w', type: 'lab.small', zone: 'y' }),
      networks: await first.make('networks', { name: 'n', cidr: '10.5.0.0/16' }),
    };
    await first.pass(3000);
    const before = await Promise.all(Object.entries(ids).map(([kind, id]) => first.look(kind, id)));
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock, zones: ['x', 'y'] });
    const after = await Promise.all(Object.entries(ids).map(([kind, id]) => second.look(kind, id)));
    assert.deepEqual(after, before);
    assert.equal(
      (await second.ask('GET', '/v1/networks')).items.length,
      2,
      'what is there from the start is there once',
    );
  });

  it('lab/C2: gives the same identifiers for the same seed, and others for another', async () => {
    const idsOf = async (seed: number) => {
      await using world = await cloudWorld({ seed });
      return [
        await world.make('volumes', { name: 'v', sizeGiB: 1, zone: 'a' }),
        await world.make('buckets', { name: 'bbb' }),
      ];
    };
    assert.deepEqual(await idsOf(1), await idsOf(1));
    assert.notDeepEqual(await idsOf(1), await idsOf(2));
  });

  it('lab/C12: never gives two requests the same identifier, not even in another life', async () => {
    await using directory = await scratchDirectory();
    const seen: (string | null)[] = [];
    for (let life = 0; life < 2; life++) {
      await using world = await cloudWorld({ directory: directory.path });
      for (let n = 0; n < 3; n++) seen.push((await world.ask('GET', '/v1/zones')).headers.get('lab-request-id'));
    }
    assert.equal(new Set(seen).size, 6);
  });

  it('reliability/P8: does not share its directory, and says so', async () => {
    await using world = await cloudWorld();
    await assert.rejects(cloudWorld({ directory: world.directory }), /is in use by another lab/);
    assert.equal((await world.ask('GET', '/v1/zones')).status, 200);
  });

  it('gives its directory free when it cannot start', async () => {
    await using directory = await scratchDirectory();
    const listen = () => Promise.reject(new Error('EADDRINUSE'));
    await assert.rejects(cloudWorld({ directory: directory.path, listen }), /EADDRINUSE/);
    await using _world = await cloudWorld({ directory: directory.path });
  });

  const wrong: readonly { readonly options: CloudWorldOptions; readonly says: RegExp }[] = [
    { options: { zones: [] }, says: /at least one zone/ },
    { options: { zones: ['Zone A'] }, says: /"Zone A" is no name of a zone/ },
    { options: { rates: { read: { perSecond: 0, burst: 1 } } }, says: /rates\.read needs perSecond above 0/ },
    { options: { rates: { write: { perSecond: 1, burst: 0 } } }, says: /rates\.write/ },
    { options: { credentials: [{ clientId: 'no good' }] }, says: /credential "no good"/ },
    { options: { credentials: [{ clientId: 'good', scope: 'everything' }] }, says: /scope "everything"/ },
  ];
  for (const { options, says } of wrong) {
    it(`refuses ${JSON.stringify(options)} with a sentence`, async () => {
      await assert.rejects(cloudWorld(options), says);
    });
  }

  it('lab/C1: keeps the secrets of its credentials out of everything but its state', async () => {
    await using world = await cloudWorld();
    const [credential] = world.cloud.credentials();
    const secret = credential?.clientSecret ?? '';
    assert.ok(secret.length >= 32);
    assert.ok(readFileSync(join(world.directory, 'cloud', 'state.log'), 'utf8').includes(secret));
    assert.ok(!(await world.ask('GET', '/lab/journal')).text.includes(secret));
    assert.ok(!(await world.ask('GET', '/v1/resources')).text.includes(secret));
  });
});
