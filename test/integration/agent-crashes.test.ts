import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { Agent } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { Cluster } from '../../src/api/cluster-api/core-v1beta2.ts';
import { isTrue } from '../../src/object/conditions.ts';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { agentCrashScenario, everyPoint } from '../support/agent-crash-story.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import { AgentWorld } from '../support/agent-world.ts';

/** Some points of the whole story; all of them are in the full tests. */
describe('both providers, killed after a write', () => {
  for (const { method, step } of [
    { method: 'ignition', step: 13 },
    { method: 'live-iso', step: 24 },
  ] as const)
    it(`install, scale and delete a cluster with boot method ${method} as if nothing had happened`, async () => {
      const { failures, tried } = await enumerateCrashPoints(agentCrashScenario(method), {
        faults: ['kill-after'],
        points: everyPoint(step, 2),
      });
      assert.deepEqual(failures, []);
      assert.ok(tried >= 4, String(tried));
    });
});

/** Both are restarted every half minute until it is so. */
async function untilRestarted(world: AgentWorld, isSo: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 120; round++) {
    if (await isSo()) return;
    await world.restartProviders();
    await world.env.advance(30_000);
  }
  throw new Error('an hour is over, and it is not so');
}

describe('both providers, started again and again', () => {
  it('install and delete a cluster as if they had never stopped', async () => {
    await using world = await AgentWorld.start();
    const key = { namespace: 'test-capi', name: 'small' };
    await world.apply([...hostManifests(2), ...clusterManifests({ name: key.name, controlPlane: 1, workers: 1 })]);
    const controlPlane = () => world.client.live.find(OpenshiftAssistedControlPlane, key);
    const isReady = async () => {
      const found = await controlPlane();
      return found !== undefined && isTrue(found, 'Ready') && isTrue(found, 'UpgradeCompleted');
    };
    await untilRestarted(world, isReady);
    await world.untilRunning(2);
    assert.deepEqual(
      (await world.all(Agent)).map(({ spec }) => spec.approved),
      [true, true],
    );
    assert.deepEqual(world.history.conditions(OpenshiftAssistedControlPlane, key.name, 'Available'), [
      'False/ControlPlaneInstalling',
      'True/Available',
    ]);
    await world.client.delete(Cluster, key);
    await untilRestarted(world, async () => (await world.client.live.find(Cluster, key)) === undefined);
    assert.deepEqual(world.leftovers(key.name), []);
    assert.deepEqual(world.outside.hosts.powered, []);
  });
});
