import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { AdmissionServer, type Answer, type Loose } from '../../../test/support/admission-server.ts';
import type { JsonObject } from '../../object/json.ts';
import type { ApiRequest, UserInfo } from '../request.ts';
import type { RequestInfo } from '../routing/request-info.ts';
import { DEFAULT_LIMITS, InFlightGuard } from './guard.ts';
import {
  type Asked,
  type PolicyRule,
  ruleAllows,
  rulesOf,
  subjectIs,
  subjectsOf,
  subjectText,
} from './rbac-rules.ts';
import { describeRules, uncovered } from './rule-coverage.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const GROUP = 'rbac.authorization.k8s.io';

const ruleOf = (fields: JsonObject): PolicyRule => {
  const [rule] = rulesOf({ rules: [fields] });
  assert.ok(rule !== undefined);
  return rule;
};
const asked = (fields: Partial<Asked>): Asked => ({
  verb: 'get',
  isResourceRequest: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'ns',
  name: '',
  path: '',
  ...fields,
});
const path = (text: string): Partial<Asked> => ({ isResourceRequest: false, path: text });

describe('a rule', () => {
  const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
  const urls = (...nonResourceURLs: string[]): JsonObject => ({ nonResourceURLs, verbs: ['get'] });
  for (const [what, rule, request, isAllowed] of [
    ['what it names', pods, {}, true],
    ['another verb', pods, { verb: 'list' }, false],
    ['another group', pods, { group: 'apps' }, false],
    ['another resource', pods, { resource: 'secrets' }, false],
    ['a subresource of it', pods, { subresource: 'log' }, false],
    ['the subresource it names', { ...pods, resources: ['pods/log'] }, { subresource: 'log' }, true],
    ['a subresource of everything', { ...pods, resources: ['*/log'] }, { subresource: 'log' }, true],
    ['the resource, when it names subresources', { ...pods, resources: ['*/log'] }, {}, false],
    ['every resource and subresource', { ...pods, resources: ['*'] }, { subresource: 'log' }, true],
    ['everything', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, { verb: 'x', group: 'y' }, true],
    ['the name it names', { ...pods, resourceNames: ['a'] }, { name: 'a' }, true],
    ['another name', { ...pods, resourceNames: ['a'] }, { name: 'b' }, false],
    ['no name, when it names one', { ...pods, resourceNames: ['a', ''] }, { name: '' }, false],
    ['a path', urls('/healthz'), path('/healthz'), true],
    ['a path below', urls('/healthz'), path('/healthz/x'), false],
    ['a path below a star', urls('/apis/*'), path('/apis/apps'), true],
    ['the path before a star', urls('/apis/*'), path('/apis'), false],
    ['every path', urls('*'), path('/x'), true],
    ['two stars', urls('/a**'), path('/ab'), true],
    ['a path with a star within', urls('/a/*/b'), path('/a/x/b'), false],
    ['a resource, when it names paths', urls('*'), {}, false],
    ['a path, when it names resources', { ...pods, resources: ['*'] }, path('/x'), false],
  ] satisfies [string, JsonObject, Partial<Asked>, boolean][]) {
    it(`apiserver/Z4: ${isAllowed ? 'allows' : 'does not allow'} ${what}`, () => {
      assert.equal(ruleAllows(ruleOf(rule), asked(request)), isAllowed);
    });
  }

  const user: UserInfo = { name: 'system:serviceaccount:ns:robot', groups: ['dev'] };
  for (const [subject, namespace, isMeant] of [
    [{ kind: 'User', name: 'system:serviceaccount:ns:robot' }, '', true],
    [{ kind: 'Group', name: 'dev' }, '', true],
    [{ kind: 'Group', name: 'ops' }, '', false],
    [{ kind: 'ServiceAccount', name: 'robot', namespace: 'ns' }, '', true],
    [{ kind: 'ServiceAccount', name: 'robot' }, 'ns', true],
    [{ kind: 'ServiceAccount', name: 'robot' }, '', false],
    [{ kind: 'Odd', name: 'dev' }, '', false],
  ] as const) {
    it(`apiserver/Z4: given to ${JSON.stringify(subject)} in ${namespace || 'no namespace'} ${isMeant ? 'is' : 'is not'} this user's`, () => {
      const [found] = subjectsOf({ subjects: [{ ...subject }] });
      assert.ok(found !== undefined);
      assert.equal(subjectIs(found, user, namespace), isMeant);
    });
  }

  it('apiserver/Z4: is named with its subject', () => {
    assert.equal(subjectText({ kind: 'ServiceAccount', name: 'a', namespace: '' }, 'ns'), 'ServiceAccount "a/ns"');
    assert.equal(subjectText({ kind: 'User', name: 'a', namespace: '' }, 'ns'), 'User "a"');
  });
});

