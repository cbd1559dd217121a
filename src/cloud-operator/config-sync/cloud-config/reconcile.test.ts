import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigSyncWorld, putGates } from '../../../../test/support/config-sync-world.ts';
import { ConfigMap } from '../../../api/generated/core-v1.ts';
import {
  ClusterOperator,
  FeatureGate,
  Infrastructure,
  Network,
  SINGLETON,
} from '../../../api/openshift/config-v1.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import type { CloudConfigPolicy } from '../../definition.ts';
import { operatorNames } from '../../names.ts';

const HEALTHY = [
  'Available=True/AsExpected Cloud Config Controller works as expected',
  'Degraded=False/AsExpected Cloud Config Controller works as expected',
];
const failed = (problem: string) => [
  `Available=False/SyncingFailed Cloud Config Controller failed to sync cloud config: ${problem}`,
  `Degraded=True/SyncingFailed Cloud Config Controller failed to sync cloud config: ${problem}`,
];

/** Like those of AWS and vSphere, in fewer words. */
const AWS: CloudConfigPolicy = {
  sources: ['managed', 'user'],
  transform: (source, { warn }) => {
    if (source.includes('broken')) throw new Error('line 1 is broken');
    if (source.includes('odd')) warn('odd is ignored');
    return `[Global]\n${source.replaceAll('odd', '')}`;
  },
};
const VSPHERE: CloudConfigPolicy = {
  sources: ['user'],
  transform: (source) => {
    if (source === '') throw new Error('vSphere config is empty');
    return `yaml ${source}`;
  },
  minimal: (gates) => (gates.isEnabled('Day2') ? 'global: {}' : undefined),
  publishManaged: (gates) => gates.isEnabled('Day2'),
};
const POLICIES = { AWS, VSphere: VSPHERE, GCP: { sources: ['user'] } } satisfies Record<string, CloudConfigPolicy>;
const USER = { cloudConfig: { name: 'user', key: 'config' } };
const SHARED = { namespace: 'openshift-config-managed', name: 'kube-cloud-config' };

const startWorld = () => ConfigSyncWorld.start({ policies: POLICIES });

