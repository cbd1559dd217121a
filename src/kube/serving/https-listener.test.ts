import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as plainRequest } from 'node:http';
import { Agent, request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { SystemClock, VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';
import { MemoryCertificate } from './certificate-source.ts';
import { Listener, type ListenerOptions, type Serve } from './https-listener.ts';

const clock = new SystemClock();
const validity = { now: new Date(), validityMs: 3_600_000 };
const bind = { host: '127.0.0.1', port: 0 };

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly tls?: { ca: string; cert?: string; key?: string };
  readonly agent?: Agent;
}

function send(port: number, { tls, path = '/', method = 'GET', body, headers = {}, agent }: Sent = {}) {
  const target = { host: '127.0.0.1', port, path, method, headers };
  return new Promise<{ status: number; text: string; connection: string }>((resolve, reject) => {
    const sent =
      tls === undefined
        ? plainRequest({ ...target, agent: false })
        : secureRequest({ ...target, ...tls, agent: agent ?? false });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          text: Buffer.concat(chunks).toString(),
          connection: answer.headers.connection ?? '',
        }),
      );
    });
    sent.end(body);
  });
}

describe('Listener', () => {
  let authority: CertificateAuthority;
  let certificates: MemoryCertificate;
  let ca: string;
  const lines: string[] = [];
  const log = createLog({ level: 'debug', write: (line) => lines.push(line), now: () => new Date(0) });
  const started: Listener[] = [];

  const serving = async () => {
    const issued = await authority.issue({
      kind: 'serving',
      commonName: 'localhost',
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1'],
      ...validity,
    });
    return { certificatePem: issued.certificatePem, keyPem: issued.keys.privateKeyPem };
  };
  before(async () => {
    authority = await CertificateAuthority.create({ commonName: 'test', ...validity });
    ca = authority.certificatePem;
    certificates = new MemoryCertificate(await serving());
  });
  after(() => Promise.all(started.map((listener) => listener.stop())));

  async function start(serve: Serve, options: Partial<ListenerOptions> = {}): Promise<Listener> {
    const listener = await Listener.start({ name: 'test', bind, clock, log, serve, ...options });
    started.push(listener);
    return listener;
  }
  const echo: Serve = async (request) => ({
    status: 200,
    body: `${request.method} ${request.path} ${request.query.get('a') ?? ''} ${Buffer.from(await request.body()).toString()}`,
  });

  it('gives method, path, query and body to the handler and its answer to the client', async () => {
    const { port } = await start(echo);
    const answer = await send(port, { method: 'POST', path: '/x/y?a=b%20c', body: 'hello' });
    assert.deepEqual([answer.status, answer.text], [200, 'POST /x/y b c hello']);
  });

  it('answers a handler that throws with 500 and logs why, without telling the client', async () => {
    const { port } = await start(() => Promise.reject(new Error('secret detail')));
    assert.deepEqual(await send(port).then(({ status, text }) => [status, text]), [
      500,
      'Internal Server Error\n',
    ]);
    assert.ok(lines.some((line) => line.includes('secret detail')));
  });

  for (const headers of [{ 'content-length': '9' }, { 'transfer-encoding': 'chunked' }]) {
    it(`runtime/W1: refuses a body beyond the limit (${Object.keys(headers).join()})`, async () => {
      const { port } = await start(echo, { bodyLimitBytes: 8 });
      const answer = await send(port, { method: 'POST', body: 'ninebytes', headers });
      assert.deepEqual([answer.status, answer.connection], [413, 'close']);
      assert.equal((await send(port, { method: 'POST', body: '8 bytes.' })).status, 200);
    });
  }

  it('runtime/W1: shows a new certificate to the next connection and keeps those that exist', async () => {
    const listener = await start(echo, { tls: { certificates } });
    const shown = async (socket: TLSSocket) => {
      if (!socket.authorized) await once(socket, 'secureConnect');
      return socket.getPeerX509Certificate()?.serialNumber;
    };
    const open = () => connectTls({ host: '127.0.0.1', port: listener.port, ca });
    const [old, agent] = [open(), new Agent({ keepAlive: true, maxSockets: 1 })];
    const before = await shown(old);
    assert.equal((await send(listener.port, { tls: { ca }, agent })).status, 200);
    certificates.set(await serving());
    const young = open();
    assert.notEqual(await shown(young), before);
    assert.equal((await send(listener.port, { tls: { ca }, agent })).status, 200, 'the connection still serves');
    for (const socket of [old, young]) socket.destroy();
    agent.destroy();
  });

  it('reliability/P61: refuses TLS older than 1.2', async () => {
    const { port } = await start(echo, { tls: { certificates } });
    const socket = connectTls({
      host: '127.0.0.1',
      port,
      ca,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    const [error] = await once(socket, 'error');
    assert.match(String(error), /protocol version|unsupported protocol/);
  });

  it('runtime/W1: with a client CA only lets in clients that it signed', async () => {
    const { port } = await start(echo, { tls: { certificates, clientCaPem: ca } });
    const issued = await authority.issue({ kind: 'client', commonName: 'api', organizations: [], ...validity });
    const cert = { cert: issued.certificatePem, key: issued.keys.privateKeyPem };
    assert.equal((await send(port, { tls: { ca, ...cert } })).status, 200);
    await assert.rejects(send(port, { tls: { ca } }), /certificate required|ECONNRESET|socket hang up/);
  });

  it('reliability/P13: lets the request in flight finish, takes no new one, then closes all', async () => {
    const virtual = new VirtualClock();
    const { promise, resolve } = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const listener = await start(
      async () => {
        arrived.resolve();
        await promise;
        return { status: 200, body: 'done' };
      },
      { clock: virtual, tls: { certificates } },
    );
    const { port } = listener;
    const silent = connect(port, '127.0.0.1');
    const answer = send(port, { tls: { ca } });
    await arrived.promise;
    const stopped = listener.stop();
    await assert.rejects(send(port, { tls: { ca } }), /ECONNREFUSED/);
    resolve();
    assert.equal((await answer).text, 'done');
    await stopped;
    if (!silent.closed) await once(silent, 'close');
    assert.equal(virtual.nextDueMs, undefined, 'no timer is left');
  });

  it('reliability/P13: ends a request that does not finish within the patience', async () => {
    const virtual = new VirtualClock();
    const arrived = Promise.withResolvers<AbortSignal>();
    const listener = await start(
      ({ signal }) => {
        arrived.resolve(signal);
        return new Promise(() => {});
      },
      { clock: virtual, stopPatienceMs: 3000 },
    );
    const answer = assert.rejects(send(listener.port), /hang up|ECONNRESET/);
    const signal = await arrived.promise;
    const stopped = listener.stop();
    await virtual.advance(2999);
    assert.equal(signal.aborted, false);
    await virtual.advance(1);
    await Promise.all([stopped, answer]);
    assert.equal(signal.aborted, true);
  });

  it('says which server cannot listen where', async () => {
    const { port } = await start(echo);
    await assert.rejects(start(echo, { bind: { host: '127.0.0.1', port } }), {
      reason: 'CannotListen',
      message: new RegExp(
        `the test server cannot listen on 127.0.0.1:${port}: .*EADDRINUSE.*; choose another address$`,
      ),
    });
    await assert.rejects(start(echo, { bind: { host: '127.0.0.1', port }, setting: '--test-address' }), {
      message: /; choose another address with --test-address$/,
    });
  });
});
