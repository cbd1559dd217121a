import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AVAILABLE,
  AWS_DEPLOYMENT,
  conditionsOf,
  featureGate,
  infrastructure,
  NAMES,
  OPERATOR_KEY,
  operatorManager,
  operatorSettings,
  put,
  rollOut,
  sayAuxiliary,
  startCluster,
  VERSION,
} from '../../../test/support/cloud-operator-world.ts';
import { reconcileContext } from '../../../test/support/reconcile-context.ts';
import { Deployment } from '../../api/generated/apps-v1.ts';
import { Event } from '../../api/generated/events-v1.ts';
import { ClusterOperator, ClusterVersion, FeatureGate, Infrastructure } from '../../api/openshift/config-v1.ts';
import { retryError } from '../../base/errors.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import type { TransportRequest } from '../../kube/transport/transport.ts';
import { interceptedClient } from '../../testing/intercepted-client.ts';
import { expectNoWrites } from '../../testing/recorder.ts';
import type { TestEnv } from '../../testing/test-env.ts';
import { STUB_VERSION } from '../config/feature-gates.ts';
import { OperatorStatus } from '../status/operator-status.ts';
import type { CloudOperatorSettings } from './cloud-operator.ts';
import { Operands } from './operands.ts';
import { OperatorMetrics } from './operator-metrics.ts';
import { CloudOperator } from './reconcile.ts';

async function awsCluster(): Promise<TestEnv> {
  const env = await startCluster({ log: SILENT_LOG });
  await put(env.client, Infrastructure, infrastructure({ type: 'AWS' }));
  await put(env.client, FeatureGate, featureGate());
  await sayAuxiliary(env);
  return env;
}

async function onAws(overrides: Partial<CloudOperatorSettings> = {}) {
  const env = await awsCluster();
  await env.startManager(operatorManager(overrides));
  return env;
}

const statusOf = async (env: TestEnv) => (await env.client.live.get(ClusterOperator, OPERATOR_KEY)).status;
const degraded = async (env: TestEnv) => (await conditionsOf(env))['Degraded'];

/** The controller without a manager, whose reads of Infrastructure fail while `isDown`. */
function flakyOperator(env: TestEnv) {
  const state = { isDown: false };
  const client = interceptedClient(env.client, {
    find: {
      before: ({ kind }) => {
        if (state.isDown && kind === Infrastructure) throw retryError('ServiceUnavailable', 'the server is down');
      },
    },
  });
  const { clock } = env;
  const { context, told } = reconcileContext(client, clock.now());
  const { events, log } = context;
  const metrics = new OperatorMetrics(new PrometheusMetrics(), clock);
  const regarding: ClusterOperator = { apiVersion: 'v1', kind: 'ClusterOperator', metadata: OPERATOR_KEY };
  const place = { names: NAMES, kinds: [], prune: false };
  const operands = new Operands({ client, events, regarding, log, ...place, metrics, clock });
  const status = new OperatorStatus({ client, name: OPERATOR_KEY.name, fieldManager: 'test/operator', clock });
  const operator = new CloudOperator({ ...operatorSettings(), operands, status, metrics, clock });
  const fails = async () => {
    state.isDown = true;
    await assert.rejects(operator.reconcile(context), /failed to get Infrastructure: the server is down/);
  };
  const works = async () => {
    state.isDown = false;
    await operator.reconcile(context);
  };
  return { fails, works, told };
}