describe('rules that cover others', () => {
  const words = (...values: string[]) => fc.subarray(values, { minLength: 1 });
  const anyRule: fc.Arbitrary<PolicyRule> = fc.record({
    verbs: words('get', 'list', '*'),
    apiGroups: words('', 'apps', '*'),
    resources: words('pods', 'pods/log', '*/log', '*'),
    resourceNames: fc.subarray(['a', 'b']),
    nonResourceURLs: fc.constant([]),
  });

  it('apiserver/Z4: everybody may give what he has', () => {
    fc.assert(
      fc.property(fc.array(anyRule), (rules) => assert.deepEqual(uncovered(rules, rules), [])),
      { numRuns: 200 },
    );
  });

  it('apiserver/Z4: what is not missing, the owner is allowed', () => {
    const request = fc.record({
      verb: fc.constantFrom('get', 'list'),
      group: fc.constantFrom('', 'apps'),
      resource: fc.constant('pods'),
      subresource: fc.constantFrom('', 'log'),
      name: fc.constantFrom('', 'a', 'c'),
    });
    const law = fc.property(fc.array(anyRule), anyRule, request, (owned, wanted, fields) => {
      if (uncovered(owned, [wanted]).length > 0 || !ruleAllows(wanted, asked(fields))) return;
      assert.ok(owned.some((rule) => ruleAllows(rule, asked(fields))));
    });
    fc.assert(law, { numRuns: 500 });
  });

  it('apiserver/Z4: paths are covered by prefixes and told one by one', () => {
    const rule = (nonResourceURLs: string[], ...verbs: string[]): PolicyRule => ruleOf({ nonResourceURLs, verbs });
    assert.deepEqual(uncovered([rule(['/a*'], '*')], [rule(['/a/b', '/a*'], 'get')]), []);
    assert.deepEqual(describeRules(uncovered([], [rule(['/x'], 'get', 'put')])), [
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
      '{NonResourceURLs:["/x"], Verbs:["put"]}',
    ]);
  });
});

