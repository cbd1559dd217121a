import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answered, type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { CLOUD_ERROR_CODES, statusOfCode } from '../cloud-error.ts';

const volume = { name: 'v', sizeGiB: 1, zone: 'a' };

/** Each refusal as a client meets it. */
const PROVOCATIONS: Readonly<
  Record<string, { readonly status: number; readonly by: (world: CloudWorld) => Promise<Answered> }>
> = {
  InvalidArgument: {
    status: 400,
    by: (world) => world.ask('POST', '/v1/volumes', { body: { ...volume, sizeGiB: 0 } }),
  },
  UnknownField: { status: 400, by: (world) => world.ask('POST', '/v1/volumes', { body: { ...volume, size: 1 } }) },
  Unauthenticated: {
    status: 401,
    by: (world) => world.ask('GET', '/v1/volumes', { headers: { authorization: '' } }),
  },
  TokenExpired: {
    status: 401,
    by: async (world) => {
      const headers = { authorization: `Bearer ${await world.token('lab-provider')}` };
      await world.clock.advance(3_600_000);
      return await world.ask('GET', '/v1/volumes', { headers });
    },
  },
  Forbidden: { status: 403, by: (world) => world.ask('GET', '/lab/faults', { as: 'lab-provider' }) },
  NotFound: { status: 404, by: (world) => world.ask('GET', '/v1/volumes/vol-000000000000') },
  AlreadyExists: {
    status: 409,
    by: async (world) => {
      await world.make('buckets', { name: 'bucket' });
      return await world.ask('POST', '/v1/buckets', { body: { name: 'bucket' } });
    },
  },
  IncorrectState: {
    status: 409,
    by: async (world) => {
      const volumeId = await world.make('volumes', volume);
      return await world.ask('POST', '/v1/snapshots', { body: { name: 's', volumeId } });
    },
  },
  InUse: {
    status: 409,
    by: async (world) => {
      const id = await world.make('buckets', { name: 'bucket' });
      await world.ask('PUT', `/v1/buckets/${id}/objects/key`, { body: 'x' });
      return await world.ask('DELETE', `/v1/buckets/${id}`);
    },
  },
  IdempotencyMismatch: {
    status: 409,
    by: async (world) => {
      const headers = { 'idempotency-key': 'k' };
      await world.ask('POST', '/v1/volumes', { body: volume, headers });
      return await world.ask('POST', '/v1/volumes', { body: { ...volume, name: 'other' }, headers });
    },
  },
  PreconditionFailed: {
    status: 412,
    by: async (world) => {
      const id = await world.make('volumes', volume);
      return await world.ask('DELETE', `/v1/volumes/${id}`, { headers: { 'if-match': '"5"' } });
    },
  },
  QuotaExceeded: {
    status: 422,
    by: (world) => world.ask('POST', '/v1/volumes', { body: { ...volume, sizeGiB: 6000 } }),
  },
  RateLimited: {
    status: 429,
    by: async () => {
      await using slow = await cloudWorld({ rates: { read: { perSecond: 1, burst: 1 } } });
      await slow.ask('GET', '/v1/zones');
      return await slow.ask('GET', '/v1/zones');
    },
  },
  Internal: {
    status: 500,
    by: async (world) => {
      using _fault = world.cloud.fault({ match: { kind: 'zones' }, effect: { status: 500 } });
      return await world.ask('GET', '/v1/zones');
    },
  },
  Unavailable: {
    status: 503,
    by: async (world) => {
      using _fault = world.cloud.fault({ match: { kind: 'zones' }, effect: { status: 503 } });
      return await world.ask('GET', '/v1/zones');
    },
  },
  InsufficientCapacity: {
    status: 503,
    by: async (world) => {
      await world.ask('PATCH', '/v1/zones/b', { body: { available: false } });
      return await world.ask('POST', '/v1/volumes', { body: { ...volume, zone: 'b' } });
    },
  },
};

const RETRYABLE = new Set(['RateLimited', 'Internal', 'Unavailable', 'InsufficientCapacity', 'IncorrectState']);

