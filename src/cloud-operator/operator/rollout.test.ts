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
  put,
  registryOf,
  rollOut,
  sayAuxiliary,
  startCluster,
  startOnAws,
  VERSION,
} from '../../../test/support/cloud-operator-world.ts';
import { Deployment } from '../../api/generated/apps-v1.ts';
import { ConfigMap, Pod, Secret } from '../../api/generated/core-v1.ts';
import { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { ClusterOperator, FeatureGate, Infrastructure } from '../../api/openshift/config-v1.ts';
import { time } from '../../api/time.ts';
import { expectNoWrites } from '../../testing/recorder.ts';
import type { TestEnv } from '../../testing/test-env.ts';
import { operatorNeeds } from './watches.ts';

const namespace = NAMES.managedNamespace;

async function startOnIbm() {
  const env = await startCluster();
  await put(env.client, Infrastructure, infrastructure({ type: 'IBMCloud' }));
  await put(env.client, FeatureGate, featureGate());
  await sayAuxiliary(env);
  await env.startManager(operatorManager());
  return env;
}

const IBM_DEPLOYMENT = { namespace, name: 'ibm-cloud-controller-manager' };
const relatedIn = async (env: TestEnv): Promise<readonly string[]> =>
  ((await env.client.live.get(ClusterOperator, OPERATOR_KEY)).status?.relatedObjects ?? []).map(
    ({ group, resource, namespace: where = '', name }) => [group, resource, where, name].join('|'),
  );

interface PodState {
  readonly waiting?: boolean;
  readonly message: string;
}

/** A pod of the Deployment whose container has crashed before. */
async function crashedPod(env: TestEnv, { waiting = true, message }: PodState): Promise<void> {
  const { spec } = await env.client.live.get(Deployment, AWS_DEPLOYMENT);
  const metadata = { namespace, name: 'ccm-1', labels: { ...spec.selector.matchLabels } };
  const at = time(env.clock.now());
  const terminated = { exitCode: 1, reason: 'Error', message, finishedAt: at };
  await put(env.client, Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: [{ name: 'cloud-controller-manager', image: 'example' }] },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'cloud-controller-manager',
          image: 'example',
          imageID: '',
          ready: false,
          restartCount: waiting ? 4 : 5,
          state: waiting ? { waiting: { reason: 'CrashLoopBackOff' } } : { running: { startedAt: at } },
          lastState: { terminated },
        },
      ],
    },
  });
}

