import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AVAILABLE,
  conditionsOf,
  featureGate,
  infrastructure,
  NAMES,
  OPERATOR_KEY,
  put,
  rollOut,
  sayAuxiliary,
  startCluster,
} from '../../../test/support/cloud-operator-world.ts';
import { startOperatorProgram } from '../../../test/support/operator-programs.ts';
import { Lease } from '../../api/generated/coordination-v1.ts';
import { Event } from '../../api/generated/events-v1.ts';
import {
  ApiServerConfig,
  ClusterOperator,
  type ControlPlaneTopology,
  FeatureGate,
  Infrastructure,
} from '../../api/openshift/config-v1.ts';
import { microTime } from '../../api/time.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { TestEnv } from '../../testing/test-env.ts';
import { CLOUD_OPERATOR } from './run-operator.ts';

const LEASE = { namespace: 'default', name: NAMES.operatorLease };

async function awsCluster(topology: ControlPlaneTopology = 'HighlyAvailable'): Promise<TestEnv> {
  const env = await startCluster({ log: SILENT_LOG });
  await put(env.client, Infrastructure, infrastructure({ type: 'AWS' }, { controlPlaneTopology: topology }));
  await put(env.client, FeatureGate, featureGate('Wanted'));
  await sayAuxiliary(env);
  return env;
}

const apiServer = (spec: ApiServerConfig['spec']): ApiServerConfig => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'APIServer',
  metadata: { name: 'cluster' },
  spec: { ...spec },
});

const held = (env: TestEnv, holderIdentity: string, agoMs: number, lease = LEASE) =>
  env.client.create(Lease, {
    metadata: lease,
    spec: {
      holderIdentity,
      leaseDurationSeconds: 137,
      renewTime: microTime(new Date(env.clock.now().getTime() - agoMs)),
    },
  });

