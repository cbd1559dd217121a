import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startCluster } from '../../../test/support/cloud-operator-world.ts';
import { ClusterOperator } from '../../api/openshift/config-v1.ts';
import { interceptedClient } from '../../testing/intercepted-client.ts';
import type { TestEnv } from '../../testing/test-env.ts';
import { condition } from './conditions.ts';
import { OperatorStatus } from './operator-status.ts';

const KEY = { name: 'ccm' };

const statusBy = ({ client, clock }: TestEnv, fieldManager: string) =>
  new OperatorStatus({ client, name: KEY.name, fieldManager, clock });

const found = async ({ client }: TestEnv) => (await client.live.get(ClusterOperator, KEY)).status ?? {};

const shown = async (env: TestEnv) =>
  Object.fromEntries(
    ((await found(env)).conditions ?? []).map(({ type, status, lastTransitionTime }) => [
      type,
      `${status} ${lastTransitionTime.slice(11, 19)}`,
    ]),
  );

describe('the status of a ClusterOperator', () => {
  it('operator/R56: is made with the object where there is none', async () => {
    await using env = await startCluster();
    const status = statusBy(env, 'one');
    assert.equal(await status.read(), undefined);
    assert.equal(await status.write({ conditions: [condition('Available', 'True', 'AsExpected', 'fine')] }), true);
    const { conditions } = await found(env);
    assert.deepEqual(conditions, [
      {
        type: 'Available',
        status: 'True',
        reason: 'AsExpected',
        message: 'fine',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ]);
  });

  it('operator/R56: has the time of the status, which other words do not change', async () => {
    await using env = await startCluster();
    const status = statusBy(env, 'one');
    await status.write({ conditions: [condition('Available', 'True', 'A', 'one')] });
    await env.clock.advance(5000);
    await status.write({ conditions: [condition('Available', 'True', 'B', 'two')] });
    assert.deepEqual(await shown(env), { Available: 'True 00:00:00' });
    await status.write({ conditions: [condition('Available', 'False', 'B', 'two')] });
    assert.deepEqual(await shown(env), { Available: 'False 00:00:05' });
  });

  it('operator/R52, operator/R56: is not written when nothing changes', async () => {
    await using env = await startCluster();
    const status = statusBy(env, 'one');
    const update = {
      conditions: [condition('Available', 'True')],
      versions: [{ name: 'operator', version: '1' }],
      relatedObjects: [{ group: '', resource: 'namespaces', name: 'a' }],
    };
    assert.equal(await status.write(update), true);
    const { metadata } = await env.client.live.get(ClusterOperator, KEY);
    assert.equal(await status.write(update), false);
    assert.equal(await status.write({ conditions: [condition('Available', 'True')] }), false);
    assert.equal(
      (await env.client.live.get(ClusterOperator, KEY)).metadata.resourceVersion,
      metadata.resourceVersion,
    );
    assert.equal(await status.write({ ...update, relatedObjects: [] }), true);
  });

  it('operator/R51, operator/R56: keeps what it said before and does not name now', async () => {
    await using env = await startCluster();
    const status = statusBy(env, 'one');
    const versions = [{ name: 'operator', version: '1' }];
    const relatedObjects = [{ group: '', resource: 'namespaces', name: 'a' }];
    await status.write({
      conditions: [condition('Available', 'True'), condition('Degraded', 'False')],
      versions,
      relatedObjects,
    });
    await status.write({ conditions: [condition('Progressing', 'True')] });
    const after = await found(env);
    assert.deepEqual(after.conditions?.map(({ type }) => type).toSorted(), [
      'Available',
      'Degraded',
      'Progressing',
    ]);
    assert.deepEqual(after.versions, versions);
    assert.deepEqual(after.relatedObjects, relatedObjects);
  });

  it('operator/R54: takes away what it said before and does not say now, of others nothing, also after a restart', async () => {
    await using env = await startCluster();
    const first = [condition('Available', 'True'), condition('Preview', 'True'), condition('More', 'True')];
    await statusBy(env, 'one').write({ conditions: first });
    await statusBy(env, 'other').write({ conditions: [condition('Foreign', 'True')] });
    const again = statusBy(env, 'one');
    const update = { conditions: [condition('More', 'True')], keeps: ['Available'] };
    assert.equal(await again.write(update), true);
    assert.deepEqual(Object.keys(await shown(env)).toSorted(), ['Available', 'Foreign', 'More']);
    assert.equal(await again.write(update), false);
  });

  it('operator/R56: two controllers neither lose nor change what the other one said', async () => {
    await using env = await startCluster();
    const [one, other] = [statusBy(env, 'one'), statusBy(env, 'other')];
    await one.write({
      conditions: [condition('Available', 'True')],
      versions: [{ name: 'operator', version: '1' }],
    });
    await other.write({ conditions: [condition('ConfigAvailable', 'True')] });
    await one.write({ conditions: [condition('Available', 'False')] });
    await other.write({ conditions: [condition('ConfigAvailable', 'False')] });
    assert.deepEqual(Object.keys(await shown(env)).toSorted(), ['Available', 'ConfigAvailable']);
    assert.equal((await found(env)).versions?.length, 1);
  });

  it('operator/R56: takes over conditions that somebody else wrote as a whole', async () => {
    await using env = await startCluster();
    const made = await env.client.create(ClusterOperator, {
      apiVersion: 'config.openshift.io/v1',
      kind: 'ClusterOperator',
      metadata: KEY,
      spec: {},
    });
    const lastTransitionTime = '2025-01-01T00:00:00Z';
    const conditions = [
      { type: 'Available', status: 'True' as const, lastTransitionTime },
      { type: 'Foreign', status: 'True' as const, lastTransitionTime },
    ];
    await env.client.updateStatus(ClusterOperator, { ...made, status: { conditions } });
    await statusBy(env, 'one').write({ conditions: [condition('Available', 'True', 'New', 'words')] });
    const after = await found(env);
    assert.deepEqual(after.conditions, [
      { ...conditions[0], reason: 'New', message: 'words' },
      { ...conditions[1] },
    ]);
  });

  it('operator/R37: removes a condition of somebody else, once', async () => {
    await using env = await startCluster();
    await statusBy(env, 'one').write({ conditions: [condition('A', 'True'), condition('B', 'True')] });
    const status = statusBy(env, 'other');
    await status.remove('A');
    assert.deepEqual(Object.keys(await shown(env)), ['B']);
    const { metadata } = await env.client.live.get(ClusterOperator, KEY);
    await status.remove('A');
    assert.equal(
      (await env.client.live.get(ClusterOperator, KEY)).metadata.resourceVersion,
      metadata.resourceVersion,
    );
  });

  it('operator/R56: lives with somebody who makes the object at the same moment', async () => {
    await using env = await startCluster();
    const client = interceptedClient(env.client, {
      create: {
        before: async () => {
          await statusBy(env, 'other').write({ conditions: [condition('Other', 'True')] });
        },
      },
    });
    const status = new OperatorStatus({ client, name: KEY.name, fieldManager: 'one', clock: env.clock });
    await status.write({ conditions: [condition('Available', 'True')] });
    assert.deepEqual(Object.keys(await shown(env)).toSorted(), ['Available', 'Other']);
  });

  it('operator/R56: needs no right to change anything but the status', () => {
    const verbs = OperatorStatus.needs('ccm').map(({ resource, verbs: all, names }) => [resource, all, names]);
    assert.deepEqual(verbs, [
      ['clusteroperators', ['get', 'create'], ['ccm']],
      ['clusteroperators/status', ['patch'], ['ccm']],
    ]);
  });
});