describe('the cloud config of a cluster', () => {
  it('operator/case 12: AWS without a cloud config gets one that begins with [Global]', async () => {
    await using world = await startWorld();
    await world.run();
    await world.infra({ type: 'AWS' });
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '[Global]\n' });
    assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
  });

  it('operator/R65: case 13: a key that is not there is told at once, and an edit helps', async () => {
    await using world = await startWorld();
    await world.run();
    await world.configMap('openshift-config', 'user', { data: { other: 'x' } });
    await world.infra({ type: 'AWS' }, { cloudConfig: { name: 'user', key: 'nope' } });
    const problem =
      'key nope specified in infra resource does not exist in source configmap openshift-config/user';
    assert.deepEqual(await world.conditions('CloudConfig'), failed(problem));
    assert.equal(await world.managed('cloud-conf'), undefined);
    await expectNoWrites(world.env.recorder, () => world.env.advance(600_000));
    await world.configMap('openshift-config', 'user', { data: { other: 'x', nope: 'y' } });
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '[Global]\ny', other: 'x' });
    assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
  });

  it('operator/R63: case 14: BareMetal needs none, and what is there is left alone', async () => {
    await using world = await startWorld();
    await world.configMap(world.names.managedNamespace, 'cloud-conf', { data: { kept: 'yes' } });
    await world.run();
    await world.infra({ type: 'BareMetal' });
    assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
    assert.deepEqual(await world.data('cloud-conf'), { kept: 'yes' });
    assert.deepEqual(
      world.writes.filter((line) => line.includes('configmaps')),
      [],
    );
  });

  it('operator/R62: a cluster without Infrastructure is well', async () => {
    await using world = await startWorld();
    await world.run();
    assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
    assert.equal(await world.managed('cloud-conf'), undefined);
  });

  it('operator/R64: what operators share comes before what users wrote, where the platform says so', async () => {
    await using world = await startWorld();
    await world.run();
    await world.configMap('openshift-config', 'user', { data: { config: 'of the user' } });
    await world.configMap(SHARED.namespace, SHARED.name, { data: { 'cloud.conf': 'shared' } });
    await world.infra({ type: 'AWS' }, USER);
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '[Global]\nshared' });
    await world.client.delete(ConfigMap, SHARED);
    await world.env.settle();
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '[Global]\nof the user' });
    await world.infra({ type: 'GCP' }, USER);
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': 'of the user' });
  });

  it('operator/R68: nothing is written when nothing changes, for ten minutes and after a restart', async () => {
    await using world = await startWorld();
    const manager = await world.run();
    await world.configMap('openshift-config', 'user', { data: { config: 'x' }, binaryData: { bin: 'AA==' } });
    await world.infra({ type: 'AWS' }, USER);
    await expectNoWrites(world.env.recorder, async () => {
      await world.env.advance(600_000);
      await world.configMap('openshift-config', 'unrelated', { data: { a: 'b' } });
      await world.env.stopManager(manager);
    });
    await expectNoWrites(world.env.recorder, async () => void (await world.run()));
  });

  it('operator/R69: deletes and edits by hand are repaired, labels of others stay', async () => {
    await using world = await startWorld();
    await world.run();
    await world.infra({ type: 'AWS' });
    const key = { namespace: world.names.managedNamespace, name: 'cloud-conf' };
    await world.client.delete(ConfigMap, key);
    await world.env.settle();
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '[Global]\n' });
    const body = { metadata: { labels: { mine: 'yes' } }, data: { 'cloud.conf': 'edited', more: 'x' } };
    await world.client.patch(ConfigMap, key, { type: 'merge', body });
    await world.env.settle();
    const found = await world.managed('cloud-conf');
    assert.deepEqual([found?.data, found?.metadata.labels], [{ 'cloud.conf': '[Global]\n' }, { mine: 'yes' }]);
  });

  it('operator/R67: is given to other operators where the gate says so, and made of nothing but the Infrastructure', async () => {
    await using world = await startWorld();
    await world.run();
    await world.infra({ type: 'VSphere' }, { cloudConfig: { name: 'gone', key: '' } });
    const empty = failed('failed to transform cloud config: vSphere config is empty');
    assert.deepEqual(await world.conditions('CloudConfig'), empty);
    await putGates(world.client, ['Day2']);
    await world.env.settle();
    const data = { 'cloud.conf': 'yaml global: {}' };
    assert.deepEqual((await world.client.get(ConfigMap, SHARED)).data, data);
    assert.deepEqual(await world.data('cloud-conf'), data);
    await world.infra({ type: 'VSphere' });
    assert.deepEqual(await world.conditions('CloudConfig'), empty, 'nothing is named, so nothing stands for it');
  });

  it('operator/section 18.17: immutable is compared by value', async () => {
    await using world = await startWorld();
    await putGates(world.client, ['Day2']);
    await world.run();
    await world.configMap('openshift-config', 'user', { data: { config: 'x' }, immutable: true });
    await world.infra({ type: 'VSphere' }, USER);
    assert.equal((await world.client.get(ConfigMap, SHARED)).immutable, true);
    await expectNoWrites(world.env.recorder, () =>
      world.infra({ type: 'VSphere', vsphere: { ingressIPs: ['1.2.3.4'] } }, USER),
    );
  });

  it('makes its own ConfigMap anew when it is immutable, and asks users to delete the one that others read', async () => {
    await using world = await startWorld();
    await putGates(world.client, ['Day2']);
    await world.run();
    await world.configMap('openshift-config', 'user', { data: { config: 'x' }, immutable: true });
    await world.infra({ type: 'VSphere' }, USER);
    await world.configMap('openshift-config', 'newer', { data: { config: 'y' } });
    await world.infra({ type: 'VSphere' }, { cloudConfig: { name: 'newer', key: 'config' } });
    const problem =
      'ConfigMap openshift-config-managed/kube-cloud-config is immutable and does not hold the present cloud config; delete it (oc delete configmap -n openshift-config-managed kube-cloud-config), and it is made anew';
    assert.deepEqual(await world.conditions('CloudConfig'), failed(problem));
    await world.client.delete(ConfigMap, SHARED);
    await world.env.settle();
    const found = await world.managed('cloud-conf');
    assert.deepEqual([found?.data, found?.immutable], [{ 'cloud.conf': 'yaml y' }, undefined]);
    assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
  });

  it('tells users what was left out on the ConfigMap that they wrote, once per change', async () => {
    await using world = await startWorld();
    await world.run();
    await world.configMap('openshift-config', 'user', { data: { config: 'odd' } });
    await world.infra({ type: 'AWS' }, USER);
    await world.infra({ type: 'AWS' }, { ...USER, platformSpec: { type: 'AWS' } });
    await world.env.advance(60_000);
    assert.deepEqual(await world.warnings(), ['CloudConfigPartlyIgnored odd is ignored']);
    await world.configMap('openshift-config', 'user', { data: { config: 'odd x' } });
    await world.env.advance(60_000);
    assert.equal((await world.warnings()).length, 1, 'one series');
    assert.ok(world.env.recorder.writes.filter(({ target }) => target.includes('/events')).length > 1);
  });

  it('operator/D1: works under names of its own beside the operator of the payload', async () => {
    const names = operatorNames('sidecar', 'acme');
    const policies = { External: { sources: ['user'] } satisfies CloudConfigPolicy };
    await using world = await ConfigSyncWorld.start({ policies, names });
    await world.run();
    await world.configMap('openshift-config', 'user', { data: { config: 'x' } });
    await world.infra({ type: 'External' }, USER);
    await world.proxy();
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': 'x' });
    assert.equal(names.managedNamespace, 'openshift-acme-cloud-controller-manager');
    assert.ok((await world.managed('ccm-trusted-ca')) !== undefined);
    const operators = (await world.client.list(ClusterOperator)).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(operators, ['acme-cloud-controller-manager']);
  });

  it('operator/D3: writes nothing while an administrator has paused the operator', async () => {
    await using world = await startWorld();
    await world.run();
    const key = { name: world.names.clusterOperator };
    const annotate = async (state: string) => {
      const body = { metadata: { annotations: { 'slipway.dev/management-state': state } } };
      await world.client.patch(ClusterOperator, key, { type: 'merge', body });
      await world.env.settle();
    };
    await annotate('Unmanaged');
    await expectNoWrites(world.env.recorder, () => world.infra({ type: 'AWS' }));
    await annotate('Managed');
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '[Global]\n' });
  });

  it('operator/R57: says nothing of versions, and says it again when somebody takes it away', async () => {
    await using world = await startWorld();
    await world.run();
    const key = { name: world.names.clusterOperator };
    assert.equal((await world.client.get(ClusterOperator, key)).status?.versions, undefined);
    await world.client.delete(ClusterOperator, key);
    await world.env.settle();
    assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
  });

  it('operator/R3: never asks for ConfigMaps of all namespaces', async () => {
    await using world = await startWorld();
    await world.run();
    await world.infra({ type: 'AWS' });
    const targets = world.env.recorder.requests.map(({ target }) => target.split('?')[0]);
    const lists = new Set(targets.filter((target) => target?.endsWith('/configmaps')));
    const places = ['openshift-cloud-controller-manager', 'openshift-config', 'openshift-config-managed'];
    assert.deepEqual(lists, new Set(places.map((place) => `/api/v1/namespaces/${place}/configmaps`)));
    assert.deepEqual(world.env.rbacDifference('config-sync').uncovered, []);
  });
});

