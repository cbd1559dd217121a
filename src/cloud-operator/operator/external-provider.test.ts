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
  sayAuxiliary,
  startCluster,
} from '../../../test/support/cloud-operator-world.ts';
import { DaemonSet } from '../../api/generated/apps-v1.ts';
import { Pod } from '../../api/generated/core-v1.ts';
import { ClusterRole, Role } from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { ClusterOperator, FeatureGate, Infrastructure } from '../../api/openshift/config-v1.ts';
import { time } from '../../api/time.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { TestEnv } from '../../testing/test-env.ts';
import type { CloudProviderDefinition } from '../definition.ts';

const namespace = NAMES.managedNamespace;
const matchLabels = { app: 'acme' };

const CONFIG: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'acme' } };
const ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { namespace, name: 'acme' },
  rules: [],
} as KubeObject;
const CLUSTER_ROLE = { ...ROLE, kind: 'ClusterRole', metadata: { name: 'acme' } } as KubeObject;
const NODE_MANAGER = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { namespace, name: 'acme' },
  spec: {
    selector: { matchLabels },
    template: { metadata: { labels: matchLabels }, spec: { containers: [{ name: 'acme', image: 'example' }] } },
  },
} as KubeObject;

const acme = (
  more: Partial<CloudProviderDefinition>,
  ...objects: readonly KubeObject[]
): CloudProviderDefinition => ({
  id: 'acme',
  match: { type: 'External' },
  images: {},
  assets: { objects },
  ...more,
});

const managerOf = (definition: CloudProviderDefinition, prune = true) =>
  operatorManager({ providers: registryOf(definition), provider: 'acme', prune });

async function startOn(definition: CloudProviderDefinition, ...gates: readonly string[]) {
  const env = await startCluster({ log: SILENT_LOG });
  const platform = { type: 'External', external: { cloudControllerManager: { state: 'External' } } } as const;
  await put(env.client, Infrastructure, infrastructure(platform));
  await put(env.client, FeatureGate, featureGate(...gates));
  await sayAuxiliary(env);
  const manager = await env.startManager(managerOf(definition));
  return { env, manager };
}

/** What the DaemonSet controller would say of so many nodes. */
async function schedule(env: TestEnv, nodes: number, numberUnavailable = 0): Promise<void> {
  const found = await env.client.live.get(DaemonSet, { namespace, name: 'acme' });
  await env.client.updateStatus(DaemonSet, {
    ...found,
    status: {
      observedGeneration: found.metadata.generation ?? 0,
      currentNumberScheduled: nodes,
      desiredNumberScheduled: nodes,
      updatedNumberScheduled: nodes,
      numberReady: nodes - numberUnavailable,
      numberMisscheduled: 0,
      ...(numberUnavailable > 0 && { numberUnavailable }),
    },
  });
  await env.settle();
}

/** A container that has ended before, and runs or waits now. */
const podOf = (env: TestEnv, name: string, isWaiting: boolean): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name, labels: matchLabels },
  spec: { containers: [{ name: 'acme', image: 'example' }] },
  status: {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'acme',
        image: 'example',
        imageID: '',
        ready: !isWaiting,
        restartCount: 2,
        state: isWaiting
          ? { waiting: { reason: 'CrashLoopBackOff' } }
          : { running: { startedAt: time(env.clock.now()) } },
        lastState: { terminated: { exitCode: 255, reason: 'Unknown' } },
      },
    ],
  },
});

const annotate = (env: TestEnv, state: string) =>
  env.client.patch(ClusterOperator, OPERATOR_KEY, {
    type: 'merge',
    body: { metadata: { annotations: { 'slipway.dev/management-state': state } } },
  });

describe('pods of the cloud operator', () => {
  it('operator/R53: nodes that restart one after the other are no crash', async () => {
    const { env } = await startOn(acme({}, NODE_MANAGER));
    await using _env = env;
    await schedule(env, 5);
    for (const name of ['a', 'b', 'c', 'd']) {
      await put(env.client, Pod, podOf(env, name, false));
      await schedule(env, 5, 1);
      await env.advance(90_000);
    }
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R53, operator/R59: pods that fail for a short time each, one after the other, do not add up', async () => {
    const { env } = await startOn(acme({}, NODE_MANAGER));
    await using _env = env;
    await schedule(env, 5, 1);
    for (const name of ['a', 'b', 'c']) {
      await put(env.client, Pod, podOf(env, name, true));
      await env.advance(90_000);
      await env.client.delete(Pod, { namespace, name });
    }
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R53: what was told of them before a restart of the operator stays as long as it is so', async () => {
    const definition = acme({}, NODE_MANAGER);
    const { env, manager } = await startOn(definition);
    await using _env = env;
    await schedule(env, 5, 1);
    await put(env.client, Pod, podOf(env, 'a', true));
    await env.advance(240_000);
    const failed = await conditionsOf(env);
    assert.match(failed['Degraded'] ?? '', /^True\/CrashLoopBackOff/);
    await env.stopManager(manager);
    await env.startManager(managerOf(definition));
    await env.advance(60_000);
    assert.deepEqual(await conditionsOf(env), failed);
    await env.client.delete(Pod, { namespace, name: 'a' });
    await env.advance(60_000);
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });
});

