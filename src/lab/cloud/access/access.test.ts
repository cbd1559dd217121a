import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory } from '../../../../test/support/scratch.ts';

const CREDENTIALS = [
  { clientId: 'lab-admin', scope: 'admin read write' },
  { clientId: 'provider', clientSecret: 'canary', scope: 'read write' },
  { clientId: 'csi', scope: 'volumes:read volumes:write snapshots:read' },
];
const volume = { name: 'v', sizeGiB: 1, zone: 'a' };

describe('access to the cloud', () => {
  let world: CloudWorld;

  before(async () => {
    world = await cloudWorld({ credentials: CREDENTIALS });
  });
  after(() => world[Symbol.asyncDispose]());

  const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  /** Without a token, as somebody who wants one. */
  const tokenFor = (body: object) => world.ask('POST', '/v1/tokens', { body, headers: { authorization: '' } });

  it('lab/C1: gives a token for a secret, good for an hour of lab time', async () => {
    const { status, body } = await tokenFor({ clientId: 'provider', clientSecret: 'canary' });
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body).toSorted(), ['expiresAt', 'token']);
    assert.equal(Date.parse(String(body['expiresAt'])) - world.clock.now().getTime(), 3_600_000);
    assert.equal((await world.ask('GET', '/v1/zones', withToken(String(body['token'])))).status, 200);
  });

  const refusedSecrets = [
    {
      name: 'another secret',
      body: { clientId: 'provider', clientSecret: 'guessed' },
      status: 401,
      code: 'Unauthenticated',
    },
    {
      name: 'an unknown client',
      body: { clientId: 'nobody', clientSecret: '' },
      status: 401,
      code: 'Unauthenticated',
    },
    { name: 'no secret', body: { clientId: 'provider' }, status: 400, code: 'InvalidArgument' },
    {
      name: 'more than is known',
      body: { clientId: 'provider', clientSecret: 'canary', scpoe: 'x' },
      status: 400,
      code: 'UnknownField',
    },
    {
      name: 'a scope that is none',
      body: { clientId: 'provider', clientSecret: 'canary', scope: 'all' },
      status: 400,
      code: 'InvalidArgument',
    },
    {
      name: 'an empty scope',
      body: { clientId: 'provider', clientSecret: 'canary', scope: ' ' },
      status: 400,
      code: 'InvalidArgument',
    },
    {
      name: 'a scope it does not have',
      body: { clientId: 'provider', clientSecret: 'canary', scope: 'admin' },
      status: 403,
      code: 'Forbidden',
    },
  ];
  for (const { name, body, status, code } of refusedSecrets) {
    it(`lab/C1: gives no token for ${name}`, async () => {
      const answer = await tokenFor(body);
      assert.deepEqual({ status: answer.status, code: answer.error['code'] }, { status, code });
      assert.ok(!answer.text.includes('canary'), 'secrets must not come back');
    });
  }

  const refusedTokens = [
    { name: 'none', authorization: '' },
    { name: 'another scheme', authorization: 'Basic bGFiOmxhYg==' },
    { name: 'rubbish', authorization: 'Bearer rubbish' },
    { name: 'rubbish with dots', authorization: 'Bearer e30.e30.e30' },
    {
      name: 'an unsigned one',
      authorization: `Bearer ${Buffer.from('{"clientId":"lab-admin"}').toString('base64url')}.`,
    },
  ];
  for (const { name, authorization } of refusedTokens) {
    it(`lab/C1: answers 401 to a token that is ${name}`, async () => {
      for (const path of ['/v1/zones', '/v1/nothing', '/lab/faults']) {
        const { status, error } = await world.ask('GET', path, { headers: { authorization } });
        assert.deepEqual({ status, code: error['code'] }, { status: 401, code: 'Unauthenticated' });
      }
    });
  }

  it('lab/C1: answers 401 to a token that somebody has changed', async () => {
    const token = await world.token('provider', 'read');
    const [payload = '', signature] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const more = Buffer.from(JSON.stringify({ ...claims, scopes: ['admin'] })).toString('base64url');
    const { status, error } = await world.ask('GET', '/lab/faults', withToken(`${more}.${signature}`));
    assert.deepEqual({ status, code: error['code'] }, { status: 401, code: 'Unauthenticated' });
  });

  it('lab/C1: says TokenExpired after the life of a token, which is a setting', async () => {
    await using short = await cloudWorld({ tokenLifeSeconds: 60 });
    const token = await short.token('lab-provider');
    await short.pass(59_500);
    assert.equal((await short.ask('GET', '/v1/zones', withToken(token))).status, 200);
    await short.pass(500);
    const { status, error } = await short.ask('GET', '/v1/zones', withToken(token));
    assert.deepEqual({ status, code: error['code'] }, { status: 401, code: 'TokenExpired' });
  });

  const scopes = [
    { scope: 'read', method: 'GET', path: '/v1/volumes', want: 200 },
    { scope: 'read', method: 'POST', path: '/v1/volumes', want: 403 },
    { scope: 'read', method: 'GET', path: '/lab/journal', want: 403 },
    { scope: 'write', method: 'GET', path: '/v1/volumes', want: 403 },
    { scope: 'write', method: 'POST', path: '/v1/volumes', want: 202 },
    { scope: 'volumes:read', method: 'GET', path: '/v1/volumes', want: 200 },
    { scope: 'volumes:read', method: 'GET', path: '/v1/instances', want: 403 },
    { scope: 'volumes:read', method: 'GET', path: '/v1/resources', want: 403 },
    { scope: 'volumes:write', method: 'POST', path: '/v1/volumes', want: 202 },
    { scope: 'volumes:write', method: 'POST', path: '/v1/snapshots', want: 403 },
    { scope: 'read write', method: 'PATCH', path: '/v1/zones/a', want: 403 },
  ];
  for (const { scope, method, path, want } of scopes) {
    it(`lab/C1: with scope "${scope}" ${method} ${path} is answered ${want}`, async () => {
      const token = await world.token('provider', scope);
      const body = method === 'POST' ? { body: volume } : {};
      const { status, error } = await world.ask(method, path, { ...withToken(token), ...body });
      assert.equal(status, want);
      if (want === 403) assert.equal(error['code'], 'Forbidden');
    });
  }

  it('lab/C1: lets who may see an object see its operation', async () => {
    const { body } = await world.ask('POST', '/v1/volumes', { body: volume });
    const path = `/v1/operations/${String(body['operationId'])}`;
    const own = await world.token('csi', 'volumes:read');
    const other = await world.token('csi', 'snapshots:read');
    assert.equal((await world.ask('GET', path, withToken(own))).status, 200);
    assert.equal((await world.ask('GET', path, withToken(other))).status, 403);
  });

  it('lab/C1: revokes a credential at once, with every token of it, and for good', async () => {
    const made = await world.cloud.createCredential({ clientId: 'shortlived' });
    const token = await world.token('shortlived');
    assert.equal((await world.ask('GET', '/v1/zones', withToken(token))).status, 200);
    await world.cloud.revoke('shortlived');
    const { status, error } = await world.ask('GET', '/v1/zones', withToken(token));
    assert.deepEqual({ status, code: error['code'] }, { status: 401, code: 'Unauthenticated' });
    const again = await tokenFor({ clientId: made.clientId, clientSecret: made.clientSecret });
    assert.equal(again.status, 401);
    const other = await world.cloud.createCredential({ clientId: 'shortlived' });
    assert.notEqual(other.clientSecret, made.clientSecret);
    assert.equal((await world.ask('GET', '/v1/zones', withToken(token))).status, 401, 'the old token stays bad');
  });

  it('lab/C1: lets an administrator create and revoke credentials over HTTP, and nobody else', async () => {
    const made = await world.ask('POST', '/lab/credentials', {
      body: { clientId: 'ccm', scope: 'instances:read' },
    });
    assert.equal(made.status, 201);
    assert.equal(
      (await world.ask('POST', '/lab/credentials', { body: { clientId: 'ccm' } })).error['code'],
      'AlreadyExists',
    );
    assert.equal((await world.ask('POST', '/lab/credentials', { body: { clientId: '__proto__ x' } })).status, 400);
    assert.equal(
      (await world.ask('POST', '/lab/credentials', { as: 'provider', body: { clientId: 'x' } })).status,
      403,
    );
    const { body, text } = await world.ask('GET', '/lab/credentials');
    assert.ok(JSON.stringify(body).includes('"ccm"'));
    assert.ok(!text.includes(String(made.body['clientSecret'])), 'lists do not show secrets');
    assert.equal((await world.ask('DELETE', '/lab/credentials/ccm')).status, 202);
    assert.equal((await world.ask('DELETE', '/lab/credentials/ccm')).status, 404);
  });

  it('lab/C1: remembers tokens and revocations over a restart', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path });
    const [kept, lost] = [await first.token('lab-provider'), await first.token('lab-admin')];
    await first.cloud.revoke('lab-admin');
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    assert.equal((await second.ask('GET', '/v1/zones', withToken(kept))).status, 200);
    assert.equal((await second.ask('GET', '/v1/zones', withToken(lost))).status, 401);
  });
});
