import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AVAILABLE,
  conditionsOf,
  featureGate,
  infrastructure,
  NAMES,
  OPERATOR_KEY,
  operatorManager,
  put,
  registryOf,
  rollOut,
  sayAuxiliary,
  startCluster,
  startOnAws,
  VERSION,
} from '../../../test/support/cloud-operator-world.ts';
import { DaemonSet, Deployment } from '../../api/generated/apps-v1.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { Event } from '../../api/generated/events-v1.ts';
import {
  ClusterOperator,
  FeatureGate,
  Infrastructure,
  type PlatformStatus,
} from '../../api/openshift/config-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { expectNoWrites } from '../../testing/recorder.ts';
import type { TestEnv } from '../../testing/test-env.ts';
import type { CloudProviderDefinition } from '../definition.ts';
import type { CloudOperatorSettings } from './cloud-operator.ts';

const ACME: CloudProviderDefinition = {
  id: 'acme',
  match: { type: 'External', platformName: 'Acme' },
  images: {},
  assets: {
    objects: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: NAMES.managedNamespace, name: 'acme' } },
    ],
  },
};

async function operatorOn(
  infra: Infrastructure,
  overrides: Partial<CloudOperatorSettings> = {},
): Promise<TestEnv> {
  const env = await startCluster({ log: SILENT_LOG });
  await put(env.client, Infrastructure, infra);
  await put(env.client, FeatureGate, featureGate());
  await sayAuxiliary(env);
  await env.startManager(operatorManager(overrides));
  return env;
}

const external = (state?: 'External' | 'None'): PlatformStatus => ({
  type: 'External',
  ...(state !== undefined && { external: { cloudControllerManager: { state } } }),
});

const hasOperands = async ({ client }: TestEnv): Promise<boolean> =>
  (await client.live.list(Deployment)).items.length + (await client.live.list(DaemonSet)).items.length > 0;

describe('the cloud operator where there is nothing to deploy', () => {
  const cases: readonly { readonly name: string; readonly platform: PlatformStatus }[] = [
    { name: 'operator/R30: External without a provider of ours', platform: external('External') },
    { name: 'operator/R30: External without cloud controller manager', platform: external('None') },
    { name: 'operator/R32: None', platform: { type: 'None' } },
    { name: 'operator/R32: BareMetal', platform: { type: 'BareMetal' } },
    { name: 'operator/R32: no type at all', platform: { type: '' } },
    { name: 'operator/R21: KubeVirt, which brings its own', platform: { type: 'KubeVirt' } },
  ];
  for (const { name, platform } of cases) {
    it(`${name} is available, with all four conditions and its version`, async () => {
      await using env = await operatorOn(infrastructure(platform));
      assert.deepEqual(await conditionsOf(env), AVAILABLE);
      const { status } = await env.client.live.get(ClusterOperator, OPERATOR_KEY);
      assert.deepEqual(status?.versions, [{ name: 'operator', version: VERSION }]);
      assert.equal(await hasOperands(env), false);
      await expectNoWrites(env.recorder, () => env.advance(600_000));
    });
  }

  it('operator/R93: says so where the control plane is hosted elsewhere, and deploys nothing', async () => {
    const hosted = infrastructure({ type: 'AWS' }, { controlPlaneTopology: 'External' });
    await using env = await operatorOn(hosted);
    assert.deepEqual(await conditionsOf(env), {
      ...AVAILABLE,
      Available: 'True/AsExpected: control plane is hosted externally',
    });
    assert.equal(await hasOperands(env), false);
  });

  it('operator/R11, operator/R30: a cluster that does not say what it runs on is degraded at once, and asked no more', async () => {
    await using env = await operatorOn(infrastructure(undefined));
    const problem = 'platform status is not populated on infrastructure';
    const message = `Failed when progressing towards operator: ${VERSION} because ${problem}`;
    assert.deepEqual(await conditionsOf(env), {
      Degraded: `True/SyncingFailed: ${message}`,
      Upgradeable: `False/OperandSyncFailed: ${message}`,
    });
    await expectNoWrites(env.recorder, () => env.advance(599_000));
    await put(env.client, Infrastructure, infrastructure({ type: 'None' }));
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });
});

