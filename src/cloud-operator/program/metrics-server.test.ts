import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect } from 'node:tls';
import { SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { Writer } from '../../kube/client/kube-client.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import { metricsServer } from './metrics-server.ts';

/** Knows one token, whose user may read everything. */
const reviewer = {
  create: (kind: { readonly kind: string }, object: { readonly spec?: { readonly token?: string } }) =>
    Promise.resolve(
      kind.kind === 'TokenReview'
        ? { status: { authenticated: object.spec?.token === 'known', user: { username: 'prometheus' } } }
        : { status: { allowed: true } },
    ),
} as unknown as Pick<Writer, 'create'>;

const get = (port: number, token: string) =>
  new Promise<number>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(
      { port, host: '127.0.0.1', path: '/metrics', rejectUnauthorized: false, headers },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    sent.on('error', reject);
    sent.end();
  });

const greets = (port: number, maxVersion: 'TLSv1.2' | 'TLSv1.3') =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion }, () => {
      socket.end();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

describe('the metrics of the cloud operator', () => {
  it('operator/R5, operator/R94: are for those who may read them, over the TLS that was asked for', async () => {
    const certDir = await mkdtemp(join(tmpdir(), 'serving-'));
    const server = metricsServer({
      bind: '127.0.0.1:0',
      tls: { minVersion: 'VersionTLS13', cipherSuites: '' },
      // The files are not there yet: it serves without.
      certDir,
      hostname: 'host',
      metrics: new PrometheusMetrics(),
      client: reviewer,
      clock: new SystemClock(),
      log: SILENT_LOG,
    });
    assert.ok(server !== undefined);
    const stop = new AbortController();
    const running = server.run(stop.signal);
    try {
      const port = await server.port;
      assert.equal(await get(port, 'known'), 200);
      assert.equal(await get(port, 'unknown'), 401);
      assert.equal(await greets(port, 'TLSv1.3'), true);
      assert.equal(await greets(port, 'TLSv1.2'), false);
    } finally {
      stop.abort();
      await running;
      await rm(certDir, { recursive: true });
    }
  });

  it('operator/R1: are not served where nobody wants them', () => {
    const none = { bind: '0', tls: { minVersion: '', cipherSuites: '' }, certDir: '', hostname: 'host' };
    const parts = {
      metrics: new PrometheusMetrics(),
      client: reviewer,
      clock: new SystemClock(),
      log: SILENT_LOG,
    };
    assert.equal(metricsServer({ ...none, ...parts }), undefined);
  });
});
