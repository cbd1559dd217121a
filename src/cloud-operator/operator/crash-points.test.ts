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
  operatorSettings,
  put,
  registryOf,
  rollOut,
  sayAuxiliary,
} from '../../../test/support/cloud-operator-world.ts';
import { OPENSHIFT_KINDS } from '../../../test/support/openshift-kinds.ts';
import { ClusterOperator, FeatureGate, Infrastructure } from '../../api/openshift/config-v1.ts';
import { enumerateCrashPoints } from '../../testing/crash-points.ts';
import type { CrashScenario, ScenarioWorld } from '../../testing/crash-scenario.ts';
import { cloudOperator } from './cloud-operator.ts';
import { operatorCache } from './watches.ts';

// The roles of the program are made before a scenario can make anything: this namespace is always there.
const names = { ...NAMES, managedNamespace: 'default' };
const kinds = registryOf().operandKinds(names.managedNamespace);
const DEPLOYMENT = { ...AWS_DEPLOYMENT, namespace: names.managedNamespace };

async function act({ env, client, converge }: ScenarioWorld): Promise<void> {
  await put(client, FeatureGate, featureGate());
  await converge();
  await put(client, Infrastructure, infrastructure({ type: 'AWS' }));
  await sayAuxiliary(env);
  await converge();
  await rollOut(env, DEPLOYMENT);
  await converge();
  assert.deepEqual(await conditionsOf(env), AVAILABLE);
  const found = await client.live.get(Infrastructure, { name: 'cluster' });
  await client.updateStatus(Infrastructure, {
    ...found,
    status: { ...found.status, controlPlaneTopology: 'SingleReplica' },
  });
  await converge();
  await rollOut(env, DEPLOYMENT);
  await converge();
  await client.patch(ClusterOperator, OPERATOR_KEY, {
    type: 'merge',
    body: { metadata: { annotations: { 'slipway.dev/management-state': 'Removed' } } },
  });
  await converge();
}

const scenario: CrashScenario = {
  name: 'cloud operator',
  kinds: OPENSHIFT_KINDS,
  manager: { cache: { byKind: operatorCache(names, kinds).byKind } },
  start: () => ({
    controllers: () => (manager) => [cloudOperator(manager, operatorSettings({ names, prune: true }))],
    act,
  }),
};

describe('the cloud operator, killed anywhere', () => {
  it('operator/R34, operator/R56: ends with the same cluster, whatever a crash or a lost answer left', async () => {
    const { failures, points, tried } = await enumerateCrashPoints(scenario, {
      faults: ['kill-after', 'lost-and-stale'],
    });
    assert.deepEqual(failures, []);
    assert.equal(tried, 2 * points.length);
    assert.ok(
      points.some((point) => point.startsWith('create|deployments')),
      points.join('\n'),
    );
    assert.ok(
      points.some((point) => point.startsWith('delete|')),
      points.join('\n'),
    );
  });
});
