import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeProvider, startCloudController } from '../../../test/support/cloud-controllers.ts';
import { addCloudNode, machine, nodeNames, readiness } from '../../../test/support/cloud-nodes.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { TestEnv } from '../../testing/test-env.ts';
import type { InstanceAnswer } from '../instances/instance-answer.ts';
import { cloudNodeLifecycle } from './index.ts';
import { callResult, LifecycleMetrics } from './lifecycle-metrics.ts';

const CALLS = 'cloud_node_lifecycle_controller_cloud_provider_calls_total';
const RUNNING = new AbortController().signal;
const failed = (error: unknown): InstanceAnswer => ({ state: 'failed', error });
const aborted = new DOMException('stop', 'AbortError');

describe('LifecycleMetrics', () => {
  it('ccm/L10: has the buckets of upstream, and every series from the start', async () => {
    const metrics = new PrometheusMetrics();
    new LifecycleMetrics(metrics).passed(3);
    const text = await metrics.text();
    const buckets = [...text.matchAll(/monitor_nodes_duration_seconds_bucket\{le="([\d.]+)"\}/g)].map(
      ([, le]) => le,
    );
    assert.equal(buckets.length, 15);
    assert.deepEqual([buckets[0], buckets[1], buckets.at(-1)], ['0.001', '0.002', '16.384']);
    assert.ok(text.includes('cloud_node_lifecycle_controller_monitor_nodes_duration_seconds_count 1'));
    assert.ok(text.includes(`${CALLS}{operation="instance_shutdown",result="not_implemented"} 0`));
  });

  it('ccm/L10, ccm/L8: names how a question ended as upstream does', () => {
    const rows: readonly (readonly [InstanceAnswer, string])[] = [
      [machine(), 'success'],
      [{ state: 'unmanaged' }, 'success'],
      [{ state: 'absent', evidence: '404' }, 'instance_not_found'],
      [failed(new ProviderError('unavailable', 'down')), 'error'],
      [failed(new ProviderError('not-found', 'the project is not there')), 'error'],
      [failed(new ProviderError('unsupported', 'no')), 'not_implemented'],
      [failed(aborted), 'canceled'],
      [failed(new ProviderError('unknown', 'x', { cause: aborted })), 'canceled'],
    ];
    for (const [answer, want] of rows) assert.equal(callResult(answer, RUNNING), want);
    assert.equal(callResult(failed(new Error('x')), AbortSignal.abort()), 'canceled');
  });

  it('ccm/C14, ccm/L10: counts what the cloud answers, and keeps a node whose question was cancelled', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.on('instances.describeMany', () => {
      throw aborted;
    });
    await addCloudNode(env, 'n1', { status: readiness('Unknown') });
    const provider = fakeProvider(cloud);
    const manager = await startCloudController(env, cloudNodeLifecycle, { provider });
    assert.deepEqual(await nodeNames(env), ['n1']);
    const counted = async (operation: string, result: string) =>
      (await manager.metrics.text()).includes(`${CALLS}{operation="${operation}",result="${result}"} 1`);
    assert.ok(await counted('instance_exists', 'canceled'));
    cloud.on('instances.describeMany', undefined);
    cloud.instances.set('n1', machine());
    await env.advance(5000);
    assert.ok(await counted('instance_exists', 'success'));
    assert.ok(await counted('instance_shutdown', 'success'));
    cloud.instances.clear();
    await env.advance(5000);
    assert.ok(await counted('instance_exists', 'instance_not_found'));
  });
});
