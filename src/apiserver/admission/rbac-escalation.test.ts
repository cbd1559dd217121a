import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AdmissionServer, type Answer } from '../../../test/support/admission-server.ts';
import type { JsonObject } from '../../object/json.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const GROUP = 'rbac.authorization.k8s.io';
const READ_PODS = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const MANAGE = { apiGroups: [GROUP], resources: ['roles', 'rolebindings', 'clusterroles'], verbs: ['*'] };
const EVERYTHING = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

describe('giving rights away', () => {
  let server: AdmissionServer;
  const give = async (user: string, name: string, rules: readonly JsonObject[]): Promise<void> => {
    await server.made(`${RBAC}/clusterroles`, { metadata: { name }, rules: [...rules] });
    await server.made(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: user }],
    });
  };
  before(async () => {
    server = await AdmissionServer.start();
    // Managing roles does not include `escalate` and `bind`.
    const verbs = ['create', 'update', 'patch', 'get'];
    await give('alice', 'manager', [{ ...MANAGE, verbs }, READ_PODS]);
    await give('escalator', 'escalator', [{ ...MANAGE, verbs: [...verbs, 'escalate'] }]);
    await give('binder', 'binder', [
      { ...MANAGE, verbs },
      { apiGroups: [GROUP], resources: ['clusterroles'], resourceNames: ['view'], verbs: ['bind'] },
    ]);
    await give('root', 'root', EVERYTHING);
  });
  after(() => server[Symbol.asyncDispose]());

  const role = (name: string, rules: readonly JsonObject[], as = 'alice'): Promise<Answer> =>
    server.send('POST', `${RBAC}/namespaces/default/roles`, { metadata: { name }, rules: [...rules] }, { as });
  const binding = (name: string, roleName: string, as = 'alice', kind = 'ClusterRole'): Promise<Answer> =>
    server.send(
      'POST',
      `${RBAC}/namespaces/default/rolebindings`,
      {
        metadata: { name },
        roleRef: { apiGroup: GROUP, kind, name: roleName },
        subjects: [{ kind: 'User', name: 'x' }],
      },
      { as },
    );

  it('apiserver/Z4: whoever has them may', async () => {
    assert.equal((await role('mine', [READ_PODS])).status, 201);
    assert.equal((await role('named', [{ ...READ_PODS, resourceNames: ['p'] }])).status, 201);
  });

  it('apiserver/Z4: whoever lacks some is told which, in upstream words', async () => {
    const rules = [
      { apiGroups: ['', 'apps'], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['a'], verbs: ['get'] },
    ];
    const { status, body } = await role('more', rules);
    assert.equal(status, 403);
    assert.equal(
      body.message,
      [
        `roles.${GROUP} "more" is forbidden: user "alice" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:`,
        '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}',
        '{APIGroups:[""], Resources:["pods/log"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}',
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["pods/log"], Verbs:["get" "list"]}',
      ].join('\n'),
    );
    assert.deepEqual(body.details, { name: 'more', group: GROUP, kind: 'roles' });
  });

  it('apiserver/Z4: an update is checked like a create, unless only owners and finalizers change', async () => {
    await server.made(`${RBAC}/namespaces/default/roles`, {
      metadata: { name: 'big' },
      rules: [{ ...READ_PODS, verbs: ['*'] }],
    });
    const target = `${RBAC}/namespaces/default/roles/big`;
    const type = 'application/merge-patch+json';
    const patch = (body: JsonObject) => server.send('PATCH', target, body, { as: 'alice', type });
    assert.equal((await patch({ metadata: { finalizers: ['ex.io/f'] } })).status, 200);
    assert.equal((await patch({ metadata: { labels: { a: 'b' } } })).status, 403);
    assert.equal((await patch({ rules: [READ_PODS] })).status, 200);
  });

  it('apiserver/Z4: the verb escalate allows everything but aggregation is its own right', async () => {
    assert.equal((await role('any', EVERYTHING.slice(0, 1), 'escalator')).status, 201);
    const aggregated = (name: string, as: string) =>
      server.send(
        'POST',
        `${RBAC}/clusterroles`,
        { metadata: { name }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } },
        { as },
      );
    const { status, body } = await aggregated('sum', 'alice');
    assert.equal(status, 403);
    const why = 'must have cluster-admin privileges to use the aggregationRule';
    assert.equal(body.message, `clusterroles.${GROUP} "sum" is forbidden: ${why}`);
    assert.equal((await aggregated('all', 'root')).status, 201);
  });

  it('apiserver/Z4: a binding needs the rights of its role, or the verb bind', async () => {
    assert.equal((await binding('own', 'manager')).status, 201);
    assert.equal((await binding('view', 'view')).status, 403);
    assert.equal((await binding('view', 'view', 'binder')).status, 201);
    assert.equal((await binding('edit', 'edit', 'binder')).status, 403);
    const missing = await binding('none', 'nobody');
    assert.deepEqual([missing.status, missing.body.message], [404, `rolebindings.${GROUP} "nobody" not found`]);
    assert.equal((await binding('odd', 'x', 'alice', 'Odd')).status, 500);
  });

  it('apiserver/Z3: administrators may do everything', async () => {
    const sending = { as: 'someone', groups: ['system:masters'] };
    const target = `${RBAC}/clusterroles`;
    assert.equal(
      (await server.send('POST', target, { metadata: { name: 'full' }, rules: EVERYTHING }, sending)).status,
      201,
    );
  });
});
