import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  featureGate,
  infrastructure,
  NAMES,
  OPERATOR_KEY,
  put,
  rollOut,
  startCluster,
} from '../../../test/support/cloud-operator-world.ts';
import { startOperatorProgram } from '../../../test/support/operator-programs.ts';
import { ConfigMap, Namespace } from '../../api/generated/core-v1.ts';
import { ClusterOperator, FeatureGate, Infrastructure, Network } from '../../api/openshift/config-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { CLOUD_CONFIG_SYNC } from './run-config-sync.ts';
import { CLOUD_OPERATOR } from './run-operator.ts';

describe('both programs of the cloud operator', () => {
  it('operator/R4, operator/R29, operator/R57: get a cluster ready together, each with the rights it says it needs', async () => {
    await using env = await startCluster({ log: SILENT_LOG });
    for (const name of ['openshift-config', 'openshift-config-managed'])
      await env.client.create(Namespace, { metadata: { name } });
    await put(env.client, Infrastructure, infrastructure({ type: 'AWS' }));
    await put(env.client, FeatureGate, featureGate());
    await put(env.client, Network, {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Network',
      metadata: { name: 'cluster' },
    });
    await using operator = await startOperatorProgram(env, CLOUD_OPERATOR);
    await using sync = await startOperatorProgram(env, CLOUD_CONFIG_SYNC, { name: 'sync' });
    await env.advance(60_000);
    const said = [...operator.lines, ...sync.lines].join('');
    const key = { namespace: NAMES.managedNamespace, name: 'cloud-conf' };
    assert.ok(await env.client.live.find(ConfigMap, key), said);
    await rollOut(env);
    await env.advance(1000);
    const asked = env.recorder.requests.map(({ target }) => target.split('?', 1)[0] ?? '');
    assert.deepEqual(
      asked.filter((path) => /^\/apis?(?:\/[^/]+){0,2}$/.test(path)),
      [],
      'broken APIs of others do not matter: nobody asks what is served',
    );
    const { status } = await env.client.live.get(ClusterOperator, OPERATOR_KEY);
    const isTrue = (type: string) => status?.conditions?.find((one) => one.type === type)?.status === 'True';
    assert.deepEqual(
      ['CloudConfigControllerAvailable', 'Available', 'Degraded'].map(isTrue),
      [true, true, false],
      said,
    );
  });
});