describe('what goes wrong with a cloud config', () => {
  const terminal = [
    {
      name: 'no platform status',
      act: (world: ConfigSyncWorld) => world.infra(undefined),
      problem: 'failed to check cloud config sync requirements: platformStatus is required',
    },
    {
      name: 'a transformer that fails',
      act: async (world: ConfigSyncWorld) => {
        await world.configMap('openshift-config', 'user', { data: { config: 'broken' } });
        await world.infra({ type: 'AWS' }, USER);
      },
      problem: 'failed to transform cloud config: line 1 is broken',
    },
  ];
  for (const { name, act, problem } of terminal)
    it(`operator/R58: ${name} is told at once and not tried again`, async () => {
      await using world = await startWorld();
      await world.run();
      await act(world);
      assert.deepEqual(await world.conditions('CloudConfig'), failed(problem));
      await expectNoWrites(world.env.recorder, () => world.env.advance(600_000));
    });

  const broken: readonly { name: string; path: RegExp; methods: readonly string[] }[] = [
    { name: 'a ConfigMap that cannot be written', path: /configmaps/, methods: ['POST', 'PUT'] },
    { name: 'a status that cannot be written', path: /clusteroperators.*status/, methods: ['PATCH'] },
  ];
  for (const { name, path, methods } of broken)
    it(`operator/R58, operator/R59: ${name} is told after two minutes`, async () => {
      await using world = await startWorld();
      await world.infra({ type: 'BareMetal' });
      await world.run();
      const matches = ({ method, target }: { method: string; target: string }) =>
        methods.includes(method) && path.test(target);
      world.env.faults.arm({ matches, fault: { kind: 'refuse', status: 500, reason: 'InternalError' } });
      const key = { name: world.names.clusterOperator };
      await world.infra({ type: 'AWS' });
      await world.env.advance(100_000);
      assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
      await world.env.advance(200_000);
      const isStatus = name.includes('status');
      const [, degraded = ''] = await world.conditions('CloudConfig');
      assert.equal(degraded.startsWith('Degraded=True/SyncingFailed'), !isStatus);
      world.env.faults.disarmAll();
      await world.client.delete(ClusterOperator, key);
      await world.env.advance(1_000_000);
      assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
      assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '[Global]\n' });
    });

  it('operator/R62: a Network that is missing may come, and is told after two minutes', async () => {
    await using world = await startWorld();
    await world.run();
    await world.client.delete(Network, SINGLETON);
    await world.infra({ type: 'AWS' });
    await world.env.advance(90_000);
    assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
    await world.env.advance(240_000);
    assert.deepEqual(await world.conditions('CloudConfig'), failed('there is no Network cluster yet'));
    const network = {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Network',
      metadata: { ...SINGLETON },
      spec: {},
    };
    await world.client.create(Network, network);
    await world.env.settle();
    assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
  });

  it('operator/R14: gates that the cluster has not told yet are waited for', async () => {
    await using world = await startWorld();
    await putGates(world.client, [], '4.19.0');
    await world.run();
    await world.infra({ type: 'AWS' });
    assert.equal(await world.managed('cloud-conf'), undefined);
    await world.env.advance(330_000);
    const [, degraded = ''] = await world.conditions('CloudConfig');
    assert.match(degraded, /FeatureGate cluster says nothing about version 4.20.0 yet$/);
    await world.client.delete(FeatureGate, SINGLETON);
    await world.env.advance(1000);
    assert.equal(await world.managed('cloud-conf'), undefined);
    const gate = {
      apiVersion: 'config.openshift.io/v1',
      kind: 'FeatureGate',
      metadata: { ...SINGLETON },
      spec: {},
    };
    await world.client.create(FeatureGate, gate);
    await putGates(world.client, []);
    await world.env.settle();
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '[Global]\n' });
  });

  it('a conflict with somebody else is nobody’s problem', async () => {
    await using world = await startWorld();
    await world.run();
    await world.infra({ type: 'AWS' });
    const matches = ({ method, target }: { method: string; target: string }) =>
      method === 'PUT' && target.includes('cloud-conf');
    world.env.faults.arm({ matches, fault: { kind: 'refuse', status: 409, reason: 'Conflict' }, times: 2 });
    await world.configMap(SHARED.namespace, SHARED.name, { data: { 'cloud.conf': 'shared' } });
    await world.env.advance(1000);
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '[Global]\nshared' });
    assert.deepEqual(await world.conditions('CloudConfig'), HEALTHY);
  });
});

describe('the Infrastructure of a cloud config', () => {
  it('is looked at again when it names another ConfigMap', async () => {
    await using world = await startWorld();
    await world.run();
    await world.configMap('openshift-config', 'one', { data: { 'cloud.conf': '1' } });
    await world.configMap('openshift-config', 'two', { data: { 'cloud.conf': '2' } });
    await world.infra({ type: 'GCP' }, { cloudConfig: { name: 'one', key: '' } });
    await world.infra({ type: 'GCP' }, { cloudConfig: { name: 'two', key: '' } });
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '2' });
    await world.client.delete(Infrastructure, SINGLETON);
    await world.env.settle();
    assert.deepEqual(await world.data('cloud-conf'), { 'cloud.conf': '2' });
  });
});
