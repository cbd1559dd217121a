import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiRequest, Credentials, UserInfo } from '../request.ts';
import type { AuthorizationAttributes, Authorizer } from '../rest/services.ts';
import { StatusError } from '../status.ts';
import { createAuthenticator } from './authenticator.ts';
import { StaticTokens } from './static-tokens.ts';

const request = (headers: ApiRequest['headers'] = {}, credentials: Credentials = {}): ApiRequest => ({
  method: 'GET',
  path: '/api/v1/namespaces/default/pods/p',
  query: new URLSearchParams(),
  headers,
  credentials,
  isInProcess: false,
  signal: new AbortController().signal,
  body: () => Promise.resolve(new Uint8Array()),
});

/** Allows what the list names: `verb group/resource/subresource name`. */
const allowing = (...rights: readonly string[]): Authorizer => ({
  authorize: ({ verb, group, resource, subresource, namespace, name }: AuthorizationAttributes) => {
    const place = [group, resource, ...(subresource === '' ? [] : [subresource])].join('/');
    const text = `${verb} ${place} ${namespace === '' ? '' : `${namespace}/`}${name}`;
    return { isAllowed: rights.includes(text) || rights.includes('everything'), reason: '' };
  },
});

const tokens = new StaticTokens([
  { token: 'secret-a', user: { name: 'alice', uid: '1', groups: ['dev'] } },
  { token: 'secret-b', user: { name: 'bob', groups: ['system:authenticated'] } },
]);
const who = async (
  headers: ApiRequest['headers'],
  credentials: Credentials = {},
  authorizer: Authorizer = allowing(),
): Promise<UserInfo> =>
  createAuthenticator({ tokens: [tokens], authorizer }).authenticate(request(headers, credentials));

const certificate = { commonName: 'carol', organizations: ['ops', 'dev'], fingerprint: 'ab12' };

async function refusal(answer: Promise<unknown>): Promise<StatusError> {
  const error: unknown = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StatusError, String(error));
  return error;
}