describe('the cloud operator when something fails', () => {
  it('operator/R58, operator/R59: case 10: failures that pass within the window are not told', async () => {
    await using env = await awsCluster();
    const { fails, works, told } = flakyOperator(env);
    await works();
    for (const pauseMs of [0, 30_000, 30_000, 30_000]) {
      await env.clock.advance(pauseMs);
      await fails();
    }
    assert.equal(await degraded(env), undefined);
    await env.clock.advance(61_000);
    await fails();
    const message = `Failed when progressing towards operator: ${VERSION} because failed to get Infrastructure: the server is down`;
    assert.equal(await degraded(env), `True/SyncingFailed: ${message}`);
    assert.equal((await conditionsOf(env))['Upgradeable'], `False/OperandSyncFailed: ${message}`);
    assert.ok(told.includes(`Warning Status degraded ${message}`));
    const before = told.length;
    await fails();
    assert.equal(told.length, before);
  });

  it('operator/R59: case 11: a success in between begins a new window', async () => {
    await using env = await awsCluster();
    const { fails, works } = flakyOperator(env);
    await fails();
    await works();
    await env.clock.advance(151_000);
    await fails();
    assert.equal(await degraded(env), undefined);
  });

  it('operator/R34, operator/R53: says why operands cannot be written once that has lasted, and takes it back', async () => {
    await using env = await awsCluster();
    const isDeployment = ({ method, target }: TransportRequest) =>
      method === 'POST' && target.includes('/deployments');
    const broken = env.faults.arm({
      matches: isDeployment,
      fault: { kind: 'refuse', status: 500, reason: 'InternalError' },
    });
    await env.startManager(operatorManager());
    await env.advance(140_000);
    assert.equal(await degraded(env), undefined);
    await env.advance(60_000);
    assert.match((await degraded(env)) ?? '', /^True\/SyncingFailed: .* because failed to sync operands: /);
    broken[Symbol.dispose]();
    await env.advance(1_000_000);
    await rollOut(env);
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R10, operator/R33: an images.json that is no JSON is told at once and found repaired within ten minutes', async () => {
    let text = '{ "cloudControllerManagerAWS": ';
    const { images } = operatorSettings();
    await using env = await onAws({ images: { ...images, read: () => Promise.resolve(text) } });
    assert.match((await degraded(env)) ?? '', /because failed to build operator config: images\.json:1: /);
    await expectNoWrites(env.recorder, () => env.advance(500_000));
    text = await images.read();
    await env.advance(150_000);
    await rollOut(env);
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R10: so is one that cannot be read', async () => {
    const { images } = operatorSettings();
    const read = () => Promise.reject(new Error('no such file'));
    await using env = await onAws({ images: { ...images, read } });
    assert.match((await degraded(env)) ?? '', /failed to build operator config: no such file/);
  });

  it('operator/R20: an image that is missing is told at once', async () => {
    const { images } = operatorSettings();
    await using env = await onAws({ images: { ...images, read: () => Promise.resolve('{}') } });
    const problem =
      'aws: missed images in config: CloudControllerManager: non zero value required (images.json lacks cloudControllerManagerAWS)';
    assert.ok((await degraded(env))?.endsWith(`because failed to sync operands: ${problem}`), await degraded(env));
    await expectNoWrites(env.recorder, () => env.advance(599_000));
  });

  it('operator/R2, operator/R14: gates that nobody has said yet are waited for, and degrade only when that lasts', async () => {
    await using env = await startCluster({ log: SILENT_LOG });
    await put(env.client, Infrastructure, infrastructure({ type: 'AWS' }));
    await sayAuxiliary(env);
    await env.startManager(operatorManager());
    await env.advance(100_000);
    assert.equal(await degraded(env), undefined);
    await env.advance(100_000);
    const problem = `FeatureGate cluster says nothing about version ${VERSION} yet`;
    assert.ok((await degraded(env))?.endsWith(`because ${problem}`));
    await put(env.client, FeatureGate, featureGate());
    await env.settle();
    await rollOut(env);
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R14: an upgrade that has begun is no failure of who goes by the version of the cluster', async () => {
    await using env = await awsCluster();
    const completed = { version: VERSION, state: 'Completed' };
    const release = (version: string): ClusterVersion => ({
      apiVersion: 'config.openshift.io/v1',
      kind: 'ClusterVersion',
      metadata: { name: 'version' },
      status: { desired: { version }, history: [completed] },
    });
    await put(env.client, ClusterVersion, release(VERSION));
    await env.startManager(operatorManager({ gatesVersion: STUB_VERSION }));
    await rollOut(env);
    await env.settle();
    await put(env.client, ClusterVersion, release('4.22.0'));
    await env.advance(300_000);
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R48: a rollout that stands still is degraded once that has lasted', async () => {
    await using env = await onAws();
    const { items } = await env.client.live.list(Deployment);
    const [found] = items;
    assert.ok(found !== undefined);
    const time = '2026-01-01T00:00:00Z';
    const stalled = {
      type: 'Progressing',
      status: 'False' as const,
      reason: 'ProgressDeadlineExceeded',
      lastUpdateTime: time,
      lastTransitionTime: time,
    };
    const { generation = 0 } = found.metadata;
    await env.client.updateStatus(Deployment, {
      ...found,
      status: { observedGeneration: generation, conditions: [stalled] },
    });
    await env.advance(200_000);
    const problem = 'deployment aws-cloud-controller-manager rollout stalled: ProgressDeadlineExceeded';
    assert.ok((await degraded(env))?.endsWith(`because failed to sync operands: ${problem}`), await degraded(env));
  });

  it('operator/R53: an error whose words differ each time does not write in a circle', async () => {
    let count = 0;
    const { images } = operatorSettings();
    const read = () => Promise.reject(new Error(`attempt ${++count}`));
    await using env = await onAws({ images: { ...images, read } });
    assert.equal(count, 1);
    await expectNoWrites(env.recorder, () => env.advance(500_000));
    assert.equal(count, 1);
  });

  it('operator/R56: conflicts and failures of a status write are tried again', async () => {
    await using env = await awsCluster();
    const isStatus = ({ method, target }: TransportRequest) => method === 'PATCH' && target.includes('/status');
    env.faults.arm({ matches: isStatus, fault: { kind: 'refuse', status: 409, reason: 'Conflict' }, times: 2 });
    env.faults.arm({ matches: isStatus, fault: { kind: 'refuse', status: 503, reason: 'Unavailable' }, times: 2 });
    await env.startManager(operatorManager());
    await env.advance(30_000);
    await rollOut(env);
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    assert.equal(env.faults.struck.get('refuse'), 4);
  });

  it('operator/R50, operator/R56: puts back a condition of its own, and leaves those of others', async () => {
    await using env = await onAws();
    await rollOut(env);
    await env.settle();
    const found = await env.client.live.get(ClusterOperator, OPERATOR_KEY);
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const conditions = (found.status?.conditions ?? []).map((one) =>
      one.type === 'Available' ? { ...one, status: 'False' as const, lastTransitionTime } : one,
    );
    const foreign = { type: 'Foreign', status: 'True' as const, lastTransitionTime };
    await env.client.updateStatus(ClusterOperator, {
      ...found,
      status: { ...found.status, conditions: [...conditions, foreign] },
    });
    await env.settle();
    assert.deepEqual(await conditionsOf(env), { ...AVAILABLE, Foreign: 'True/' });
    assert.equal((await statusOf(env))?.conditions?.length, 9);
  });

  it('operator/R46, operator/R51: tells of an upgrade once', async () => {
    await using env = await onAws();
    await env.advance(300_000);
    const { items } = await env.client.live.list(Event);
    const told = items.filter(({ reason }) => reason === 'Status upgrade');
    assert.deepEqual(
      told.map(({ note, series }) => [note, series]),
      [[`Progressing towards operator: ${VERSION}`, undefined]],
    );
  });

  it('operator/R51: tells of an upgrade that begins while the rollout before it goes on', async () => {
    await using env = await awsCluster();
    const earlier = await env.startManager(operatorManager());
    await rollOut(env);
    await env.settle();
    await env.client.delete(Deployment, AWS_DEPLOYMENT);
    await env.settle();
    assert.equal((await conditionsOf(env))['Progressing'], 'True/AsExpected');
    await env.stopManager(earlier);
    await env.startManager(operatorManager({ version: '4.22.0' }));
    await env.advance(300_000);
    const { items } = await env.client.live.list(Event);
    const told = items.filter(({ note }) => note === 'Progressing towards operator: 4.22.0');
    assert.deepEqual(
      told.map(({ reason, series }) => [reason, series]),
      [['Status upgrade', undefined]],
    );
  });
});
