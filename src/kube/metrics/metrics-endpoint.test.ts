import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PrometheusMetrics } from './metrics.ts';
import { serveMetrics } from './metrics-endpoint.ts';
import type { ScrapeGate } from './scrape-gate.ts';

const ask = (path: string, method = 'GET', gate?: ScrapeGate) => {
  const metrics = new PrometheusMetrics();
  metrics.counter({ name: 'demo_total', help: 'Demo.' }).add({}, 2);
  return serveMetrics(
    metrics,
    gate,
  )({
    path,
    method,
    query: new URLSearchParams(),
    headers: { authorization: 'Bearer x' },
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
  });
};

describe('serveMetrics', () => {
  it('runtime/M7: serves the text that Prometheus reads', async () => {
    const { status, headers = {}, body } = await ask('/metrics');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.match(String(body), /^# HELP demo_total Demo\.\n# TYPE demo_total counter\ndemo_total 2$/m);
  });

  for (const { status, body } of [
    { status: 401 as const, body: 'Unauthorized\n' },
    { status: 403 as const, body: 'Authorization denied\n' },
    { status: 500 as const, body: 'Authorization failed\n' },
  ]) {
    it(`runtime/M7: answers ${status} when the gate says so, whatever is asked for`, async () => {
      for (const path of ['/metrics', '/secret']) {
        assert.deepEqual(await ask(path, 'GET', async () => status), { status, body });
      }
    });
  }

  it('knows one path and two methods', async () => {
    assert.equal((await ask('/')).status, 404);
    assert.equal((await ask('/metrics', 'POST')).status, 405);
  });
});
