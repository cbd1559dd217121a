import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { Backend } from '../../../../test/support/balancer-world.ts';
import { SystemClock, VirtualClock } from '../../../base/clock.ts';
import { CertificateAuthority } from '../../../pki/certificate-authority.ts';
import { type HealthCheckOptions, healthProblem } from './health-check.ts';

const HOST = '127.9.9.1';

const optionsFor = (
  port: number,
  check: Partial<HealthCheckOptions['check']>,
  more: Partial<HealthCheckOptions> = {},
): HealthCheckOptions => ({
  check: { protocol: 'http', path: '/healthz', timeoutSeconds: 2, ...check },
  at: { host: HOST, port },
  shown: { host: '10.9.9.1', port: 80 },
  real: new SystemClock(),
  signal: new AbortController().signal,
  ...more,
});

/** What a check makes of a program. */
async function problemWith(
  server: Server,
  check: Partial<HealthCheckOptions['check']>,
  more: Partial<HealthCheckOptions> = {},
): Promise<string | undefined> {
  await using backend = await Backend.listen(server, { host: HOST, port: 0 });
  return await healthProblem(optionsFor(backend.port, check, more));
}

const answering =
  (status: number): RequestListener =>
  (_, response) =>
    response.writeHead(status, { location: '/elsewhere' }).end('body');

const statuses = [
  { status: 200, isGood: true },
  { status: 204, isGood: true },
  { status: 301, isGood: true },
  { status: 399, isGood: true },
  { status: 400, isGood: false },
  { status: 404, isGood: false },
  { status: 503, isGood: false },
];

describe('health check', () => {
  for (const { status, isGood } of statuses)
    it(`lab/C15: finds a program that answers with ${status} ${isGood ? 'healthy' : 'unhealthy'}`, async () => {
      const problem = await problemWith(createHttpServer(answering(status)), {});
      assert.equal(problem, isGood ? undefined : `answered with status ${status}`);
    });

  it('lab/C15: asks for the path, from the address it is told to', async () => {
    const seen: (string | undefined)[] = [];
    const server = createHttpServer((request, response) => {
      seen.push(request.url, request.headers.host, request.socket.remoteAddress);
      response.end();
    });
    assert.equal(await problemWith(server, { path: '/ready?full=1' }, { localAddress: '127.9.9.7' }), undefined);
    assert.deepEqual(seen, ['/ready?full=1', '10.9.9.1:80', '127.9.9.7']);
  });

  it('lab/C15: asks over TLS, whoever has signed the certificate', async () => {
    const validity = { now: new Date(), validityMs: 3_600_000 };
    const authority = await CertificateAuthority.create({ commonName: 'unknown', ...validity });
    const names = { commonName: 's', dnsNames: ['other.test'], ipAddresses: [] };
    const { certificatePem, keys } = await authority.issue({ kind: 'serving', ...names, ...validity });
    const credential = { cert: certificatePem, key: keys.privateKeyPem };
    const check = { protocol: 'https' } as const;
    assert.equal(await problemWith(createTlsServer(credential, answering(200)), check), undefined);
    assert.equal(
      await problemWith(createTlsServer(credential, answering(500)), check),
      'answered with status 500',
    );
    assert.match((await problemWith(createHttpServer(answering(200)), check)) ?? '', /SSL|TLS|wrong version/i);
  });

  it('lab/C15: needs only a connection over TCP', async () => {
    assert.equal(await problemWith(createServer(), { protocol: 'tcp' }), undefined);
  });

  it('lab/C15: finds nobody where nobody listens', async () => {
    const at = { host: HOST, port: 1 };
    assert.match((await problemWith(createServer(), { protocol: 'tcp' }, { at })) ?? '', /ECONNREFUSED/);
  });

  it('lab/C15: gives up on a program that does not answer in time, and hangs up', async () => {
    const real = new VirtualClock();
    const server = createServer();
    const taken = once(server, 'connection') as Promise<[Socket]>;
    await using backend = await Backend.listen(server, { host: HOST, port: 0 });
    const result = healthProblem(optionsFor(backend.port, { timeoutSeconds: 2 }, { real }));
    const [socket] = await taken;
    const ended = once(socket, 'end');
    await once(socket.resume(), 'data');
    await real.advance(2000);
    assert.equal(await result, 'no answer within 2 s');
    await ended;
  });

  it('lab/C15: does not take half an answer for one', async () => {
    const server = createServer((socket) => socket.end('HTTP/1.1 20'));
    assert.match((await problemWith(server, {})) ?? '', /./);
    const nonsense = createServer((socket) => socket.end('220 ready\r\n'));
    assert.match((await problemWith(nonsense, {})) ?? '', /Parse Error/);
  });

  it('lab/C17: says first who it is, before any question', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const server = createServer((socket) => {
      let text = '';
      socket.on('data', (bytes: Buffer) => {
        text += bytes.toString();
        if (!text.endsWith('\r\n\r\n')) return;
        resolve(text);
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
    });
    const header = Buffer.from('PROXY UNKNOWN\r\n');
    assert.equal(await problemWith(server, {}, { header }), undefined);
    assert.match(await promise, /^PROXY UNKNOWN\r\nGET \/healthz HTTP\/1\.1\r\n/);
  });

  it('lab/C15: ends when it is told to', async () => {
    const stop = new AbortController();
    const server = createServer(() => stop.abort(new Error('stopped')));
    assert.equal(await problemWith(server, {}, { signal: stop.signal }), 'stopped');
  });
});