describe('authorization', () => {
  let server: AdmissionServer;
  before(async () => {
    server = await AdmissionServer.start();
    await server.made(`${RBAC}/namespaces/default/roles`, {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
    });
    await server.made(`${RBAC}/namespaces/default/rolebindings`, {
      metadata: { name: 'readers' },
      roleRef: { apiGroup: GROUP, kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'Group', name: 'dev' }],
    });
  });
  after(() => server[Symbol.asyncDispose]());
  const review = (kind: string, spec: JsonObject, more: JsonObject = {}, namespace = ''): Promise<Answer> => {
    const place = namespace === '' ? '' : `namespaces/${namespace}/`;
    return server.send(
      'POST',
      `/apis/authorization.k8s.io/v1/${place}${kind}`,
      { spec, ...more },
      { as: 'alice', groups: ['system:masters'] },
    );
  };
  const configmaps = { namespace: 'default', verb: 'get', resource: 'configmaps' };

  it('apiserver/Z5: a review says what is allowed and by what', async () => {
    const { status, body } = await review('subjectaccessreviews', {
      groups: ['dev'],
      resourceAttributes: configmaps,
    });
    assert.equal(status, 201);
    const reason = 'RBAC: allowed by RoleBinding "readers/default" of Role "reader" to Group "dev"';
    assert.deepEqual(body.status, { allowed: true, reason });
    const elsewhere = { ...configmaps, namespace: 'kube-system' };
    const other = await review('subjectaccessreviews', { groups: ['dev'], resourceAttributes: elsewhere });
    assert.deepEqual(other.body.status, { allowed: false });
  });

  it('apiserver/Z5: others ask for themselves, or in one namespace', async () => {
    const self = await server.send(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      { spec: { resourceAttributes: configmaps } },
      { as: 'bob', groups: ['dev'] },
    );
    assert.equal(self.body.status.allowed, true);
    const spec = { user: 'bob', resourceAttributes: configmaps };
    const local = await review('localsubjectaccessreviews', spec, {}, 'default');
    assert.deepEqual([local.status, local.body.status], [201, { allowed: false }]);
    const paths = { nonResourceAttributes: { path: '/healthz', verb: 'get' } };
    assert.equal(
      (await review('subjectaccessreviews', { groups: ['system:authenticated'], ...paths })).body.status.allowed,
      true,
    );
  });

  it('apiserver/Z5: rules and names of oneself are told', async () => {
    const rules = await server.send(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      { spec: { namespace: 'default' } },
      { as: 'bob', groups: ['dev'] },
    );
    const own = { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] };
    assert.ok(rules.body.status.resourceRules.some((rule: Loose) => JSON.stringify(rule) === JSON.stringify(own)));
    assert.equal(rules.body.status.incomplete, false);
    const without = await server.send(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      { spec: {} },
      { as: 'bob' },
    );
    assert.deepEqual([without.status, without.body.message], [400, 'no namespace on request']);
    const self = await server.send(
      'POST',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      {},
      { as: 'bob', groups: ['dev'] },
    );
    assert.deepEqual(self.body.status.userInfo, { username: 'bob', groups: ['dev', 'system:authenticated'] });
  });

  const both = { resourceAttributes: configmaps, nonResourceAttributes: { path: '/x', verb: 'get' } };
  for (const [what, kind, spec, more, field, why] of [
    ['asks nothing', 'subjectaccessreviews', { user: 'a' }, {}, 'spec.resourceAttributes', 'exactly one of'],
    [
      'asks two things',
      'subjectaccessreviews',
      { user: 'a', ...both },
      {},
      'spec.nonResourceAttributes',
      'cannot be specified',
    ],
    [
      'is about nobody',
      'subjectaccessreviews',
      { resourceAttributes: configmaps },
      {},
      'spec.user',
      'at least one of user',
    ],
    [
      'has a name',
      'subjectaccessreviews',
      { user: 'a', resourceAttributes: configmaps },
      { metadata: { name: 'x' } },
      'metadata',
      'must be empty',
    ],
    [
      'selects nothing',
      'subjectaccessreviews',
      { user: 'a', resourceAttributes: { ...configmaps, labelSelector: {} } },
      {},
      'spec.resourceAttributes.labelSelector.requirements',
      'is required',
    ],
    ['asks nothing of oneself', 'selfsubjectaccessreviews', {}, {}, 'spec.resourceAttributes', 'exactly one of'],
    [
      'asks elsewhere',
      'localsubjectaccessreviews',
      { user: 'a', resourceAttributes: { verb: 'get' } },
      {},
      'spec.resourceAttributes.namespace',
      'must match metadata.namespace',
    ],
    [
      'asks for a path',
      'localsubjectaccessreviews',
      { user: 'a', nonResourceAttributes: { path: '/x' } },
      {},
      'spec.nonResourceAttributes',
      'disallowed',
    ],
  ] as const) {
    it(`apiserver/Z5: a review that ${what} is refused`, async () => {
      const { status, body } = await review(kind, spec, more, kind.startsWith('local') ? 'default' : '');
      assert.equal(status, 422);
      assert.match(body.message, /^\.authorization\.k8s\.io "" is invalid: /);
      assert.equal(body.details.causes[0].field, field);
      assert.ok(body.details.causes[0].message.includes(why), body.details.causes[0].message);
    });
  }

  it('apiserver/Z4: a role that is not there gives nothing, which a review tells', async () => {
    const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: 'gone' };
    const subjects = [{ kind: 'User', name: 'unlucky' }];
    await server.made(`${RBAC}/clusterrolebindings`, { metadata: { name: 'gone' }, roleRef, subjects });
    const spec = { user: 'unlucky', resourceAttributes: configmaps };
    const { body } = await review('subjectaccessreviews', spec);
    const problem = 'clusterrole.rbac.authorization.k8s.io "gone" not found';
    assert.deepEqual(body.status, { allowed: false, reason: `RBAC: ${problem}` });
    const rules = await server.send(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      { spec: { namespace: 'default' } },
      { as: 'unlucky' },
    );
    assert.equal(rules.body.status.evaluationError, problem);
  });

  it('apiserver/E17: who may not is told what', async () => {
    const { status, body } = await server.send('GET', '/api/v1/namespaces/default/secrets/s', undefined, {
      as: 'bob',
    });
    assert.equal(status, 403);
    assert.equal(
      body.message,
      'secrets "s" is forbidden: User "bob" cannot get resource "secrets" in API group "" in the namespace "default"',
    );
  });

  it('apiserver/Z4: a change of bindings counts for the next request', async () => {
    const get = () => server.send('GET', '/api/v1/nodes', undefined, { as: 'late' });
    assert.equal((await get()).status, 403);
    const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: 'cluster-admin' };
    await server.made(`${RBAC}/clusterrolebindings`, {
      metadata: { name: 'late' },
      roleRef,
      subjects: [{ kind: 'User', name: 'late' }],
    });
    assert.equal((await get()).status, 200);
    await server.send('DELETE', `${RBAC}/clusterrolebindings/late`);
    assert.equal((await get()).status, 403);
  });

  it('apiserver/Z9: everybody may read versions and health, only the authenticated what is served', async () => {
    const get = async (target: string, groups: readonly string[], as: string) =>
      (await server.send('GET', target, undefined, { as, groups })).status;
    for (const target of ['/version', '/livez', '/readyz', '/healthz'])
      assert.equal(await get(target, [], 'x'), 200, target);
    assert.equal(await get('/apis', [], 'x'), 200);
    assert.equal(await get('/metrics', [], 'x'), 403);
  });
});

