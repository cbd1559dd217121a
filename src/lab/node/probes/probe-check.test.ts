import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it } from 'node:test';
import type { Probe } from '../../../api/generated/core-v1-types.ts';
import { SystemClock, VirtualClock } from '../../../base/clock.ts';
import type { ExecResult } from '../../process/process-host.ts';
import type { RunningContainer } from '../runtime/container-runtime.ts';
import { type CheckOptions, probeCheck } from './probe-check.ts';
import { probeRule } from './probe-track.ts';
import type { Probed } from './prober.ts';

interface Executed {
  readonly argv: readonly string[];
  readonly timeoutMs: number;
}

function probedWith(execute: (executed: Executed) => Promise<ExecResult>): Probed {
  const run: RunningContainer = {
    id: 'slipway://1',
    isSimulated: false,
    startedAt: new Date(0),
    exited: new Promise(() => {}),
    stop: () => new Promise(() => {}),
    execute: (argv, timeoutMs) => execute({ argv, timeoutMs }),
  };
  return {
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'n', uid: 'u' },
      spec: { containers: [] },
      status: { podIP: '10.78.32.5' },
    },
    container: { name: 'c', env: [{ name: 'A', value: 'x' }] },
    run,
    wire: '127.78.32.5',
  };
}

const NOBODY = probedWith(() => Promise.reject(new Error('no exec here')));

function check(probe: Probe, probed: Probed = NOBODY, options: Partial<CheckOptions> = {}) {
  const container = { ...probed.container, livenessProbe: probe };
  const rule = probeRule(container, 'liveness');
  assert.ok(rule !== undefined);
  return probeCheck(
    rule,
    { ...probed, container },
    {
      real: new SystemClock(),
      version: '1.36',
      nodeWire: '127.78.1.1',
      plan: {
        mode: 'loopback',
        owns: (host) => host.startsWith('10.78.'),
        target: ({ host, port }) => ({ host: host.replace(/^10\./, '127.'), port }),
      },
      signal: new AbortController().signal,
      ...options,
    },
  );
}

async function listening(host: string) {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  const peers: (string | undefined)[] = [];
  server.on('connection', ({ remoteAddress }) => peers.push(remoteAddress));
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, peers, [Symbol.asyncDispose]: async () => void (await once(server.close(), 'close')) };
}

