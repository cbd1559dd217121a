import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigSyncWorld, registryOf } from '../../../test/support/config-sync-world.ts';
import type { Infrastructure } from '../../api/openshift/config-v1.ts';
import { VirtualClock } from '../../base/clock.ts';
import { rulesFrom } from '../../kube/rbac/rules.ts';
import { operatorNames } from '../names.ts';
import { builtInRegistry } from '../registry/built-in.ts';
import { type ConfigSyncRegistry, configSyncCache, configSyncControllers, sharedUse } from './controllers.ts';

const names = operatorNames('replace', '');
const READING = ['get', 'list', 'watch'];

const controllersFor = (registry: ConfigSyncRegistry, provider?: string) =>
  configSyncControllers({
    registry,
    names,
    gatesVersion: '4.20.0',
    settings: { provider, systemTrustBundle: '/bundle' },
    clock: new VirtualClock(),
  });

/** `verb resource in namespace of name`, of everything that changes something. */
const writesOf = (registry: ConfigSyncRegistry, provider?: string): readonly string[] =>
  controllersFor(registry, provider).flatMap(({ name, needs }) =>
    needs
      .flatMap((need) => need.verbs.map((verb) => ({ ...need, verb })))
      .filter(({ verb }) => !READING.includes(verb))
      .map(({ verb, resource, namespace = '*', names: only = [] }) =>
        [name, verb, resource, namespace, only.join()].join(' '),
      ),
  );

describe('what config-sync asks of the API server', () => {
  it('operator/R92: writes its own ConfigMaps and conditions, and what operators share where a provider gives it', () => {
    const own = 'openshift-cloud-controller-manager';
    const co = 'cloud-controller-manager';
    const shared = 'openshift-config-managed';
    assert.deepEqual(writesOf(builtInRegistry()), [
      `cloud-config create clusteroperators * ${co}`,
      `cloud-config patch clusteroperators/status * ${co}`,
      ...['create', 'update', 'delete'].map((verb) => `cloud-config ${verb} configmaps ${own} cloud-conf`),
      ...['create', 'update'].map((verb) => `cloud-config ${verb} configmaps ${shared} kube-cloud-config`),
      `trusted-ca create clusteroperators * ${co}`,
      `trusted-ca patch clusteroperators/status * ${co}`,
      ...['create', 'update', 'delete'].map((verb) => `trusted-ca ${verb} configmaps ${own} ccm-trusted-ca`),
    ]);
    assert.ok(!writesOf(builtInRegistry(), 'aws').some((line) => line.includes(shared)));
    assert.ok(!writesOf(registryOf({})).some((line) => line.includes(shared)));
  });

  it('operator/R3: reads ConfigMaps of three namespaces at most', () => {
    for (const { needs } of controllersFor(builtInRegistry())) {
      const everywhere = needs.filter(({ scope, namespace }) => scope !== 'Cluster' && namespace === undefined);
      assert.deepEqual(everywhere, []);
      rulesFrom(needs);
    }
    const own = ['openshift-acme-cloud-controller-manager', 'openshift-config'];
    const namespaces = (usesShared: boolean) =>
      configSyncCache(operatorNames('sidecar', 'acme'), { usesShared }).byKind?.['configmaps']?.namespaces;
    assert.deepEqual(namespaces(true), [...own, 'openshift-config-managed']);
    assert.deepEqual(namespaces(false), own);
  });

  it('operator/R3, operator/R92: has to do with what operators share where a provider has', () => {
    const policy = (more: object) => registryOf({ External: { sources: ['user'], ...more } });
    assert.deepEqual(sharedUse(policy({})), { usesShared: false, publishes: false });
    assert.deepEqual(sharedUse(policy({ sources: ['managed'] })), { usesShared: true, publishes: false });
    assert.deepEqual(sharedUse(policy({ publishManaged: () => false })), { usesShared: true, publishes: true });
    assert.deepEqual(sharedUse(builtInRegistry(), 'gcp'), { usesShared: false, publishes: false });
    assert.deepEqual(sharedUse(builtInRegistry()), { usesShared: true, publishes: true });
    const unnamed = controllersFor(builtInRegistry()).flatMap(({ needs }) =>
      needs.filter(({ scope, names }) => scope === 'Cluster' && names === undefined),
    );
    assert.deepEqual(unnamed, []);
  });

  it('operator/R97: asks the registry for the provider that was chosen', async () => {
    const asked: unknown[] = [];
    const registry: ConfigSyncRegistry = {
      providers: () => [],
      resolve: (_infra: Infrastructure, choice) => void asked.push(choice),
    };
    await using world = await ConfigSyncWorld.start({ registry, provider: 'acme' });
    await world.run();
    await world.infra({ type: 'External' });
    assert.deepEqual(asked[0], { provider: 'acme' });
  });
});

describe('the words of config-sync', () => {
  it('operator/R58: that differ each time do not wake it, and so failures make their pauses', async () => {
    await using world = await ConfigSyncWorld.start();
    await world.infra({ type: 'AWS' }, { cloudConfig: { name: 'user' } });
    await world.configMap('openshift-config', 'user', { data: { 'cloud.conf': 'x' } });
    await world.proxy();
    const counts = { transformed: 0, read: 0 };
    const transform = () => {
      throw new Error(`attempt ${++counts.transformed}`);
    };
    const known = registryOf({ AWS: { sources: ['user'], transform } });
    await world.env.startManager({
      name: 'config-sync',
      cache: configSyncCache(world.names, sharedUse(known)),
      add: configSyncControllers({
        registry: known,
        names: world.names,
        gatesVersion: '4.20.0',
        settings: { systemTrustBundle: '/bundle' },
        clock: world.env.clock,
        readText: () => Promise.reject(new Error(`attempt ${++counts.read}`)),
      }),
    });
    await world.env.advance(600_000);
    assert.match((await world.conditions('CloudConfig')).join(), /Degraded=True/);
    assert.match((await world.conditions('TrustedCABundleController')).join(), /Degraded=True/);
    // Once, and again when the ClusterOperator had been made for that.
    assert.equal(counts.transformed, 2);
    assert.ok(counts.read < 30, `${counts.read}`);
  });
});
