import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ControlledServer } from '../../../test/support/controlled-server.ts';
import type { JsonObject } from '../../object/json.ts';
import { aggregatedRules } from './role-aggregation.ts';

const rule = (resource: string): JsonObject => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
const role = (name: string, labels: JsonObject, resources: readonly string[]): JsonObject => ({
  metadata: { name, labels },
  rules: resources.map(rule),
});

describe('rules of an aggregated role', () => {
  const byLabel = (key: string) => ({ matchLabels: { [key]: 'true' } });

  it('come selector by selector, in the order of role names, each once', () => {
    const roles = [
      role('b', { x: 'true' }, ['pods', 'nodes']),
      role('a', { x: 'true', y: 'true' }, ['secrets', 'pods']),
    ];
    const names = (rules: readonly unknown[]) =>
      rules.map((item) => (item as { resources: string[] }).resources[0]);
    assert.deepEqual(names(aggregatedRules({ clusterRoleSelectors: [byLabel('x')] }, roles)), [
      'secrets',
      'pods',
      'nodes',
    ]);
    assert.deepEqual(names(aggregatedRules({ clusterRoleSelectors: [byLabel('y'), byLabel('x')] }, roles)), [
      'secrets',
      'pods',
      'nodes',
    ]);
  });

  it('are none without selectors', () => assert.deepEqual(aggregatedRules({}, [role('a', {}, ['pods'])]), []));
});

describe('role aggregation', () => {
  const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  let server: ControlledServer;
  before(async () => {
    server = await ControlledServer.start();
  });
  after(() => server[Symbol.asyncDispose]());
  const rulesOf = (name: string): { resources: string[] }[] =>
    server.stored(`rbac.authorization.k8s.io/clusterroles/${name}`)?.rules ?? [];

  it('apiserver/Z4: admin, edit and view have their rules from the start', () => {
    for (const name of ['admin', 'edit', 'view']) assert.ok(rulesOf(name).length > 10, name);
    assert.ok(rulesOf('admin').length > rulesOf('edit').length);
  });

  it('follows roles that come, change and go', async () => {
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const has = (name: string, resource: string) =>
      rulesOf(name).some(({ resources }) => resources.includes(resource));
    await server.create(ROLES, { ...role('mine', labels, ['widgets']) });
    await server.until(() => ['view', 'edit', 'admin'].every((name) => has(name, 'widgets')));
    await server.merge(`${ROLES}/mine`, { rules: [rule('gadgets')] });
    await server.until(() => has('admin', 'gadgets') && !has('admin', 'widgets'));
    await server.remove(`${ROLES}/mine`);
    await server.until(() => !has('view', 'gadgets') && !has('admin', 'gadgets'));
  });
});