describe('refusals', () => {
  for (const [code, { status, by }] of Object.entries(PROVOCATIONS)) {
    it(`lab/C3: ${code} is told with ${status}, whether to try again, and the request identifier`, async () => {
      await using world = await cloudWorld();
      const answer = await by(world);
      assert.deepEqual([answer.status, answer.error['code']], [status, code], answer.text);
      assert.equal(answer.error['retryable'], RETRYABLE.has(code));
      assert.equal(answer.error['requestId'], answer.headers.get('lab-request-id'));
      assert.equal(typeof answer.error['message'], 'string');
      assert.deepEqual(Object.keys(answer.body), ['error']);
    });
  }

  it('lab/C3: are all known to this test, with the status of the table', () => {
    assert.deepEqual(Object.keys(PROVOCATIONS).toSorted(), CLOUD_ERROR_CODES);
    for (const code of CLOUD_ERROR_CODES) assert.equal(statusOfCode(code), PROVOCATIONS[code]?.status);
  });
});

describe('wrong requests', () => {
  let world: CloudWorld;
  before(async () => {
    world = await cloudWorld();
  });
  after(() => world[Symbol.asyncDispose]());

  const cases = [
    { method: 'GET', path: '/v2/volumes', status: 404 },
    { method: 'GET', path: '/', status: 404 },
    { method: 'GET', path: '/v1/volums', status: 404 },
    { method: 'GET', path: '/v1/volumes/x/y', status: 404 },
    { method: 'GET', path: '/v1/constructor', status: 404 },
    { method: 'GET', path: '/v1/volumes/vol-1/constructor', status: 404 },
    { method: 'PUT', path: '/v1/volumes', status: 400 },
    { method: 'POST', path: '/v1/zones', status: 400 },
    { method: 'DELETE', path: '/v1/zones/a', status: 400 },
    { method: 'PATCH', path: '/v1/instance-types/lab.small', status: 400 },
    { method: 'GET', path: '/v1/tokens', status: 400 },
    { method: 'GET', path: '/v1/operations/op-0', status: 404 },
    { method: 'GET', path: '/v1/volumes/%E0%A4%A', status: 400 },
    { method: 'GET', path: '/lab/nothing', status: 404 },
    { method: 'POST', path: '/lab/journal', status: 400 },
    { method: 'GET', path: '/lab/faults/nobody', status: 404 },
    { method: 'DELETE', path: '/lab/faults/nobody', status: 404 },
  ];
  for (const { method, path, status } of cases) {
    it(`lab/C3: ${method} ${path} is ${status}, with a reason that people can read`, async () => {
      const answer = await world.ask(method, path, method === 'GET' ? {} : { body: {} });
      assert.equal(answer.status, status, answer.text);
      assert.ok(String(answer.error['message']).length > 10, answer.text);
    });
  }

  const bodies = [
    { name: 'no JSON', body: '{"name":', says: /the body is not JSON/ },
    { name: 'a list', body: '[]', says: /must be a JSON object/ },
    { name: 'a key twice', body: '{"name":"a","name":"b"}', says: /name: is there twice/ },
    {
      name: 'a number that no double holds',
      body: '{"name":"v","zone":"a","sizeGiB":9007199254740993}',
      says: /sizeGiB/,
    },
    { name: 'nothing', body: '', says: /name: is missing/ },
    { name: 'too much depth', body: `{"name":${'['.repeat(20_000)}`, says: /nested deeper/ },
  ];
  for (const { name, body, says } of bodies) {
    it(`lab/C3: a body with ${name} is 400`, async () => {
      const { status, error } = await world.ask('POST', '/v1/volumes', {
        body,
        headers: { 'idempotency-key': 'same' },
      });
      assert.equal(status, 400);
      assert.match(String(error['message']), says);
    });
  }

  it('lab/C12: a body of 1 MiB is read, one of a byte more is refused', async () => {
    const [start, end] = ['{"name":"', '"}'];
    const ofSize = (size: number) => `${start}${'x'.repeat(size - start.length - end.length)}${end}`;
    const largest = await world.ask('POST', '/v1/volumes', { body: ofSize(1024 * 1024) });
    assert.match(String(largest.error['message']), /^name: has at most 128 characters/);
    const larger = await world.ask('POST', '/v1/volumes', { body: ofSize(1024 * 1024 + 1) });
    assert.deepEqual([larger.status, larger.error['message']], [400, 'the body is larger than 1 MiB']);
    assert.equal((await world.ask('GET', '/v1/zones')).status, 200);
  });

  it('lab/C12: every answer carries the identifier of its request, each its own', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => world.ask('GET', '/v1/zones')));
    const ids = answers.map(({ headers }) => headers.get('lab-request-id'));
    assert.equal(new Set(ids).size, 3);
    for (const id of ids) assert.ok(world.cloud.journal().some(({ requestId }) => requestId === id));
  });
});