describe('the cloud operator and a provider for External', () => {
  const providers = registryOf(ACME);

  it('operator/R30, operator/D1: goes on where there is one', async () => {
    const infra = infrastructure(
      external('External'),
      {},
      {
        platformSpec: { external: { platformName: 'ACME' } },
      },
    );
    await using env = await operatorOn(infra, { providers, provider: 'acme' });
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    const key = { namespace: NAMES.managedNamespace, name: 'acme' };
    assert.ok(await env.client.live.find(ConfigMap, key));
    const { items } = await env.client.live.list(Event);
    assert.ok(!items.some(({ reason }) => reason === 'PlatformNameMismatch'));
  });

  it('operator/R97: warns once of a platform with another name, and goes on', async () => {
    const infra = infrastructure(
      external('External'),
      {},
      {
        platformSpec: { external: { platformName: 'Other' } },
      },
    );
    await using env = await operatorOn(infra, { providers });
    await env.advance(700_000);
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    const told = (await env.client.live.list(Event)).items.filter(
      ({ reason }) => reason === 'PlatformNameMismatch',
    );
    assert.equal(told.length, 1);
    assert.equal(told[0]?.series, undefined);
  });

  it('operator/D2: is not available where kubelets do not wait for a cloud, and says what to do', async () => {
    await using env = await operatorOn(infrastructure(external('None')), { providers });
    const conditions = await conditionsOf(env);
    assert.match(
      conditions['Available'] ?? '',
      /^False\/KubeletNotExternal: .*must be "External", not "None".*install/,
    );
    assert.equal(conditions['Upgradeable'], 'True/AsExpected');
    assert.equal(conditions['Progressing'], 'False/KubeletNotExternal');
    await expectNoWrites(env.recorder, () => env.advance(600_000));
  });
});

describe('the cloud operator and config-sync', () => {
  async function waiting() {
    const env = await startCluster({ log: SILENT_LOG });
    await put(env.client, Infrastructure, infrastructure({ type: 'AWS' }));
    await put(env.client, FeatureGate, featureGate());
    await env.startManager(operatorManager());
    return env;
  }

  it('operator/R29: waits for it, and says so only when it lasts longer than 30 seconds', async () => {
    await using env = await waiting();
    await env.advance(29_000);
    assert.equal(await env.client.live.find(ClusterOperator, OPERATOR_KEY), undefined);
    await env.advance(2000);
    const names = 'CloudConfigControllerAvailable and TrustedCABundleControllerControllerAvailable are not True';
    assert.deepEqual(await conditionsOf(env), {
      Progressing: `True/WaitingForConfigSync: waiting for cloud-config-sync: ${names}`,
      Upgradeable: 'True/AsExpected',
    });
    assert.equal(await hasOperands(env), false);
    await expectNoWrites(env.recorder, () => env.advance(600_000));
    await sayAuxiliary(env);
    await env.settle();
    assert.equal(await hasOperands(env), true);
    assert.match((await conditionsOf(env))['Progressing'] ?? '', /^True\/SyncingResources/);
  });

  it('operator/R29: is degraded with its words when it fails for longer than the window, and recovers', async () => {
    await using env = await waiting();
    await sayAuxiliary(env, { status: 'False', message: 'no key' });
    await env.advance(140_000);
    assert.deepEqual(await conditionsOf(env), {});
    await env.advance(30_000);
    const one = (name: string) => `${name} condition is set to True: no key`;
    const both = `${one('CloudConfigControllerDegraded')}; ${one('TrustedCABundleControllerControllerDegraded')}`;
    const because = `failed to apply resources because ${both}`;
    assert.equal(
      (await conditionsOf(env))['Degraded'],
      `True/SyncingFailed: Failed when progressing towards operator: ${VERSION} because ${because}`,
    );
    await expectNoWrites(env.recorder, () => env.advance(3_600_000));
    await sayAuxiliary(env);
    await env.settle();
    assert.equal(await hasOperands(env), true);
  });
});

