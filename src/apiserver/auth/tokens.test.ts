import assert from 'node:assert/strict';
import { createHmac, createPublicKey } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { AdmissionServer, type Loose } from '../../../test/support/admission-server.ts';
import { VirtualClock } from '../../base/clock.ts';
import type { JsonObject } from '../../object/json.ts';
import { generateKeyPair, type KeyPair } from '../../pki/key-pair.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import { TokenSigner } from './json-web-token.ts';
import { openIdAnswer } from './open-id.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';

const ISSUER = 'https://issuer';
const encode = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (text: string | undefined): Loose => JSON.parse(Buffer.from(text ?? '', 'base64url').toString());

describe('tokens of service accounts', () => {
  let keys: KeyPair;
  let signer: TokenSigner;
  let store: Store;
  let clock: VirtualClock;
  let tokens: ServiceAccountTokens;
  before(async () => {
    keys = await generateKeyPair();
    signer = new TokenSigner(keys);
    clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
    store = createMemoryStore({ clock });
    tokens = new ServiceAccountTokens({ signer, store, clock, issuer: () => ISSUER });
    await put('serviceaccounts/ns/robot', { uid: 'u1' });
  });
  after(() => store[Symbol.asyncDispose]());

  const put = async (key: string, metadata: JsonObject): Promise<void> => {
    const path = `/registry/core/${key}`;
    await store.put(path, store.get(path)?.revision ?? 0, () => Buffer.from(JSON.stringify({ metadata })));
  };
  const issue = (more: Partial<Parameters<ServiceAccountTokens['issue']>[0]> = {}): string =>
    tokens.issue({
      namespace: 'ns',
      name: 'robot',
      uid: 'u1',
      audiences: [ISSUER],
      seconds: 3600,
      boundTo: undefined,
      ...more,
    }).token;
  const problem = (token: string, audiences: readonly string[] = [ISSUER]): string => {
    const found = tokens.verify(token, audiences);
    return found === undefined ? 'not ours' : 'problem' in found ? found.problem : 'valid';
  };

  it('apiserver/Z7: say who, for whom and how long', () => {
    const token = issue({ boundTo: { kind: 'Pod', name: 'p', uid: 'pu' }, node: { name: 'n', uid: 'nu' } });
    const { jti, ...claims } = decode(token.split('.')[1]);
    const now = Date.parse('2026-01-01T00:00:00Z') / 1000;
    assert.match(jti, /^[0-9a-f-]{36}$/);
    assert.deepEqual(claims, {
      aud: [ISSUER],
      exp: now + 3600,
      iat: now,
      iss: ISSUER,
      nbf: now,
      sub: 'system:serviceaccount:ns:robot',
      'kubernetes.io': {
        namespace: 'ns',
        node: { name: 'n', uid: 'nu' },
        pod: { name: 'p', uid: 'pu' },
        serviceaccount: { name: 'robot', uid: 'u1' },
      },
    });
  });

  it('apiserver/Z7: stand for the account, its groups and the credential', () => {
    const user = tokens.userOf(issue());
    assert.equal(user?.name, 'system:serviceaccount:ns:robot');
    assert.equal(user.uid, 'u1');
    assert.deepEqual(user.groups, ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated']);
    assert.match(user.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^JTI=/);
  });

  it('reliability/T10: the key decides the algorithm: none, HMAC with the public key and others are refused', () => {
    const [head = '', body = '', signature = ''] = issue().split('.');
    const kid: string = decode(head).kid;
    const der = createPublicKey(keys.publicKeyPem).export({ type: 'spki', format: 'der' });
    const hmac = (key: Buffer | string, alg: string): string => {
      const signed = `${encode({ alg, kid })}.${body}`;
      return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
    };
    const forged = [
      `${encode({ alg: 'none', kid })}.${body}.`,
      `${encode({ alg: 'none', kid })}.${body}.${signature}`,
      `${encode({ alg: 'None' })}.${body}.x`,
      hmac(keys.publicKeyPem, 'HS256'),
      hmac(der, 'HS256'),
      hmac(der, 'ES256'),
      `${encode({ alg: 'ES256', kid: 'other' })}.${body}.${signature}`,
      `${head}.${encode({ ...decode(body), sub: 'system:serviceaccount:kube-system:root' })}.${signature}`,
      `${head}.${body}.${signature}.more`,
      `${head}.${body}`,
      `${head}.${body}.`,
      `${head}.${body}.${'A'.repeat(86)}`,
      '',
      '...',
      'x'.repeat(9000),
    ];
    for (const token of forged) assert.equal(problem(token), 'not ours', token.slice(0, 60));
    assert.equal(problem(`${head}.${body}.${signature}`), 'valid');
  });

  it('reliability/T10: another key, another issuer and tokens without own claims are refused', async () => {
    const other = new TokenSigner(await generateKeyPair());
    const claims = decode(issue().split('.')[1]);
    assert.equal(problem(other.sign(claims)), 'not ours');
    assert.equal(problem(signer.sign({ ...claims, iss: 'https://else' })), 'not ours');
    assert.equal(problem(signer.sign({ ...claims, 'kubernetes.io': 'x' })), 'not ours');
  });

  it('reliability/T10: an audience that is not meant is refused', () => {
    const token = issue({ audiences: ['a', 'b'] });
    assert.equal(problem(token), `token audiences ["a" "b"] is invalid for the target audiences ["${ISSUER}"]`);
    assert.equal(tokens.userOf(token), undefined);
    const found = tokens.verify(token, ['b', 'c']);
    assert.deepEqual(found !== undefined && 'user' in found && found.audiences, ['b']);
  });

  it('reliability/T10: a token out of time, or without one, is refused', async () => {
    const claims = decode(issue().split('.')[1]);
    const { exp: _exp, ...endless } = claims;
    assert.equal(problem(signer.sign(endless)), 'service account token has expired');
    assert.equal(
      problem(signer.sign({ ...claims, nbf: claims.nbf + 100 })),
      'service account token is not valid yet',
    );
    const token = issue({ seconds: 600 });
    await clock.advance(599_000);
    assert.equal(problem(token), 'valid');
    await clock.advance(1000);
    assert.equal(problem(token), 'service account token has expired');
  });

  it('apiserver/Z7: die with the account, also when another one has its name', async () => {
    const token = issue();
    await put('serviceaccounts/ns/robot', { uid: 'u2' });
    assert.equal(problem(token), 'service account ns/robot has been deleted');
    await put('serviceaccounts/ns/robot', { uid: 'u1' });
    assert.equal(problem(token), 'valid');
    await put('serviceaccounts/ns/robot', { uid: 'u1', deletionTimestamp: '2025-12-31T00:00:00Z' });
    assert.equal(problem(token), 'service account ns/robot has been deleted');
    await put('serviceaccounts/ns/robot', { uid: 'u1' });
    assert.equal(problem(issue({ name: 'nobody' })), 'service account ns/nobody has been deleted');
  });

  for (const [kind, key] of [
    ['Pod', 'pods/ns/x'],
    ['Secret', 'secrets/ns/x'],
    ['Node', 'nodes/x'],
  ] as const) {
    it(`apiserver/Z7: die with the ${kind} they are bound to`, async () => {
      const token = issue({ boundTo: { kind, name: 'x', uid: 'b1' } });
      assert.equal(problem(token), 'service account token has been invalidated');
      await put(key, { uid: 'b1' });
      assert.equal(problem(token), 'valid');
      await put(key, { uid: 'b2' });
      assert.equal(problem(token), 'service account token has been invalidated');
    });
  }

  it('apiserver/D11: can be verified by others', async () => {
    const bodyOf = (path: string): Loose => {
      const { body } = openIdAnswer(path, signer, ISSUER) ?? {};
      assert.ok(Array.isArray(body));
      return JSON.parse(Buffer.concat(body).toString());
    };
    const {
      issuer,
      jwks_uri: keysUrl,
      id_token_signing_alg_values_supported: algorithms,
    } = bodyOf('/.well-known/openid-configuration');
    assert.deepEqual([issuer, keysUrl, algorithms], [ISSUER, `${ISSUER}/openid/v1/jwks`, ['ES256']]);
    const { keys: published } = bodyOf('/openid/v1/jwks');
    assert.equal(published[0].kid, decode(issue().split('.')[0]).kid);
    assert.equal(openIdAnswer('/other', signer, ISSUER), undefined);
  });
});

describe('requests for tokens', () => {
  const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/default';
  let server: AdmissionServer;
  before(async () => {
    server = await AdmissionServer.start();
    await server.made('/api/v1/namespaces/default/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await server.made('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'other' } });
  });
  after(() => server[Symbol.asyncDispose]());
  const ask = (body: JsonObject, account = ACCOUNT) => server.send('POST', `${account}/token`, body);

  it('apiserver/Z7: get a token of an hour for this server', async () => {
    const { status, body } = await ask({ spec: {} });
    assert.equal(status, 201);
    assert.deepEqual([body.kind, body.apiVersion], ['TokenRequest', 'authentication.k8s.io/v1']);
    assert.deepEqual(body.spec, {
      audiences: ['https://kubernetes.default.svc.cluster.local'],
      expirationSeconds: 3600,
      boundObjectRef: null,
    });
    assert.deepEqual(body.metadata.managedFields[0].fieldsV1, { 'f:spec': { 'f:expirationSeconds': {} } });
    assert.equal(
      Date.parse(body.status.expirationTimestamp) - Date.parse(body.metadata.creationTimestamp),
      3_600_000,
    );
  });

  it('apiserver/Z7: for the usual token of a pod get one that lives on, and says when it is old', async () => {
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p' };
    const { body } = await ask({ spec: { expirationSeconds: 3607, boundObjectRef } });
    const claims = decode(body.status.token.split('.')[1]);
    assert.equal(claims.exp - claims.iat, 365 * 24 * 3600);
    assert.equal(claims['kubernetes.io'].warnafter - claims.iat, 3607);
    assert.equal(Date.parse(body.status.expirationTimestamp) / 1000 - claims.iat, 3607);
  });

  const spec = (more: JsonObject): JsonObject => ({ spec: more });
  for (const [what, body, status, message] of [
    [
      'too short',
      spec({ expirationSeconds: 599 }),
      422,
      /^TokenRequest\.authentication\.k8s\.io "" is invalid: spec\.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes$/,
    ],
    ['too long', spec({ expirationSeconds: 4294967297 }), 422, /larger than 2\^32 seconds$/],
    ['another name', { metadata: { name: 'x' } }, 422, /must match the service account name if specified$/],
    [
      'another namespace',
      { metadata: { namespace: 'x' } },
      400,
      /^the namespace of the provided object does not match/,
    ],
    ['another uid', { metadata: { uid: 'x' } }, 409, /the UID in the token request \(x\) does not match/],
    [
      'a kind that cannot die',
      spec({ boundObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'x' } }),
      400,
      /^cannot bind token to object of type \/v1, Kind=ConfigMap$/,
    ],
    [
      'a kind of another group',
      spec({ boundObjectRef: { apiVersion: 'g/v1', kind: 'Pod', name: 'x' } }),
      400,
      /^cannot bind token to object of type g\/v1, Kind=Pod$/,
    ],
    [
      'an object that is not there',
      spec({ boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'x' } }),
      404,
      /^secrets "x" not found$/,
    ],
    [
      'an object with another uid',
      spec({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'x' } }),
      409,
      /The object might have been deleted and then recreated$/,
    ],
    ['another kind', { kind: 'Pod', apiVersion: 'v1' }, 400, /cannot be handled as a TokenRequest/],
    ['a wrong type', spec({ expirationSeconds: 'x' }), 400, /cannot be handled as a TokenRequest/],
  ] as const) {
    it(`apiserver/Z7: are refused for ${what}`, async () => {
      const answer = await ask(body);
      assert.equal(answer.status, status);
      assert.match(answer.body.message, message);
    });
  }

  it('apiserver/Z7: are refused for accounts that are not there, and pods of another account', async () => {
    assert.equal((await ask({ spec: {} }, '/api/v1/namespaces/default/serviceaccounts/none')).status, 404);
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p' };
    const { status, body } = await ask(
      { spec: { boundObjectRef } },
      '/api/v1/namespaces/default/serviceaccounts/other',
    );
    assert.equal(status, 400);
    assert.match(
      body.message,
      /^cannot bind token for serviceaccount "other" to pod running with different serviceaccount/,
    );
  });

  it('apiserver/Z7: pass admission as a TokenRequest', async () => {
    const { fields, asked } = server.hook('see', () => ({ allowed: true }));
    await server.configure('validating', 'see', [fields]);
    await ask({ spec: {} });
    await server.clear();
    assert.deepEqual(asked[0].kind, { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' });
    assert.deepEqual([asked[0].subResource, asked[0].name], ['token', 'default']);
    assert.deepEqual(asked[0].object.status, { token: '', expirationTimestamp: null });
  });

  it('apiserver/Z6: a review tells whose token it is, for which audience, or why it is none', async () => {
    const { body } = await ask({ spec: {} });
    const { token } = body.status;
    const review = async (fields: JsonObject): Promise<Loose> =>
      (await server.send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: fields })).body;
    const { status } = await review({ token });
    assert.equal(status.authenticated, true);
    assert.equal(status.user.username, 'system:serviceaccount:default:default');
    assert.deepEqual(status.audiences, ['https://kubernetes.default.svc.cluster.local']);
    assert.deepEqual((await review({ token: 'nonsense' })).status, { user: {}, error: 'invalid bearer token' });
    const wrong = await review({ token, audiences: ['other'] });
    assert.match(
      wrong.status.error,
      /^\[invalid bearer token, token audiences \[.*\] is invalid for the target audiences \["other"\]\]$/,
    );
    assert.equal((await review({})).message, 'token is required for TokenReview in authentication');
  });
});