describe('the operands of the cloud operator', () => {
  it('operator/R55: are all among the related objects, with their configuration and their credentials', async () => {
    await using env = await startOnIbm();
    assert.deepEqual(await relatedIn(env), [
      '|namespaces||openshift-cloud-controller-manager-operator',
      'config.openshift.io|clusteroperators||cloud-controller-manager',
      '|namespaces||openshift-cloud-controller-manager',
      `apps|deployments|${namespace}|ibm-cloud-controller-manager`,
      `policy|poddisruptionbudgets|${namespace}|ibmcloud-cloud-controller-manager`,
      `|services|${namespace}|ibmcloud-cloud-controller-manager`,
      `|configmaps|${namespace}|cloud-conf`,
      `|configmaps|${namespace}|ccm-trusted-ca`,
      'cloudcredential.openshift.io|credentialsrequests|openshift-cloud-credential-operator|openshift-ibm-cloud-controller-manager',
    ]);
  });

  it('operator/R36: a Secret that nobody produced is named while it is waited for, and degrades when that lasts', async () => {
    await using env = await startOnIbm();
    await rollOut(env, IBM_DEPLOYMENT);
    await env.advance(30_000);
    const problem = [
      'Secret openshift-cloud-controller-manager/ibm-cloud-credentials is missing, which CredentialsRequest',
      'openshift-cloud-credential-operator/openshift-ibm-cloud-controller-manager should produce',
    ].join(' ');
    assert.equal((await conditionsOf(env))['Progressing'], `True/CredentialsMissing: ${problem}`);
    assert.equal((await conditionsOf(env))['Degraded'], undefined);
    await env.advance(180_000);
    const message = `Failed when progressing towards operator: ${VERSION} because ${problem}`;
    assert.equal((await conditionsOf(env))['Degraded'], `True/CredentialsMissing: ${message}`);
    assert.equal((await conditionsOf(env))['Upgradeable'], `False/OperandSyncFailed: ${message}`);
    await expectNoWrites(env.recorder, () => env.advance(600_000));
    await env.client.create(Secret, { metadata: { namespace, name: 'ibm-cloud-credentials' } });
    await env.settle();
    await rollOut(env, IBM_DEPLOYMENT);
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R53: pods that crash over and over degrade it with their last words, also long after a rollout', async () => {
    const { env } = await startOnAws();
    await using _env = env;
    await rollOut(env);
    await env.settle();
    await crashedPod(env, { message: 'loading…\nregion is not set\n' });
    await rollOut(env, AWS_DEPLOYMENT, 1);
    await env.advance(140_000);
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    await env.advance(30_000);
    const problem =
      'Deployment aws-cloud-controller-manager: container cloud-controller-manager of pod ccm-1 is in CrashLoopBackOff: it ended by Error with exit code 1: loading… region is not set';
    const failed = `True/CrashLoopBackOff: Failed to resync for operator: ${VERSION} because ${problem}`;
    assert.equal((await conditionsOf(env))['Degraded'], failed);
    // For a moment it runs, until it crashes again.
    await crashedPod(env, { waiting: false, message: 'loading…\nregion is not set\n' });
    await rollOut(env);
    await env.advance(60_000);
    assert.equal((await conditionsOf(env))['Degraded'], failed);
    await env.advance(120_000);
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R47: those that are not rendered any more go when pruning is asked for, and stay otherwise', async () => {
    for (const prune of [true, false]) {
      const { env } = await startOnAws({ prune });
      await using _env = env;
      const budget = { namespace, name: 'aws-cloud-controller-manager' };
      assert.ok(await env.client.live.find(PodDisruptionBudget, budget));
      await put(
        env.client,
        Infrastructure,
        infrastructure({ type: 'AWS' }, { controlPlaneTopology: 'SingleReplica' }),
      );
      await env.settle();
      assert.equal((await env.client.live.find(PodDisruptionBudget, budget)) === undefined, prune);
      assert.equal((await env.client.live.get(Deployment, AWS_DEPLOYMENT)).spec.replicas, 1);
    }
  });

  it('operator/R38: are applied again when a ConfigMap or a Secret beside them changes', async () => {
    const { env } = await startOnAws();
    await using _env = env;
    await rollOut(env);
    await env.settle();
    const hash = async () =>
      (await env.client.live.get(Deployment, AWS_DEPLOYMENT)).spec.template.metadata?.annotations?.[
        'operator.openshift.io/config-hash'
      ];
    const before = await hash();
    for (const name of ['cloud-conf', 'ccm-trusted-ca'])
      await env.client.create(ConfigMap, { metadata: { namespace, name }, data: { 'cloud.conf': '[Global]' } });
    await env.settle();
    assert.notEqual(await hash(), before);
  });

  it('operator/R31, operator/R37: the condition that old releases left is removed with the first success', async () => {
    const env = await startCluster();
    await using _env = env;
    await put(env.client, Infrastructure, infrastructure({ type: 'AWS' }));
    await put(env.client, FeatureGate, featureGate());
    await sayAuxiliary(env);
    const found = await env.client.live.get(ClusterOperator, OPERATOR_KEY);
    const owner = {
      type: 'CloudControllerOwner',
      status: 'True' as const,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const conditions = [...(found.status?.conditions ?? []), owner];
    await env.client.updateStatus(ClusterOperator, { ...found, status: { ...found.status, conditions } });
    await env.startManager(operatorManager());
    assert.equal((await conditionsOf(env))['CloudControllerOwner'], 'True/');
    await rollOut(env);
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    await expectNoWrites(env.recorder, () => env.advance(600_000));
  });

  it('operator/R94: are counted, with when they were last found in order', async () => {
    const { env, manager } = await startOnAws();
    await using _env = env;
    const converged =
      'slipway_cloud_operator_operand_converged{kind="Deployment",name="aws-cloud-controller-manager"}';
    const text = () => manager.metrics.text();
    assert.match(await text(), new RegExp(`${converged.replaceAll(/[{}]/g, '\\$&')} 0`));
    assert.match(await text(), /slipway_cloud_operator_condition\{type="Progressing"\} 1/);
    await rollOut(env);
    await env.settle();
    assert.match(await text(), new RegExp(`${converged.replaceAll(/[{}]/g, '\\$&')} 1`));
    assert.match(await text(), /slipway_cloud_operator_condition\{type="Available"\} 1/);
    const seconds = Math.floor(env.clock.now().getTime() / 1000);
    assert.match(await text(), new RegExp(`slipway_cloud_operator_last_apply_timestamp_seconds ${seconds}`));
  });

  it('operator/R92: takes the rights that it says it needs, and no other', async () => {
    const { env } = await startOnAws({ prune: true });
    await using _env = env;
    await rollOut(env);
    await env.settle();
    const { uncovered, unused } = env.rbacDifference();
    assert.deepEqual(uncovered, []);
    // Other platforms have other kinds, and a test does not do all that may happen to each of them.
    const writing = new Set<string>(['create', 'update', 'delete']);
    const reading = unused.filter(
      ({ verb, need }) =>
        // An event is patched when it is told again.
        need.resource !== 'events' && !writing.has(verb) && !need.verbs.includes('watch'),
    );
    assert.deepEqual(reading, []);
  });

  it('operator/R3, operator/R92: needs nothing of namespaces that are none of its business', () => {
    const places = operatorNeeds(NAMES, registryOf().operandKinds(namespace)).flatMap(
      ({ scope, namespace: where, resource, group }) =>
        scope === 'Cluster' || where === namespace ? [] : [`${where ?? 'everywhere'}: ${resource}.${group}`],
    );
    const roles = ['roles', 'rolebindings'].map((one) => `kube-system: ${one}.rbac.authorization.k8s.io`);
    assert.deepEqual(places.toSorted(), ['default: events.events.k8s.io', ...roles].toSorted());
  });
});