describe('who asks', () => {
  it('apiserver/Z1: is the subject of a certificate, even beside a token', async () => {
    const user = await who({ authorization: 'Bearer secret-a' }, { certificate });
    assert.deepEqual(user, {
      name: 'carol',
      groups: ['ops', 'dev', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab12'] },
    });
  });

  it('apiserver/Z1: is whose token it is', async () => {
    assert.deepEqual(await who({ authorization: 'Bearer secret-a' }), {
      name: 'alice',
      uid: '1',
      groups: ['dev', 'system:authenticated'],
    });
    assert.deepEqual((await who({ authorization: 'bearer secret-b' })).groups, ['system:authenticated']);
  });

  for (const authorization of ['Bearer nonsense', 'Bearer a b', ' bearer x ']) {
    it(`apiserver/Z1: is nobody with ${JSON.stringify(authorization)}, which is refused`, async () => {
      const { code, message, reason } = await refusal(who({ authorization }));
      assert.deepEqual([code, message, reason], [401, 'Unauthorized', 'Unauthorized']);
    });
  }

  for (const authorization of [undefined, 'Bearer', 'Bearer ', 'Bearer  x', 'Basic YTpi']) {
    it(`apiserver/Z1: is anonymous with ${JSON.stringify(authorization)}`, async () => {
      assert.deepEqual(await who({ authorization }), {
        name: 'system:anonymous',
        groups: ['system:unauthenticated'],
      });
    });
  }

  it('apiserver/Z1: is who the transport says, in this process', async () => {
    const user = { name: 'self', groups: ['g'] };
    assert.equal(await who({ authorization: 'Bearer x' }, { user }), user);
  });
});

describe('impersonation', () => {
  const caller: Credentials = { user: { name: 'caller', groups: [] } };
  const as = (headers: ApiRequest['headers'], ...rights: readonly string[]) =>
    who(headers, caller, allowing(...rights));

  it('apiserver/Z8: needs the verb impersonate for user, groups, uid and each extra', async () => {
    const headers = {
      'impersonate-user': 'dave',
      'impersonate-group': 'a, b',
      'impersonate-uid': 'u',
      'impersonate-extra-acme.com%2fscopes': 'x, y',
    };
    const rights = [
      'impersonate /users dave',
      'impersonate authentication.k8s.io/uids u',
      'impersonate /groups a',
      'impersonate /groups b',
      'impersonate authentication.k8s.io/userextras/acme.com/scopes x',
      'impersonate authentication.k8s.io/userextras/acme.com/scopes y',
    ];
    assert.deepEqual(await as(headers, ...rights), {
      name: 'dave',
      groups: ['a', 'b', 'system:authenticated'],
      uid: 'u',
      extra: { 'acme.com/scopes': ['x', 'y'] },
    });
    for (const missing of rights) {
      const { code } = await refusal(as(headers, ...rights.filter((right) => right !== missing)));
      assert.equal(code, 403, missing);
    }
  });

  it('apiserver/Z8: says which right of the most careful mode is missing', async () => {
    const { message, details } = await refusal(as({ 'impersonate-user': 'dave' }));
    const why =
      'User "caller" cannot impersonate-on:user-info:get resource "pods" in API group "" in the namespace "default"';
    assert.equal(message, `pods "p" is forbidden: ${why}`);
    assert.deepEqual(details, { name: 'p', group: '', kind: 'pods' });
  });

  for (const [mode, name, right, groups] of [
    ['user-info', 'dave', 'authentication.k8s.io/users dave', ['system:authenticated']],
    ['arbitrary-node', 'system:node:n', 'authentication.k8s.io/nodes n', ['system:nodes', 'system:authenticated']],
    [
      'serviceaccount',
      'system:serviceaccount:ns:sa',
      'authentication.k8s.io/serviceaccounts ns/sa',
      ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    ],
  ] as const) {
    it(`apiserver/Z8: ${mode} is allowed with the right for the user and for the request`, async () => {
      const rights = [`impersonate-on:${mode}:get /pods default/p`, `impersonate:${mode} ${right}`];
      assert.deepEqual((await as({ 'impersonate-user': name }, ...rights)).groups, groups);
      for (const only of rights) assert.equal((await refusal(as({ 'impersonate-user': name }, only))).code, 403);
    });
  }

  it('apiserver/Z8: an account may be the node it runs on, for all nodes at once', async () => {
    const user = {
      name: 'system:serviceaccount:ns:agent',
      groups: [],
      extra: { 'authentication.kubernetes.io/node-name': ['n'] },
    };
    const rights = allowing(
      'impersonate-on:associated-node:get /pods default/p',
      'impersonate:associated-node authentication.k8s.io/nodes *',
    );
    assert.equal((await who({ 'impersonate-user': 'system:node:n' }, { user }, rights)).name, 'system:node:n');
    const { code } = await refusal(who({ 'impersonate-user': 'system:node:other' }, { user }, rights));
    assert.equal(code, 403);
  });

  it('apiserver/Z8: the modes never make an administrator', async () => {
    const rights = [
      'impersonate-on:user-info:get /pods default/p',
      'impersonate:user-info authentication.k8s.io/users dave',
    ];
    const group = 'impersonate:user-info authentication.k8s.io/groups system:masters';
    const headers = { 'impersonate-user': 'dave', 'impersonate-group': 'system:masters' };
    const { message } = await refusal(as(headers, ...rights, group));
    assert.match(message, /impersonating the system:masters group is not allowed$/);
  });

  it('apiserver/Z8: many groups may be allowed by one right', async () => {
    const rights = [
      'impersonate-on:user-info:get /pods default/p',
      'impersonate:user-info authentication.k8s.io/users dave',
      'impersonate:user-info authentication.k8s.io/groups *',
    ];
    const headers = { 'impersonate-user': 'dave', 'impersonate-group': 'a, b, c, d' };
    assert.equal((await as(headers, ...rights)).groups.length, 5);
    assert.equal((await refusal(as({ ...headers, 'impersonate-group': 'a' }, ...rights))).code, 403);
  });

  for (const [name, groups, expected] of [
    ['system:anonymous', undefined, ['system:unauthenticated']],
    ['system:anonymous', 'g', ['g', 'system:unauthenticated']],
    ['dave', 'system:unauthenticated', ['system:unauthenticated']],
    [
      'system:serviceaccount:ns:sa',
      undefined,
      ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    ],
    ['system:serviceaccount:ns:sa', 'g', ['g', 'system:authenticated']],
    ['system:serviceaccount:odd', undefined, ['system:authenticated']],
  ] as const) {
    it(`apiserver/Z8: ${name} with ${groups ?? 'no groups'} is in ${expected.join(', ')}`, async () => {
      const user = await as({ 'impersonate-user': name, 'impersonate-group': groups }, 'everything');
      assert.deepEqual(user.groups, expected);
    });
  }

  it('apiserver/Z8: an empty name is nobody, and the rest without a name is refused', async () => {
    assert.equal((await as({ 'impersonate-user': '' })).name, 'caller');
    const { code, message } = await refusal(
      as({ 'impersonate-group': 'team', 'impersonate-uid': 'u', 'impersonate-extra-k': 'v' }),
    );
    assert.equal(code, 400);
    assert.equal(
      message,
      'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string{"team"}, Extra:map[string][]string{"k":[]string{"v"}}} without impersonating a user name',
    );
  });
});