describe('the guard', () => {
  const info = (verb: string, more: Partial<RequestInfo> = {}): RequestInfo => ({
    ...asked({ verb }),
    rest: [],
    ...more,
  });
  const user: UserInfo = { name: 'u', groups: [] };
  const request: ApiRequest = {
    method: 'GET',
    path: '',
    query: new URLSearchParams(),
    headers: {},
    credentials: {},
    isInProcess: false,
    signal: new AbortController().signal,
    body: () => Promise.resolve(new Uint8Array()),
  };

  it('apiserver/O1: lets a number in at a time, reading and writing apart', () => {
    const guard = new InFlightGuard({ reading: 1, mutating: 1 });
    const reading = guard.enter(info('get'), user, request);
    guard.enter(info('create'), user, request);
    assert.deepEqual(guard.inFlight, { reading: 1, mutating: 1 });
    assert.throws(() => guard.enter(info('list'), user, request), {
      code: 429,
      message: 'too many requests, please try again later',
    });
    assert.throws(() => guard.enter(info('patch'), user, request), { code: 429 });
    reading[Symbol.dispose]();
    guard.enter(info('list'), user, request);
  });

  it('apiserver/O1: never keeps out watches, health, administrators, leases of the system and this process', () => {
    const guard = new InFlightGuard({ reading: 0, mutating: 0 });
    guard.enter(info('watch'), user, request);
    guard.enter(info('get', { isResourceRequest: false, path: '/livez' }), user, request);
    guard.enter(info('create'), { name: 'root', groups: ['system:masters'] }, request);
    guard.enter(info('update', { resource: 'leases' }), { name: 'system:node:n', groups: [] }, request);
    guard.enter(info('create'), user, { ...request, isInProcess: true });
    assert.deepEqual(guard.inFlight, { reading: 0, mutating: 0 });
    assert.deepEqual(DEFAULT_LIMITS, { reading: 400, mutating: 200 });
  });
});
