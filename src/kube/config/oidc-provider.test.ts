import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  base64,
  HOUR_MS,
  KubeconfigWorld,
  NOW,
  oneContext,
  worldOf,
} from '../../../test/support/kubeconfig-world.ts';
import { SlipwayError } from '../../base/errors.ts';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';
import type { OidcTokens } from './oidc-provider.ts';

/** An id token that ends that many seconds after the start of the clock; nobody here checks signatures. */
const idToken = (seconds: number, name = 'x'): string => {
  const claims = { sub: name, exp: NOW.getTime() / 1000 + seconds };
  return `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
};

interface Asked {
  readonly path: string;
  readonly authorization: string;
  readonly form: Record<string, string>;
}

describe('an OIDC login', () => {
  let server: Server;
  let issuer = '';
  let authorityPem = '';
  let asked: Asked[] = [];
  let discovery: Record<string, unknown> = {};
  let answers: { status: number; body: unknown }[] = [];

  before(async () => {
    // TLS knows only the real time.
    const validity = { now: new Date(), validityMs: 20 * 365 * 24 * HOUR_MS };
    const authority = await CertificateAuthority.create({ commonName: 'idp-ca', ...validity });
    authorityPem = authority.certificatePem;
    const serving = {
      kind: 'serving',
      commonName: 'idp',
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1'],
    } as const;
    const { certificatePem, keys } = await authority.issue({ ...serving, ...validity });
    server = createServer({ cert: certificatePem, key: keys.privateKeyPem }, (request, response) => {
      void text(request).then((body) => {
        const path = request.url ?? '';
        const form = Object.fromEntries(new URLSearchParams(body));
        asked.push({ path, authorization: request.headers.authorization ?? '', form });
        const isDiscovery = path === '/realm/.well-known/openid-configuration';
        const answer = isDiscovery
          ? { status: 200, body: discovery }
          : (answers.shift() ?? { status: 500, body: {} });
        response.writeHead(answer.status).end(JSON.stringify(answer.body));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => new Promise((resolve) => server.close(resolve)));

  beforeEach(() => {
    asked = [];
    answers = [];
    discovery = { token_endpoint: `${issuer}/token` };
  });

  function login(config: Record<string, string>): KubeconfigWorld {
    const all = {
      'idp-issuer-url': `${issuer}/realm/`,
      'client-id': 'cli',
      'idp-certificate-authority': 'idp.pem',
      ...config,
    };
    const lines = Object.entries(all).map(([key, value]) => `    ${key}: "${value}"`);
    const world = new KubeconfigWorld();
    world.files.set(
      '/cfg/config',
      oneContext(['server: https://h'], ['auth-provider:', '  name: oidc', '  config:', ...lines]),
    );
    return world;
  }

  async function loaded(config: Record<string, string>, onOidcTokens?: (tokens: OidcTokens) => Promise<void>) {
    const world = login(config);
    world.files.set('/cfg/idp.pem', authorityPem);
    const { credentials } = await world.load(onOidcTokens === undefined ? {} : { onOidcTokens });
    return { world, credentials };
  }

  it('runtime/C5: uses the id-token until 10 s before it ends, then renews it once for everybody at the issuer', async () => {
    const { world, credentials } = await loaded({
      'id-token': idToken(60),
      'refresh-token': 'r1',
      'client-secret': 's&t',
    });
    answers = [{ status: 200, body: { id_token: idToken(3600, 'new') } }];
    assert.deepEqual(await credentials.headers(), { authorization: `Bearer ${idToken(60)}` });
    assert.equal(asked.length, 0);
    await world.clock.advance(50_000);
    const renewed = { authorization: `Bearer ${idToken(3600, 'new')}` };
    assert.deepEqual(await Promise.all([credentials.headers(), credentials.headers()]), [renewed, renewed]);
    assert.deepEqual(
      asked.map(({ path }) => path),
      ['/realm/.well-known/openid-configuration', '/token'],
    );
    assert.deepEqual(asked[1]?.form, { grant_type: 'refresh_token', refresh_token: 'r1' });
    assert.equal(asked[1]?.authorization, `Basic ${base64('cli:s%26t')}`);
  });

  it('runtime/C5: hands new tokens to who asked for them and uses a new refresh token the next time', async () => {
    const kept: OidcTokens[] = [];
    const { world, credentials } = await loaded({ 'refresh-token': 'r1' }, (tokens) => {
      kept.push(tokens);
      return Promise.resolve();
    });
    answers = [
      { status: 200, body: { id_token: idToken(60, 'a'), refresh_token: 'r2' } },
      { status: 200, body: { id_token: idToken(9999, 'b') } },
    ];
    await credentials.headers();
    await world.clock.advance(60_000);
    await credentials.headers();
    assert.deepEqual(asked.at(-1)?.form, { grant_type: 'refresh_token', refresh_token: 'r2', client_id: 'cli' });
    assert.deepEqual(kept, [
      { idToken: idToken(60, 'a'), refreshToken: 'r2' },
      { idToken: idToken(9999, 'b'), refreshToken: 'r2' },
    ]);
  });

  it('says when new tokens could not be kept, and goes on with them', async () => {
    const { credentials } = await loaded({ 'refresh-token': 'r1' }, () => Promise.reject(new Error('disk full')));
    answers = [{ status: 200, body: { id_token: idToken(9999, 'new') } }];
    await assert.rejects(credentials.headers(), /could not be kept: disk full/);
    assert.deepEqual(await credentials.headers(), { authorization: `Bearer ${idToken(9999, 'new')}` });
  });

  it('runtime/C5: renews after a 401, and keeps the token when it cannot', async () => {
    const { credentials } = await loaded({ 'id-token': idToken(9999), 'refresh-token': 'r1' });
    answers = [{ status: 200, body: { id_token: idToken(9999, 'new') } }];
    const refused = await credentials.headers();
    credentials.refresh(refused);
    const renewed = await credentials.headers();
    assert.deepEqual(renewed, { authorization: `Bearer ${idToken(9999, 'new')}` });
    credentials.refresh(refused);
    assert.deepEqual(await credentials.headers(), renewed);
    const lonely = await loaded({ 'id-token': idToken(9999) });
    lonely.credentials.refresh();
    assert.deepEqual(await lonely.credentials.headers(), { authorization: `Bearer ${idToken(9999)}` });
  });

  it('sends the secret in the form to an issuer that takes no basic authentication', async () => {
    const { credentials } = await loaded({ 'refresh-token': 'r', 'client-secret': 's' });
    discovery = { ...discovery, token_endpoint_auth_methods_supported: ['client_secret_post'] };
    answers = [{ status: 200, body: { id_token: idToken(9999) } }];
    await credentials.headers();
    assert.deepEqual([asked[1]?.form['client_secret'], asked[1]?.authorization], ['s', '']);
  });

  const failures: readonly [string, { status: number; body: unknown }, string, RegExp][] = [
    [
      'a login that ended',
      { status: 400, body: { error: 'invalid_grant', error_description: 'gone' } },
      'OidcLoginExpired',
      /400 invalid_grant: gone; log in again/,
    ],
    ['a provider in trouble', { status: 503, body: 'x' }, 'OidcRefreshFailed', /did not renew the login: 503/],
    [
      'an answer without id_token',
      { status: 200, body: { access_token: 'a' } },
      'OidcRefreshFailed',
      /without an id_token.*scope "openid"/,
    ],
  ];
  for (const [what, answer, reason, expected] of failures) {
    it(`explains ${what}`, async () => {
      const { credentials } = await loaded({ 'refresh-token': 'r1' });
      answers = [answer];
      const error = await credentials.headers().catch((thrown: unknown) => thrown);
      assert.ok(error instanceof SlipwayError);
      assert.equal(error.reason, reason);
      assert.match(error.message, expected);
      assert.doesNotMatch(error.message, /r1/);
    });
  }

  it('never sends the refresh token to an endpoint without TLS', async () => {
    const { credentials } = await loaded({ 'refresh-token': 'r1' });
    discovery = { token_endpoint: issuer.replace('https', 'http') };
    await assert.rejects(credentials.headers(), /names no usable token_endpoint/);
    assert.equal(asked.length, 1);
  });

  it('explains an issuer that cannot be trusted, a wrong path and a login without any way on', async () => {
    const other = await loaded({ 'refresh-token': 'r1', 'idp-issuer-url': `${issuer}/other` });
    await assert.rejects(other.credentials.headers(), /answered 500 to GET .*is idp-issuer-url right/);
    const world = login({ 'refresh-token': 'r1', 'idp-certificate-authority': '' });
    await assert.rejects(
      (await world.load()).credentials.headers(),
      /the identity provider https:\/\/127.* cannot be asked: .*certificate/,
    );
    const ended = await loaded({ 'id-token': idToken(-1) });
    await assert.rejects(
      ended.credentials.headers(),
      /expired on 2026-03-01T11:59:59\.000Z and there is no refresh-token; log in again/,
    );
  });

  it('lists what is wrong with the section', async () => {
    const message = await worldOf([
      'auth-provider:',
      '  name: oidc',
      '  config: {idp-issuer-url: "http://idp.example"}',
    ]).failure();
    assert.match(message, /:16: .*config\.idp-issuer-url: found "http:\/\/idp\.example"; it must be the https/);
    assert.match(message, /config\.client-id: is missing/);
    assert.match(message, /config: has neither an id-token nor a refresh-token/);
  });
});