describe('probeCheck', () => {
  it('lab/N21: opens a TCP connection to the pod, by name or number of the port', async () => {
    await using server = await listening('127.78.32.5');
    const container = { ...NOBODY.container, ports: [{ name: 'db', containerPort: server.port }] };
    for (const port of [server.port, 'db']) {
      const outcome = await check({ tcpSocket: { port } }, { ...NOBODY, container });
      assert.deepEqual(outcome, { result: 'success', message: '' });
    }
    assert.deepEqual(server.peers, ['127.78.1.1', '127.78.1.1']);
  });

  it('lab/N21: opens it to the node when the manifest says 127.0.0.1', async () => {
    await using server = await listening('127.78.1.1');
    const { result } = await check({ tcpSocket: { host: '127.0.0.1', port: server.port } });
    assert.equal(result, 'success');
  });

  it('lab/N21: fails in known words when nobody listens', async () => {
    const server = await listening('127.78.32.5');
    await server[Symbol.asyncDispose]();
    assert.deepEqual(await check({ tcpSocket: { port: server.port } }), {
      result: 'failure',
      message: `dial tcp 10.78.32.5:${server.port}: connect: connection refused`,
    });
  });

  it('lab/N23: gives a connection up after the real time that it has', async () => {
    await using server = await listening('127.78.32.5');
    const real = new VirtualClock();
    const checking = check({ tcpSocket: { port: server.port } }, NOBODY, { real });
    await real.advance(1000);
    const message = `dial tcp 10.78.32.5:${server.port}: i/o timeout`;
    assert.deepEqual(await checking, { result: 'failure', message });
  });

  it('lab/N21: uses the wire address while the cluster does not know the pod by another', async () => {
    const { status: _none, ...pod } = NOBODY.pod;
    const { message } = await check({ tcpSocket: { port: 9 } }, { ...NOBODY, pod });
    assert.match(message, /^dial tcp 127\.78\.32\.5:9: /);
  });

  const executions: readonly (readonly [ExecResult, string, string])[] = [
    [{ exitCode: 0, output: 'fine', isTimedOut: false }, 'success', 'fine'],
    [{ exitCode: 1, output: 'not fine\n', isTimedOut: false }, 'failure', 'not fine\n'],
    [{ exitCode: 137, output: '', isTimedOut: false }, 'failure', ''],
    [
      { exitCode: 137, output: 'half', isTimedOut: true },
      'failure',
      'command timed out: "check x" timed out after 2s',
    ],
  ];
  for (const [result, expected, message] of executions) {
    it(`lab/N21: a command that ends with ${JSON.stringify(result)} is a ${expected}`, async () => {
      const asked: Executed[] = [];
      const probed = probedWith(async (executed) => {
        asked.push(executed);
        return result;
      });
      const outcome = await check({ exec: { command: ['check', '$(A)'] }, timeoutSeconds: 2 }, probed);
      assert.deepEqual(outcome, { result: expected, message });
      assert.deepEqual(asked, [{ argv: ['check', 'x'], timeoutMs: 2000 }]);
    });
  }

  it('lab/N21: keeps no more than 10 KiB of what a command prints', async () => {
    const output = 'x'.repeat(20_000);
    const outcome = await check(
      { exec: {} },
      probedWith(async () => ({ exitCode: 1, output, isTimedOut: false })),
    );
    assert.equal(outcome.message.length, 10_240);
  });

  it('lab/N22: a command that cannot be run is an error of the probe', async () => {
    await assert.rejects(check({ exec: { command: ['check'] } }), /no exec here/);
  });

  it('lab/N21: asks the health service of gRPC at the wire address', async () => {
    const asked: unknown[] = [];
    const grpcCheck: CheckOptions['grpcCheck'] = async (...given) => {
      asked.push(given);
      return { status: 'SERVING' };
    };
    const probe = { grpc: { port: 9090, service: 'liveness' }, timeoutSeconds: 3 };
    assert.deepEqual(await check(probe, NOBODY, { grpcCheck }), { result: 'success', message: 'service healthy' });
    assert.deepEqual(asked, [[{ host: '127.78.32.5', port: 9090 }, 'liveness', 3000]]);
  });

  it('lab/N21: a service of gRPC that does not serve, or does not answer, is a failure', async () => {
    const sick = await check({ grpc: { port: 9090 } }, NOBODY, {
      grpcCheck: async () => ({ status: 'NOT_SERVING' }),
    });
    assert.deepEqual(sick, { result: 'failure', message: 'service unhealthy (responded with "NOT_SERVING")' });
    const away = await check({ grpc: { port: 9090 } }, NOBODY, {
      grpcCheck: () => Promise.reject(new Error('connection refused')),
    });
    assert.deepEqual(away, { result: 'failure', message: 'error: health rpc probe failed: connection refused' });
  });

  it('lab/N23: does not wait longer for a gRPC answer than the probe may take', async () => {
    const real = new VirtualClock();
    const checking = check({ grpc: { port: 9090 } }, NOBODY, { real, grpcCheck: () => new Promise(() => {}) });
    await real.advance(1000);
    const outcome = await checking;
    assert.deepEqual(outcome, { result: 'failure', message: 'timeout: health rpc did not complete within 1s' });
  });

  it('lab/N22: a gRPC probe in a lab that cannot make it is an error with a way on', async () => {
    await assert.rejects(check({ grpc: { port: 9090 } }), /cannot make gRPC probes.*probe port 9090 by tcpSocket/);
  });

  it('lab/N22: so is a probe that says nothing of how', async () => {
    await assert.rejects(check({}), /missing probe handler for p_n\(u\):c/);
  });
});
