import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { authorityPem, ConfigSyncWorld, SYSTEM_BUNDLE } from '../../../../test/support/config-sync-world.ts';
import { reconcileContext } from '../../../../test/support/reconcile-context.ts';
import { ConfigMap } from '../../../api/generated/core-v1.ts';
import { ClusterOperator, Proxy, SINGLETON } from '../../../api/openshift/config-v1.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TrustedCaReconciler } from './reconcile.ts';

const HEALTHY = [
  'Available=True/AsExpected Trusted CA Bundle Controller works as expected',
  'Degraded=False/AsExpected Trusted CA Bundle Controller works as expected',
];
const failed = (problem: string) => [
  `Available=False/SyncingFailed Trusted CA Bundle Controller failed to sync the trusted CA bundle: ${problem}`,
  `Degraded=True/SyncingFailed Trusted CA Bundle Controller failed to sync the trusted CA bundle: ${problem}`,
];
const MISSING = `failed to get system trust bundle ${SYSTEM_BUNDLE}: ENOENT: no such file or directory, open '${SYSTEM_BUNDLE}'`;

const bundleIn = async (world: ConfigSyncWorld) => (await world.data('ccm-trusted-ca'))?.['ca-bundle.crt'];
const conditionsOf = (world: ConfigSyncWorld) => world.conditions('TrustedCABundleController');

/** Two authorities of the system and one of a user. */
async function startWorld() {
  const [first, second, user] = await Promise.all(['a', 'b', 'user'].map(authorityPem));
  const world = await ConfigSyncWorld.start();
  const system = `${first}${second}`;
  world.files.set(SYSTEM_BUNDLE, system);
  return { world, system, user: user ?? '' };
}

describe('the authorities of cloud controller managers', () => {
  it('operator/case 18: are those of the user and then those of the system, or only these when the user gave garbage', async () => {
    const { world, system, user } = await startWorld();
    await using _world = world;
    await world.configMap('openshift-config', 'user-ca', { data: { 'ca-bundle.crt': user } });
    await world.proxy('user-ca');
    await world.run();
    assert.equal(await bundleIn(world), `${user}\n${system}`);
    assert.equal((await bundleIn(world))?.match(/BEGIN CERTIFICATE/g)?.length, 3);
    await world.configMap('openshift-config', 'user-ca', { data: { 'ca-bundle.crt': 'garbage' } });
    assert.equal(await bundleIn(world), system);
    assert.deepEqual(await conditionsOf(world), HEALTHY);
    await world.env.advance(60_000);
    assert.deepEqual(await world.warnings(), [
      'TrustedCAIgnored key ca-bundle.crt of ConfigMap openshift-config/user-ca is ignored, its authorities are not trusted: it holds no PEM block',
    ]);
  });

  it('operator/R76: are left alone without a Proxy', async () => {
    const { world } = await startWorld();
    await using _world = world;
    await world.run();
    assert.equal(await world.managed('ccm-trusted-ca'), undefined);
    assert.deepEqual(await conditionsOf(world), HEALTHY);
  });

  it('operator/R78: a ConfigMap that is not there is said on the Proxy, and taken when it comes', async () => {
    const { world, system, user } = await startWorld();
    await using _world = world;
    await world.proxy('late');
    await world.run();
    assert.equal(await bundleIn(world), system);
    await world.env.advance(60_000);
    assert.deepEqual(await world.warnings(), [
      'TrustedCAIgnored spec.trustedCA names ConfigMap openshift-config/late, which does not exist; its authorities are not trusted',
    ]);
    await world.configMap('openshift-config', 'late', { data: { 'ca-bundle.crt': `${user}\n\n` } });
    assert.equal(await bundleIn(world), `${user}\n\n\n${system}`, 'an empty line at the end does no harm (18.16)');
    await world.proxy();
    assert.equal(await bundleIn(world), system);
  });

  it('operator/R79: take what the cloud config brings along, unless it is broken', async () => {
    const { world, system, user } = await startWorld();
    await using _world = world;
    const { managedNamespace } = world.names;
    await world.proxy();
    await world.run();
    await world.configMap(managedNamespace, 'cloud-conf', { data: { 'ca-bundle.pem': user } });
    assert.equal(await bundleIn(world), `${user}\n${system}`);
    await world.configMap('openshift-config', 'same', { data: { 'ca-bundle.crt': user } });
    await world.proxy('same');
    assert.equal(await bundleIn(world), `${user}\n${system}`, 'not twice');
    await world.configMap(managedNamespace, 'cloud-conf', { data: { 'ca-bundle.pem': 'x' } });
    await world.proxy();
    assert.equal(await bundleIn(world), system);
    assert.deepEqual(await conditionsOf(world), HEALTHY);
  });

  it('operator/R81, operator/R69: are repaired, with the annotation and nothing else', async () => {
    const { world, system } = await startWorld();
    await using _world = world;
    await world.proxy();
    await world.run();
    const annotations = { 'openshift.io/owning-component': 'Cloud Compute / Cloud Controller Manager' };
    const key = { namespace: world.names.managedNamespace, name: 'ccm-trusted-ca' };
    const body = { metadata: { labels: { foreign: 'yes' }, annotations: { other: 'x' } }, data: { more: 'x' } };
    await world.client.patch(ConfigMap, key, { type: 'merge', body });
    await world.env.settle();
    const found = await world.managed('ccm-trusted-ca');
    assert.deepEqual(found?.metadata.annotations, annotations);
    assert.deepEqual([found?.metadata.labels, found?.data], [undefined, { 'ca-bundle.crt': system }]);
    await world.client.patch(ConfigMap, key, { type: 'merge', body: { immutable: true } });
    await world.env.settle();
    assert.equal((await world.managed('ccm-trusted-ca'))?.immutable, undefined, 'made anew');
    await world.client.delete(ConfigMap, key);
    await world.env.settle();
    assert.equal(await bundleIn(world), system);
  });

  it('operator/R68: are read again from the system every ten minutes, and written when they changed', async () => {
    const { world } = await startWorld();
    await using _world = world;
    await world.proxy();
    await world.run();
    await expectNoWrites(world.env.recorder, () => world.env.advance(599_000));
    const renewed = await authorityPem('renewed');
    world.files.set(SYSTEM_BUNDLE, renewed);
    await world.env.advance(2000);
    assert.equal(await bundleIn(world), renewed);
  });
});