describe('the cloud operator and an administrator', () => {
  const annotate = (env: TestEnv, state: string) =>
    env.client.patch(ClusterOperator, OPERATOR_KEY, {
      type: 'merge',
      body: { metadata: { annotations: { 'slipway.dev/management-state': state } } },
    });

  it('operator/D3: Unmanaged writes nothing but what says so, until it is Managed again', async () => {
    const { env } = await startOnAws();
    await using _env = env;
    await annotate(env, 'Unmanaged');
    await env.settle();
    const conditions = await conditionsOf(env);
    assert.match(conditions['Progressing'] ?? '', /^False\/Unmanaged/);
    assert.equal(conditions['Upgradeable'], 'True/AsExpected');
    await env.client.delete(Deployment, {
      namespace: NAMES.managedNamespace,
      name: 'aws-cloud-controller-manager',
    });
    await expectNoWrites(env.recorder, () => env.advance(600_000));
    await annotate(env, 'Managed');
    await env.settle();
    assert.equal(await hasOperands(env), true);
  });

  it('operator/D3: Unmanaged says its version: an upgrade of the cluster does not wait for it', async () => {
    const { env, manager } = await startOnAws({ version: '4.20.0' });
    await using _env = env;
    await annotate(env, 'Unmanaged');
    await env.settle();
    await env.stopManager(manager);
    await env.startManager(operatorManager());
    const { status } = await env.client.live.get(ClusterOperator, OPERATOR_KEY);
    assert.deepEqual(status?.versions, [{ name: 'operator', version: VERSION }]);
  });

  it('operator/D3, operator/R51: after Removed, other words and other numbers hold', async () => {
    const { env, manager } = await startOnAws();
    await using _env = env;
    const converged = async () =>
      /operand_converged\{kind="Deployment",name="[a-z-]+"\} (\d)/.exec(await manager.metrics.text())?.[1];
    await env.advance(30_000);
    assert.equal(await converged(), '0');
    await annotate(env, 'Removed');
    await env.settle();
    assert.equal(await converged(), undefined);
    await annotate(env, 'Managed');
    await env.settle();
    const { Available: available } = await conditionsOf(env);
    assert.equal(available, `True/SyncingResources: Progressing towards operator: ${VERSION}`);
    await rollOut(env);
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    assert.equal(await converged(), '1');
  });

  it('operator/D3: Removed deletes what was deployed and nothing else', async () => {
    const { env } = await startOnAws();
    await using _env = env;
    const found = (await env.client.live.list(Deployment)).items[0];
    assert.ok(found !== undefined);
    const { labels } = found.spec.template.metadata ?? {};
    const metadata = { namespace: NAMES.managedNamespace, name: 'other', labels: { of: 'users' } };
    await env.client.create(Deployment, {
      ...found,
      metadata,
      spec: { ...found.spec, template: { ...found.spec.template, metadata: { labels: { ...labels } } } },
    });
    await annotate(env, 'Removed');
    await env.settle();
    const left = (await env.client.live.list(Deployment)).items.map((one) => one.metadata.name);
    assert.deepEqual(left, ['other']);
    const conditions = await conditionsOf(env);
    assert.match(
      conditions['Available'] ?? '',
      /^True\/Removed: what was deployed is removed; these kinds were looked at: .*Deployment/,
    );
    assert.match(conditions['Progressing'] ?? '', /^False\/Removed/);
    await expectNoWrites(env.recorder, () => env.advance(600_000));
  });

  it('operator/D3: a state that nobody knows changes nothing, and is told once', async () => {
    const { env } = await startOnAws();
    await using _env = env;
    await annotate(env, 'Paused');
    await env.advance(700_000);
    assert.equal(await hasOperands(env), true);
    const told = (await env.client.live.list(Event)).items.filter(
      ({ reason }) => reason === 'InvalidManagementState',
    );
    assert.deepEqual(
      told.map(({ note }) => note),
      [
        'annotation slipway.dev/management-state is "Paused"; allowed are Managed, Unmanaged, Removed; going on as Managed',
      ],
    );
  });
});