describe('a DaemonSet of the cloud operator without nodes', () => {
  it('operator/R49: is waited for once, neither after a restart nor when its nodes go', async () => {
    const definition = acme({}, NODE_MANAGER);
    const { env, manager } = await startOn(definition);
    await using _env = env;
    await schedule(env, 0);
    assert.match((await conditionsOf(env))['Progressing'] ?? '', /^True/);
    await env.advance(200_000);
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    await env.stopManager(manager);
    await env.startManager(managerOf(definition));
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    for (const nodes of [1, 0]) {
      await schedule(env, nodes);
      assert.deepEqual(await conditionsOf(env), AVAILABLE);
    }
  });
});

describe('operands of a kind that a definition has no more', () => {
  const isThere = async ({ client }: TestEnv) =>
    (await client.live.find(Role, { namespace, name: 'acme' })) !== undefined;

  it('operator/R47: go where pruning is on, but for those of the cluster, whose others it may not delete', async () => {
    const { env, manager } = await startOn(acme({}, CONFIG, ROLE, CLUSTER_ROLE));
    await using _env = env;
    assert.equal(await isThere(env), true);
    await env.stopManager(manager);
    await env.startManager(managerOf(acme({}, CONFIG)));
    assert.equal(await isThere(env), false);
    assert.ok(await env.client.live.find(ClusterRole, { name: 'acme' }));
  });

  it('operator/D3: go with Removed where pruning is on, and else it is said what was looked at', async () => {
    const { env, manager } = await startOn(acme({}, CONFIG, ROLE));
    await using _env = env;
    await env.stopManager(manager);
    const cautious = await env.startManager(managerOf(acme({}, CONFIG), false));
    await annotate(env, 'Removed');
    await env.settle();
    const { Available: available } = await conditionsOf(env);
    assert.match(available ?? '', /these kinds were looked at: ConfigMap/);
    assert.equal(await isThere(env), true);
    await env.stopManager(cautious);
    await env.startManager(managerOf(acme({}, CONFIG)));
    assert.match((await conditionsOf(env))['Available'] ?? '', /these kinds were looked at: .*Role/);
    assert.equal(await isThere(env), false);
  });
});

describe('what a provider says besides', () => {
  const preview = acme(
    {
      conditions: ({ gates }) =>
        gates.isEnabled('Preview')
          ? [
              { type: 'AcmePreview', status: 'True', reason: 'Preview', message: '' },
              { type: 'Upgradeable', status: 'False', reason: 'Preview', message: '' },
            ]
          : [],
    },
    CONFIG,
  );
  const said = { AcmePreview: 'True/Preview', Upgradeable: 'False/Preview' };

  it('operator/R54: holds in every report, also of a process that has just begun', async () => {
    const { env, manager } = await startOn(preview, 'Preview');
    await using _env = env;
    assert.deepEqual(await conditionsOf(env), { ...AVAILABLE, ...said });
    await annotate(env, 'Unmanaged');
    await env.settle();
    const { Progressing: progressing, ...paused } = await conditionsOf(env);
    assert.match(progressing ?? '', /^False\/Unmanaged/);
    const { Progressing: _progressing, ...available } = AVAILABLE;
    assert.deepEqual(paused, { ...available, ...said });
    await env.stopManager(manager);
    await env.startManager(managerOf(preview));
    const { Progressing: _again, ...later } = await conditionsOf(env);
    assert.deepEqual(later, { ...available, ...said });
  });

  it('operator/R54: goes when nobody says it any more', async () => {
    const { env, manager } = await startOn(preview, 'Preview');
    await using _env = env;
    await put(env.client, FeatureGate, featureGate());
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    await env.advance(600_000);
    assert.doesNotMatch(await manager.metrics.text(), /AcmePreview/);
  });
});

describe('credentials of a provider for External', () => {
  it('operator/R36: that are missing are told with the command that makes them, since nobody else does', async () => {
    const credentials = [
      { name: 'acme', secretName: 'acme-credentials', keys: ['token', 'user'], providerSpec: {} },
    ];
    const { env } = await startOn(acme({ credentials }, CONFIG));
    await using _env = env;
    await env.advance(30_000);
    const command = `oc create secret generic acme-credentials -n ${namespace} --from-file=token --from-file=user`;
    const { Progressing: waiting = '' } = await conditionsOf(env);
    assert.ok(
      waiting.startsWith(`True/CredentialsMissing: Secret ${namespace}/acme-credentials is missing`),
      waiting,
    );
    assert.ok(waiting.includes(`create it: ${command} (`), waiting);
    // Nothing of the command looks like a secret.
    await env.advance(180_000);
    assert.ok((await conditionsOf(env))['Degraded']?.includes(command));
  });
});
