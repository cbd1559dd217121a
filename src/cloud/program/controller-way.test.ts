import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import { controllerWay } from './controller-way.ts';

const request = { method: 'GET', target: '/api/v1/nodes' };

function setUp() {
  const clock = new VirtualClock();
  const sentMs: number[] = [];
  const kube: Transport = async () => {
    sentMs.push(clock.monotonicMs());
    return { status: 200, headers: {}, stream: async function* () {}, bytes: async () => new Uint8Array() };
  };
  const parts = { kube, program: 'ccm', version: '1', clock, log: SILENT_LOG, metrics: new PrometheusMetrics() };
  return { clock, sentMs, parts };
}

describe('controllerWay', () => {
  it('limits each controller by itself, as clients of upstream do', async () => {
    const { clock, sentMs, parts } = setUp();
    const rateLimit = { qps: 2, burst: 2 };
    const one = controllerWay({ ...parts, account: 'node-controller', rateLimit });
    const other = controllerWay({ ...parts, account: 'service-controller', rateLimit });
    const sent = [...Array.from({ length: 4 }, () => one.transport(request)), other.transport(request)];
    await clock.advance(2000);
    await Promise.all(sent);
    assert.deepEqual(sentMs, [0, 0, 0, 500, 1000]);
  });

  it('sends at once without a limit', async () => {
    const { sentMs, parts } = setUp();
    const { transport } = controllerWay({ ...parts, account: 'node-controller' });
    await Promise.all(Array.from({ length: 50 }, () => transport(request)));
    assert.equal(sentMs.length, 50);
  });
});