describe('what goes wrong with authorities', () => {
  const breakages: readonly { readonly name: string; readonly text?: string; readonly problem: string }[] = [
    { name: 'is missing', problem: MISSING },
    {
      name: 'is broken',
      text: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      problem: `failed to get system trust bundle ${SYSTEM_BUNDLE}: certificate 1 cannot be parsed`,
    },
  ];
  for (const { name, text, problem } of breakages)
    it(`operator/R77, operator/R59: a bundle of the system that ${name} is told after two minutes`, async () => {
      const { world, system } = await startWorld();
      await using _world = world;
      await world.proxy();
      await world.run();
      world.files.delete(SYSTEM_BUNDLE);
      if (text !== undefined) world.files.set(SYSTEM_BUNDLE, text);
      await world.proxy('absent');
      await world.env.advance(80_000);
      assert.deepEqual(await conditionsOf(world), HEALTHY);
      assert.equal(await bundleIn(world), system, 'what is there stays');
      await world.env.advance(90_000);
      const [, degraded = ''] = await conditionsOf(world);
      assert.ok(degraded.startsWith(failed(problem)[1] ?? '?'), degraded);
      world.files.set(SYSTEM_BUNDLE, system);
      await world.proxy();
      assert.deepEqual(await conditionsOf(world), HEALTHY);
    });

  it('operator/R80, operator/R61: a ConfigMap that has nothing to do with it neither writes anything nor ends the failure', async () => {
    const { world } = await startWorld();
    await using _world = world;
    world.files.delete(SYSTEM_BUNDLE);
    await world.proxy();
    await world.run();
    await world.env.advance(80_000);
    await expectNoWrites(world.env.recorder, () =>
      world.configMap('openshift-config', 'unrelated', { data: { a: 'b' } }),
    );
    await world.env.advance(90_000);
    assert.deepEqual(await conditionsOf(world), failed(MISSING));
    await expectNoWrites(world.env.recorder, async () => {
      await world.configMap('openshift-config', 'unrelated', { data: { a: 'c' } });
      await world.configMap('elsewhere', 'user-ca', { data: { a: 'c' } });
    });
    assert.deepEqual(await conditionsOf(world), failed(MISSING));
  });

  it('operator/R60: failures more than 150 s apart do not add up', async () => {
    const { world } = await startWorld();
    await using _world = world;
    await world.proxy();
    const { clusterOperator, managedNamespace } = world.names;
    const reconciler = new TrustedCaReconciler({
      clusterOperator,
      managedNamespace,
      systemTrustBundle: SYSTEM_BUNDLE,
      readText: () => Promise.reject(new Error('gone')),
      clock: world.env.clock,
    });
    const fail = async (waitMs: number) => {
      await world.env.advance(waitMs);
      await assert.rejects(reconciler.reconcile(reconcileContext(world.client).context), /: gone$/);
      return (await conditionsOf(world)).length > 0;
    };
    assert.deepEqual(
      [await fail(0), await fail(151_000), await fail(119_000), await fail(1000)],
      [false, false, false, true],
    );
  });

  const refusals: readonly { readonly name: string; readonly method: string; readonly path: RegExp }[] = [
    { name: 'the ConfigMap', method: 'POST', path: /configmaps/ },
    { name: 'the status', method: 'PATCH', path: /clusteroperators/ },
  ];
  for (const { name, method, path } of refusals)
    it(`operator/R58: ${name} that cannot be written is tried again`, async () => {
      const { world, system } = await startWorld();
      await using _world = world;
      await world.run();
      const matches = (request: { method: string; target: string }) =>
        request.method === method && path.test(request.target);
      world.env.faults.arm({ matches, fault: { kind: 'refuse', status: 503, reason: 'ServiceUnavailable' } });
      await world.client.delete(ClusterOperator, { name: world.names.clusterOperator });
      await world.proxy();
      await world.env.advance(60_000);
      world.env.faults.disarmAll();
      await world.env.advance(200_000);
      assert.equal(await bundleIn(world), system);
      assert.deepEqual(await conditionsOf(world), HEALTHY);
    });

  it('operator/R76: a Proxy that goes away ends a failure', async () => {
    const { world } = await startWorld();
    await using _world = world;
    world.files.delete(SYSTEM_BUNDLE);
    await world.proxy();
    await world.run();
    await world.env.advance(170_000);
    assert.deepEqual(await conditionsOf(world), failed(MISSING));
    await world.client.delete(Proxy, SINGLETON);
    await world.env.settle();
    assert.deepEqual(await conditionsOf(world), HEALTHY);
  });
});
