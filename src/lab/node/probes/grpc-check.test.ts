import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { SystemClock } from '../../../base/clock.ts';
import { Health } from '../../../rpc/health.ts';
import { RpcError } from '../../../rpc/rpc-error.ts';
import type { Handlers } from '../../../rpc/rpc-service.ts';
import { served, serveRpc } from '../../../rpc/serve-rpc.ts';
import { grpcCheck } from './grpc-check.ts';
import { ProbeProblem } from './probe-request.ts';

const real = new SystemClock();
const check = grpcCheck(real);
const HOST = '127.0.0.1';

const health = (handlers: Handlers<typeof Health>) =>
  serveRpc({ address: { host: HOST, port: 0 }, services: [served(Health, handlers)], clock: real, graceMs: 20 });

describe('gRPC health checks', () => {
  it('lab/N21: ask for a service, or for the server as a whole', async () => {
    const states = { '': 'SERVING', ready: 'NOT_SERVING' } as const;
    await using server = await health({
      check: ({ service }) => {
        if (service !== '' && service !== 'ready') throw new RpcError('NOT_FOUND', 'unknown service');
        return { status: states[service] };
      },
    });
    const endpoint = { host: HOST, port: server.port };
    assert.deepEqual(await check(endpoint, '', 20_000), { status: 'SERVING' });
    assert.deepEqual(await check(endpoint, 'ready', 20_000), { status: 'NOT_SERVING' });
    await assert.rejects(check(endpoint, 'other', 20_000), {
      name: 'ProbeProblem',
      message: 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
    });
  });

  it('lab/N21: take a state that nobody knows for none', async () => {
    await using server = await health({ check: () => ({ status: 17 }) });
    assert.deepEqual(await check({ host: HOST, port: server.port }, '', 20_000), { status: 'UNKNOWN' });
  });

  it('lab/N21: say what is wrong: nobody there, no answer in time, another protocol', async () => {
    await using mute = await health({ check: () => new Promise(() => {}) });
    await assert.rejects(check({ host: HOST, port: mute.port }, '', 200), {
      message: 'timeout: health rpc did not complete within 0.2s',
    });
    await using other = await serveRpc({ address: { host: HOST, port: 0 }, services: [], clock: real });
    await assert.rejects(check({ host: HOST, port: other.port }, '', 20_000), {
      message: /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): /,
    });
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, HOST, () => resolve()));
    const address = free.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    await new Promise((resolve) => free.close(resolve));
    await assert.rejects(check({ host: HOST, port }, '', 100), (error) => {
      assert.ok(error instanceof ProbeProblem);
      assert.equal(error.message, `timeout: failed to connect service "${HOST}:${port}" within 0.1s`);
      return true;
    });
  });
});
