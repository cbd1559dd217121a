import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { SystemClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { controllerFor } from '../controller/controller.ts';
import { DONE } from '../controller/reconcile.ts';
import { createManager } from '../manager/create-manager.ts';
import { Webhooks } from '../webhook/webhooks.ts';
import { PrometheusMetrics } from './metrics.ts';
import { findTracer, openTelemetryTracer, type SpanOptions, type Tracer, tracedTransport } from './tracing.ts';

interface Noted extends SpanOptions {
  readonly name: string;
  readonly more: Record<string, unknown>;
}

/** A tracer that remembers. */
function notingTracer(): Tracer & { readonly spans: Noted[] } {
  const spans: Noted[] = [];
  return {
    spans,
    span: (name, options, work) => {
      const span = { name, ...options, more: {} };
      spans.push(span);
      return work((more) => void Object.assign(span.more, more));
    },
  };
}

const answer = (status: number) => ({
  status,
  headers: {},
  stream: async function* () {},
  bytes: async () => EMPTY,
});
const EMPTY = new Uint8Array();

describe('tracing', () => {
  it('runtime/O3: a request is a span with method, path and status, and the server hears nothing of it', async () => {
    const tracer = notingTracer();
    const sent: unknown[] = [];
    const transport = tracedTransport(async (request) => {
      sent.push(request);
      return answer(201);
    }, tracer);
    await transport({ method: 'POST', target: '/api/v1/namespaces/a/pods?dryRun=All' });
    const [span] = tracer.spans;
    assert.deepEqual(span?.attributes, {
      'http.request.method': 'POST',
      'url.path': '/api/v1/namespaces/a/pods',
    });
    assert.deepEqual(span?.more, { 'http.response.status_code': 201 });
    assert.deepEqual(sent, [{ method: 'POST', target: '/api/v1/namespaces/a/pods?dryRun=All' }]);
  });

  it('runtime/O3: a program has spans of its requests, its election and its reconciles', async () => {
    const tracer = notingTracer();
    await using server = await startApiServer({ storage: 'memory', listen: false });
    const stop = new AbortController();
    const clock = new SystemClock();
    const manager = createManager({
      name: 'traced',
      kube: server.client('admin', ['system:masters']),
      clock,
      log: createLog({ level: 'error', write: () => {}, now: () => clock.now() }),
      leaderElection: { id: 'traced', namespace: 'default' },
      tracer,
    });
    const seen = Promise.withResolvers<void>();
    manager.add(
      controllerFor(ConfigMap).reconcile({
        reconcile: async ({ metadata: { name } }) => {
          if (name === 'seen') seen.resolve();
          return DONE;
        },
      }),
    );
    const running = manager.start(stop.signal);
    await manager.whenLeading();
    await manager.client.create(ConfigMap, { metadata: { namespace: 'default', name: 'seen' } });
    await seen.promise;
    stop.abort();
    await running;
    const names = new Set(tracer.spans.map(({ name }) => name));
    assert.deepEqual([...names].sort(), ['api request', 'leader election', 'reconcile']);
    const reconcile = tracer.spans.find(({ name, attributes }) => {
      return name === 'reconcile' && attributes?.['key'] === 'default/seen';
    });
    assert.equal(reconcile?.attributes?.['controller'], 'configmap');
  });

  it('runtime/O3: a webhook continues the trace of the API server', async () => {
    const tracer = notingTracer();
    const clock = new SystemClock();
    const log = createLog({ level: 'error', write: () => {}, now: () => clock.now() });
    const webhooks = new Webhooks({ clock, log, metrics: new PrometheusMetrics(), tracer });
    webhooks.mutating(ConfigMap, () => {}, { path: '/check' });
    const request = {
      method: 'POST',
      path: '/check',
      query: new URLSearchParams(),
      body: async () => EMPTY,
      signal: new AbortController().signal,
    };
    await webhooks.serve({ ...request, headers: { traceparent: '00-0af7-b7ad-01' } });
    await webhooks.serve({ ...request, headers: {} });
    assert.deepEqual(
      tracer.spans.map(({ name, attributes, traceparent }) => ({ name, attributes, traceparent })),
      [
        { name: 'webhook', attributes: { webhook: '/check' }, traceparent: '00-0af7-b7ad-01' },
        { name: 'webhook', attributes: { webhook: '/check' }, traceparent: undefined },
      ],
    );
  });
});

/** An API of OpenTelemetry that tells what it was asked. */
function fakeApi() {
  const told: string[] = [];
  const span = {
    setAttributes: (attributes: object) => void told.push(`attributes ${JSON.stringify(attributes)}`),
    recordException: (error: Error | string) => void told.push(`exception ${String(error)}`),
    setStatus: ({ code }: { readonly code: number }) => void told.push(`status ${code}`),
    end: () => void told.push('end'),
  };
  const tracer = {
    startActiveSpan: <T>(name: string, work: (running: typeof span) => T): T => {
      told.push(`start ${name}`);
      return work(span);
    },
  };
  const api = {
    trace: { getTracer: () => tracer },
    context: {
      active: () => 'active',
      with: <T>(context: unknown, work: () => T): T => {
        told.push(`in ${String(context)}`);
        return work();
      },
    },
    propagation: {
      extract: (context: unknown, carrier: object) => `${String(context)} ${JSON.stringify(carrier)}`,
    },
  };
  return { told, api };
}

describe('the tracer of OpenTelemetry', () => {
  it('runtime/O3: opens and ends a span around the work, and gives what the work gives', async () => {
    const { told, api } = fakeApi();
    const tracer = openTelemetryTracer(api, 'demo');
    const result = await tracer.span('reconcile', { attributes: { key: 'a' } }, async (annotate) => {
      annotate({ found: true });
      return 7;
    });
    assert.equal(result, 7);
    assert.deepEqual(told, ['start reconcile', 'attributes {"key":"a"}', 'attributes {"found":true}', 'end']);
  });

  it('runtime/O3: marks the span of work that failed, ends it, and lets the failure through', async () => {
    const { told, api } = fakeApi();
    const work = () => openTelemetryTracer(api, 'demo').span('x', {}, () => Promise.reject(new Error('broken')));
    await assert.rejects(work, /broken/);
    assert.deepEqual(told, ['start x', 'attributes {}', 'exception Error: broken', 'status 2', 'end']);
  });

  it('runtime/O3: begins inside the trace of whoever asked', async () => {
    const { told, api } = fakeApi();
    await openTelemetryTracer(api, 'demo').span('webhook', { traceparent: '00-1-2-01' }, async () => {});
    assert.deepEqual(told.slice(0, 2), ['in active {"traceparent":"00-1-2-01"}', 'start webhook']);
  });

  it('runtime/O3: is there only where the package is installed', async () => {
    const { told, api } = fakeApi();
    const found = await findTracer('demo', async () => api);
    await found?.span('x', {}, async () => {});
    assert.equal(told.at(-1), 'end');
    assert.equal(await findTracer('demo', () => Promise.reject(new Error('Cannot find package'))), undefined);
    assert.equal(await findTracer('demo', async () => ({ default: {} })), undefined);
  });
});