describe('the program of the cloud operator', () => {
  it('operator/R1, operator/R2, operator/R92: deploys with exactly the rights it says it needs, and stops in order', async () => {
    await using env = await awsCluster();
    await using program = await startOperatorProgram(env, CLOUD_OPERATOR);
    await env.advance(1000);
    await rollOut(env);
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE, program.lines.join(''));
    const told = (await env.client.live.list(Event)).items.map(({ reason }) => reason);
    assert.ok(told.includes('FeatureGatesInitialized'), told.join());
    program.stop();
    assert.equal(await env.throughTime(program.exit), 0);
    const { spec } = await env.client.live.get(Lease, LEASE);
    assert.equal(spec?.holderIdentity, '');
  });

  it('operator/case 6: says unknown where nobody told it the version', async () => {
    await using env = await startCluster({ log: SILENT_LOG });
    await using _program = await startOperatorProgram(env, CLOUD_OPERATOR, { env: {} });
    await env.advance(1000);
    const { status } = await env.client.live.get(ClusterOperator, OPERATOR_KEY);
    assert.deepEqual(status?.versions, [{ name: 'operator', version: 'unknown' }]);
  });

  const timings = [
    { topology: 'HighlyAvailable', argv: [], seconds: 137 },
    { topology: 'SingleReplica', argv: [], seconds: 270 },
    { topology: 'SingleReplica', argv: ['--leader-elect-lease-duration=200s'], seconds: 200 },
  ] as const;
  for (const { topology, argv, seconds } of timings) {
    it(`operator/R9: holds the lease for ${seconds} seconds on ${topology} with ${argv.join() || 'no flag'}`, async () => {
      await using env = await awsCluster(topology);
      await using _program = await startOperatorProgram(env, CLOUD_OPERATOR, { argv });
      const { spec } = await env.client.live.get(Lease, LEASE);
      assert.equal(spec?.leaseDurationSeconds, seconds);
      assert.match(spec?.holderIdentity ?? '', /^slipway-operator_/);
    });
  }

  it('operator/D1: does not start in replace mode while the operator of the payload holds the lease', async () => {
    await using env = await awsCluster();
    await held(env, 'master-0_1b4e28ba', 30_000);
    await using program = await startOperatorProgram(env, CLOUD_OPERATOR);
    assert.equal(await program.exit, 1);
    assert.equal(program.lines.length, 1);
    assert.match(program.lines[0] ?? '', /held by master-0_1b4e28ba, which is not Slipway.*--mode=sidecar/);
  });

  it('operator/D1: looks for that lease where the payload has it, wherever its own is', async () => {
    await using env = await awsCluster();
    const namespace = NAMES.operatorNamespace;
    await held(env, 'master-0_1b4e28ba', 30_000, { ...LEASE, namespace });
    await using program = await startOperatorProgram(env, CLOUD_OPERATOR);
    assert.equal(await program.exit, 1);
    assert.match(program.lines.join(''), new RegExp(`Lease ${namespace}/.* is held by master-0_1b4e28ba`));
  });

  it('operator/D1: starts where that lease has run out, or is one of Slipway', async () => {
    for (const [holder, agoMs] of [
      ['master-0_1b4e28ba', 200_000],
      ['slipway-other_1', 1000],
    ] as const) {
      await using env = await awsCluster();
      await held(env, holder, agoMs);
      await using program = await startOperatorProgram(env, CLOUD_OPERATOR);
      await env.advance(300_000);
      assert.ok(await env.client.live.find(ClusterOperator, OPERATOR_KEY));
      assert.match((await env.client.live.get(Lease, LEASE)).spec?.holderIdentity ?? '', /^slipway-operator/);
      program.stop();
      assert.equal(await env.throughTime(program.exit), 0);
    }
  });

  it('operator/R8: starts anew when the cluster wants other TLS settings, and not for anything else', async () => {
    await using env = await awsCluster();
    await put(env.client, ApiServerConfig, apiServer({ tlsAdherence: 'StrictAllComponents' }));
    await using program = await startOperatorProgram(env, CLOUD_OPERATOR);
    await env.settle();
    await env.client.patch(ApiServerConfig, { name: 'cluster' }, { type: 'merge', body: { spec: { other: 1 } } });
    await env.advance(1000);
    assert.ok(!program.lines.some((line) => line.includes('starting anew')));
    await env.client.patch(
      ApiServerConfig,
      { name: 'cluster' },
      { type: 'merge', body: { spec: { tlsSecurityProfile: { type: 'Modern', modern: {} } } } },
    );
    assert.equal(await env.throughTime(program.exit), 0);
    assert.ok(program.lines.some((line) => line.includes('starting anew')));
  });

  it('operator/R2: waits a minute at most for feature gates', async () => {
    await using env = await startCluster({ log: SILENT_LOG });
    await put(env.client, Infrastructure, infrastructure({ type: 'None' }));
    await sayAuxiliary(env);
    const startMs = env.clock.monotonicMs();
    await using program = await startOperatorProgram(env, CLOUD_OPERATOR);
    await env.advance(100);
    assert.equal(env.clock.monotonicMs() - startMs, 60_100);
    assert.ok(program.lines.some((line) => line.includes('not known in time')));
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R1, operator/R5: ends with 2 for what nobody understands', async () => {
    await using env = await awsCluster();
    const cases = [
      ['--unheard-of', /--unheard-of is not known/],
      ['--tls-min-version=VersionTLS9', /invalid --tls-min-version/],
      ['--tls-cipher-suites=NONE', /invalid --tls-cipher-suites/],
      ['--provider=nowhere', /there is no nowhere; there are aws/],
      ['--mode=sidecar', /needs --provider/],
    ] as const;
    for (const [flag, pattern] of cases) {
      const granted: readonly [] = [];
      await using program = await startOperatorProgram(env, CLOUD_OPERATOR, { argv: [flag], granted });
      assert.equal(await program.exit, 2);
      assert.match(program.lines.join(''), pattern);
    }
  });

  it('operator/R92: says which rights are missing', async () => {
    await using env = await awsCluster();
    const granted = [
      { group: 'coordination.k8s.io', resource: 'leases', verbs: ['get'] as const, namespace: 'default' },
    ];
    await using program = await startOperatorProgram(env, CLOUD_OPERATOR, { granted });
    assert.equal(await env.throughTime(program.exit), 1);
    assert.match(program.lines.join(''), /patch clusteroperators.config.openshift.io\/status/);
  });
});
