import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AssistedWorld, CLUSTER, NAMESPACE } from '../../../../test/support/assisted-world.ts';
import { InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { changedInstall } from './assisted-webhooks.ts';

const KEY = { namespace: NAMESPACE, name: CLUSTER };

describe('what assisted-service refuses', () => {
  it('agent/X14: an InfraEnv with a version of its own beside a cluster', async () => {
    await using world = await AssistedWorld.start({ hasWebhooks: true });
    await assert.rejects(world.addInfraEnv('m1', { osImageVersion: '4.20' }), {
      code: 400,
      message: /osImageVersion/,
    });
    await world.addInfraEnv('m1');
    const body = { spec: { cpuArchitecture: 'arm64' } };
    const change = world.env.client.patch(InfraEnv, { namespace: NAMESPACE, name: 'm1' }, { type: 'merge', body });
    await assert.rejects(change, { code: 400, message: /spec\.cpuArchitecture cannot be changed/ });
  });

  it('agent/X20: changes of an installation that goes on, but not what the service itself writes', async () => {
    await using world = await AssistedWorld.start({ hasWebhooks: true, pace: 0.1 });
    await world.addCluster({ controlPlaneAgents: 1 });
    assert.equal((await world.install()).spec?.networking?.userManagedNetworking, true);
    await world.addHosts('m1');
    await world.env.advance(60_000);
    await world.approve('m1');
    await world.untilState('installing');
    const more = () =>
      world.env.client.patch(AgentClusterInstall, KEY, {
        type: 'merge',
        body: { spec: { provisionRequirements: { controlPlaneAgents: 1, workerAgents: 1 } } },
      });
    await assert.rejects(more(), { code: 400, message: /InstallationInProgress/ });
    await world.untilState('adding-hosts');
    await more();
    assert.ok((await world.install()).spec?.clusterMetadata?.adminPasswordSecretRef);
  });

  const install = (reason: string, spec: JsonObject) => ({
    apiVersion: 'x',
    kind: 'x',
    metadata: { name: 'x' },
    spec,
    status: { conditions: [{ type: 'Completed', status: 'False' as const, reason }] },
  });
  const CASES: readonly (readonly [reason: string, old: JsonObject, now: JsonObject, isAllowed: boolean])[] = [
    ['InstallationNotStarted', { sshPublicKey: 'a' }, { sshPublicKey: 'b' }, true],
    ['InstallationNotStarted', { imageSetRef: { name: 'a' } }, { imageSetRef: { name: 'b' } }, false],
    ['InstallationNotStarted', {}, { imageSetRef: { name: 'b' } }, true],
    ['InstallationInProgress', { sshPublicKey: 'a' }, { sshPublicKey: 'b' }, false],
    ['InstallationInProgress', {}, { sshPublicKey: 'b' }, false],
    ['InstallationInProgress', {}, { clusterMetadata: { clusterID: 'b' } }, true],
    ['InstallationInProgress', {}, { ignitionEndpoint: { url: 'b' } }, true],
    ['InstallationInProgress', {}, { provisionRequirements: { controlPlaneAgents: 3 } }, false],
    ['InstallationCompleted', {}, { provisionRequirements: { controlPlaneAgents: 3 } }, true],
    ['InstallationFailed', {}, { provisionRequirements: { controlPlaneAgents: 3 } }, true],
    ['InstallationCompleted', { sshPublicKey: 'a' }, {}, false],
    ['InstallationCompleted', { manifestsConfigMapRefs: [] }, {}, true],
  ];
  for (const [reason, old, now, isAllowed] of CASES) {
    const what = `${JSON.stringify(old)} may ${isAllowed ? '' : 'not '}become ${JSON.stringify(now)}`;
    it(`agent/S19: after ${reason} ${what}`, () => {
      assert.equal(changedInstall(install(reason, old), install(reason, now)) === undefined, isAllowed);
    });
  }
});
