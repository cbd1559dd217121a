import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { grant } from '../../../test/support/cloud-program.ts';
import { SelfSubjectRulesReview } from '../../api/generated/authorization-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { TestEnv } from '../../testing/test-env.ts';
import { ApiError } from '../client/api-error.ts';
import { createClient } from '../client/create-client.ts';
import type { Need } from '../rbac/need.ts';
import { gives, notInRules, type Permission } from './own-rules.ts';
import { missingPermissions, permissionsOf } from './self-check.ts';

const permission = (more: Partial<Permission> = {}): Permission => ({
  verb: 'get',
  group: 'apps',
  resource: 'deployments',
  namespace: 'own',
  name: '',
  ...more,
});

describe('gives', () => {
  const rule = { verbs: ['get', 'list'], apiGroups: ['apps'], resources: ['deployments', '*/scale'] };
  for (const [what, given, asked, isGiven] of [
    ['a rule that says it', rule, {}, true],
    ['another verb', rule, { verb: 'watch' }, false],
    ['another group', rule, { group: '' }, false],
    ['another resource', rule, { resource: 'daemonsets' }, false],
    ['a subresource that is not named', rule, { resource: 'deployments/status' }, false],
    ['a subresource of everything', rule, { resource: 'daemonsets/scale' }, true],
    ['everything', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { resource: 'pods/exec' }, true],
    ['any object, by a rule about one', { ...rule, resourceNames: ['a'] }, {}, false],
    ['one object, by a rule about it', { ...rule, resourceNames: ['a'] }, { name: 'a' }, true],
    ['one object, by a rule about all', rule, { name: 'a' }, true],
  ] as const) {
    it(`${what}: ${isGiven ? 'yes' : 'no'}`, () => {
      assert.equal(gives(given, permission(asked)), isGiven);
    });
  }
});

const NEEDS: readonly Need[] = [
  { group: '', resource: 'nodes', verbs: ['get', 'list', 'watch'], scope: 'Cluster' },
  { group: '', resource: 'pods', verbs: ['get', 'list', 'watch'], namespace: 'default' },
  { group: '', resource: 'configmaps', verbs: ['get', 'update'], namespace: 'kube-system' },
];

/** A server where `ours` may do what it needs. */
async function world(needs: readonly Need[]) {
  const env = await TestEnv.start();
  await grant(env, 'ours', needs);
  const { clock, recorder } = env;
  const transport = env.transportFor('ours');
  return { env, recorder, client: createClient({ transport, fieldManager: 'ours', clock, log: SILENT_LOG }) };
}

const permissions = permissionsOf(NEEDS, []);

describe('notInRules', () => {
  it('asks once for the cluster and once for each namespace with more than two permissions', async () => {
    const { env, recorder, client } = await world(NEEDS);
    await using _env = env;
    const left = await notInRules(client, permissions);
    assert.deepEqual(new Set(left.map(({ namespace }) => namespace)), new Set(['kube-system']));
    assert.equal(recorder.requests.length, 2);
    assert.deepEqual(await missingPermissions(client, permissions), []);
  });

  it('does not take what holds in one namespace for what holds everywhere', async () => {
    const { env, client } = await world(NEEDS);
    await using _env = env;
    const wide: readonly Need[] = [{ group: '', resource: 'pods', verbs: ['get', 'list', 'watch'] }];
    const wanted = permissionsOf(wide, []);
    assert.deepEqual(await notInRules(client, wanted), wanted);
    assert.deepEqual(await missingPermissions(client, wanted), wanted);
  });

  it('finds what is missing in a namespace whose other rights are there', async () => {
    const { env, client } = await world(NEEDS);
    await using _env = env;
    const more: Need = { group: '', resource: 'pods', verbs: ['delete'], namespace: 'default' };
    const missing = await missingPermissions(client, permissionsOf([...NEEDS, more], []));
    assert.deepEqual(
      missing.map(({ verb, resource }) => `${verb} ${resource}`),
      ['delete pods'],
    );
  });

  it('leaves everything to single questions where nobody is told his rules', async () => {
    const refused = new ApiError({ code: 403, reason: 'Forbidden', message: 'no' });
    const create = async (kind: unknown) => {
      assert.equal(kind, SelfSubjectRulesReview);
      throw refused;
    };
    const left = await notInRules({ create } as unknown as Parameters<typeof notInRules>[0], permissions);
    assert.deepEqual(left, permissions);
  });
});
