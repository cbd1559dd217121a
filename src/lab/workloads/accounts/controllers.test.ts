import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uncoveredWrites } from '../../../../test/support/role-coverage.ts';
import { silenceServerAccounts } from '../../../../test/support/server-accounts.ts';
import { ConfigMap, Namespace, ServiceAccount } from '../../../api/generated/core-v1.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { rootAuthorityController, serviceAccountController } from './controllers.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const ACCOUNT = { namespace: 'team', name: 'default' };
const AUTHORITY = { namespace: 'team', name: 'kube-root-ca.crt' };
const UNUSED_EVENTS = ['create events.k8s.io/events', 'patch events.k8s.io/events'];
const controllers = (authorityPem = PEM) => [
  serviceAccountController(),
  rootAuthorityController({ authorityPem }),
];

/** An API server without such controllers of its own, and with a namespace `team`. */
async function foreignServer(): Promise<TestEnv> {
  const env = await TestEnv.start();
  await silenceServerAccounts(env.client);
  await env.startManager({ add: controllers() });
  await env.client.create(Namespace, { metadata: { name: 'team' } });
  await env.settle();
  return env;
}

const dataOf = async (env: TestEnv) => (await env.client.get(ConfigMap, AUTHORITY)).data;

describe('accounts', () => {
  it('lab/W39: gives a new namespace its account and the authority', async () => {
    await using env = await foreignServer();
    assert.equal((await env.client.get(ServiceAccount, ACCOUNT)).metadata.name, 'default');
    assert.deepEqual(await dataOf(env), { 'ca.crt': PEM });
  });

  it('lab/W39: makes both again when somebody deletes them', async () => {
    await using env = await foreignServer();
    const [account, authority] = [
      await env.client.get(ServiceAccount, ACCOUNT),
      await env.client.get(ConfigMap, AUTHORITY),
    ];
    await env.client.delete(ServiceAccount, ACCOUNT);
    await env.client.delete(ConfigMap, AUTHORITY);
    await env.settle();
    assert.notEqual((await env.client.get(ServiceAccount, ACCOUNT)).metadata.uid, account.metadata.uid);
    assert.notEqual((await env.client.get(ConfigMap, AUTHORITY)).metadata.uid, authority.metadata.uid);
  });

  it('lab/W39: puts the authority right when somebody changed it', async () => {
    await using env = await foreignServer();
    for (const data of [{ 'ca.crt': 'wrong' }, { more: 'x' }]) {
      await env.client.patch(ConfigMap, AUTHORITY, { type: 'merge', body: { data } });
      await env.settle();
      assert.deepEqual(await dataOf(env), { 'ca.crt': PEM });
    }
  });

  it('lab/W39: gives nothing to a namespace that is going', async () => {
    await using env = await foreignServer();
    const stay = { metadata: { namespace: 'team', name: 'stay', finalizers: ['test.slipway.dev/stay'] } };
    await env.client.create(ConfigMap, stay);
    await env.client.delete(Namespace, { name: 'team' });
    await expectNoWrites(env.recorder, () => env.advance(60_000));
    assert.equal(await env.client.find(ServiceAccount, ACCOUNT), undefined);
  });

  it('lab/W39: leaves other accounts and maps alone', async () => {
    await using env = await foreignServer();
    await expectNoWrites(env.recorder, async () => {
      await env.client.create(ServiceAccount, { metadata: { namespace: 'team', name: 'other' } });
      await env.client.delete(ServiceAccount, { namespace: 'team', name: 'other' });
      await env.client.create(ConfigMap, { metadata: { namespace: 'team', name: 'other' } });
      await env.settle();
    });
  });

  it('lab/W39: has nothing to do beside a server that does the same', async () => {
    await using env = await TestEnv.start();
    const { authority } = env.server;
    await env.startManager({ add: controllers(authority.certificatePem) });
    await env.client.create(Namespace, { metadata: { name: 'team' } });
    await env.settle();
    await expectNoWrites(env.recorder, () => env.advance(60 * 60_000));
    await env.client.delete(ServiceAccount, ACCOUNT);
    await env.settle();
    assert.equal((await env.client.get(ServiceAccount, ACCOUNT)).metadata.name, 'default');
    const wasFailure = env.recorder.writes.some(({ status = 0 }) => status >= 400 && status !== 409);
    assert.equal(wasFailure, false);
  });

  it('lab/A5: needs what it uses, and no more than every cluster gives to these controllers', async () => {
    await using env = await foreignServer();
    await env.client.patch(ConfigMap, AUTHORITY, { type: 'merge', body: { data: { more: 'x' } } });
    await env.settle();
    expectExactRbac(env, { unused: UNUSED_EVENTS });
    for (const [controller, role] of [
      [serviceAccountController(), 'system:controller:service-account-controller'],
      [rootAuthorityController({ authorityPem: PEM }), 'system:controller:root-ca-cert-publisher'],
    ] as const)
      assert.deepEqual(await uncoveredWrites(env.client, controller, role), []);
  });
});
