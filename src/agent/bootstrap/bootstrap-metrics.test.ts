import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import { BootstrapMetrics } from './bootstrap-metrics.ts';

describe('the metrics of the bootstrap provider', () => {
  it('begin at zero, count failures by kind and Machines by phase', async () => {
    const registry = new PrometheusMetrics();
    const metrics = new BootstrapMetrics(registry);
    const has = async (line: string) => (await registry.text()).split('\n').includes(line);
    assert.ok(await has('openshift_assisted_ignition_fetch_failures_total{failure="timeout"} 0'));
    assert.ok(await has('openshift_assisted_machine_phase{phase="WaitingForLiveISOURL"} 0'));
    metrics.fetchFailed('timeout');
    metrics.reached('n/a', 'WaitingForLiveISOURL');
    metrics.reached('n/a', 'WaitingForLiveISOURL');
    metrics.reached('n/b', 'WaitingForLiveISOURL');
    metrics.reached('n/b', 'DataSecretAvailable');
    assert.ok(await has('openshift_assisted_ignition_fetch_failures_total{failure="timeout"} 1'));
    assert.ok(await has('openshift_assisted_machine_phase{phase="WaitingForLiveISOURL"} 1'));
    assert.ok(await has('openshift_assisted_machine_phase{phase="DataSecretAvailable"} 1'));
    metrics.left('n/a');
    metrics.left('n/a');
    assert.ok(await has('openshift_assisted_machine_phase{phase="WaitingForLiveISOURL"} 0'));
  });
});
