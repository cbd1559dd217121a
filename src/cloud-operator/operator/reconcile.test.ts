import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AVAILABLE,
  AWS_DEPLOYMENT,
  conditionsOf,
  OPERATOR_KEY,
  operatorManager,
  rollOut,
  startCluster,
  startOnAws,
  VERSION,
} from '../../../test/support/cloud-operator-world.ts';
import { Deployment } from '../../api/generated/apps-v1.ts';
import { ClusterOperator } from '../../api/openshift/config-v1.ts';
import { expectNoWrites } from '../../testing/recorder.ts';

describe('the cloud operator', () => {
  it('operator/R28, operator/R56: case 6: says that it is available where there is no Infrastructure', async () => {
    await using env = await startCluster();
    await env.startManager(operatorManager());
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
    const { status } = await env.client.live.get(ClusterOperator, OPERATOR_KEY);
    assert.deepEqual(status?.versions, [{ name: 'operator', version: VERSION }]);
    assert.deepEqual(
      status?.relatedObjects?.map(({ resource, name }) => `${resource}/${name}`),
      [
        'namespaces/openshift-cloud-controller-manager-operator',
        'clusteroperators/cloud-controller-manager',
        'namespaces/openshift-cloud-controller-manager',
      ],
    );
  });

  it('operator/R35, operator/R36, operator/R37: case 7: is available when the operands have been rolled out', async () => {
    const { env } = await startOnAws();
    await using _env = env;
    const first = await env.client.live.get(ClusterOperator, OPERATOR_KEY);
    const progressing = {
      Progressing: `True/SyncingResources: Progressing towards operator: ${VERSION}`,
      Upgradeable: 'True/AsExpected',
    };
    assert.deepEqual(await conditionsOf(env), progressing);
    assert.equal(first.status?.versions, undefined);
    await expectNoWrites(env.recorder, () => env.advance(120_000));
    const second = await env.client.live.get(ClusterOperator, OPERATOR_KEY);
    assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    await rollOut(env);
    await env.settle();
    assert.deepEqual(await conditionsOf(env), AVAILABLE);
  });

  it('operator/R41, operator/R44, operator/R53: writes nothing for ten minutes when nothing happens, and then puts back what somebody changed', async () => {
    const { env } = await startOnAws();
    await using _env = env;
    await rollOut(env);
    await env.settle();
    env.recorder.clear();
    await expectNoWrites(env.recorder, () => env.advance(11 * 60_000));
    // Pods are asked for only while some of them do not serve.
    assert.ok(!env.recorder.requests.some(({ target }) => target.includes('/pods')));
    await env.client.delete(Deployment, AWS_DEPLOYMENT);
    await env.settle();
    assert.ok(await env.client.live.find(Deployment, AWS_DEPLOYMENT));
  });
});
