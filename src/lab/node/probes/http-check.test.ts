import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { HTTPGetAction } from '../../../api/generated/core-v1-types.ts';
import { type Clock, SystemClock, VirtualClock } from '../../../base/clock.ts';
import { CertificateAuthority } from '../../../pki/certificate-authority.ts';
import { httpCheck } from './http-check.ts';
import { httpRequest } from './probe-request.ts';
import type { ProbeOutcome } from './probe-track.ts';

const POD_WIRE = '127.77.32.5';
const NODE_WIRE = '127.77.1.1';
/** Never reached, so that a test fails by what it asserts. */
const PATIENT_MS = 20_000;

interface Served extends AsyncDisposable {
  readonly port: number;
  readonly requests: IncomingMessage[];
}

async function serving(server: Server, requests: IncomingMessage[] = []): Promise<Served> {
  server.on('request', (request) => requests.push(request));
  server.listen(0, POD_WIRE);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const answering = (listener: RequestListener): Promise<Served> => serving(createServer(listener));

/** Resolves when this process has the head of an answer from a port, and whoever waits for it has had a turn. */
async function headReceived(port: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen = (message: unknown) => {
    const { response } = message as { readonly response: IncomingMessage };
    if (response.socket.remotePort === port) resolve();
  };
  subscribe('http.client.response.finish', seen);
  await promise;
  unsubscribe('http.client.response.finish', seen);
  await new Promise((done) => setImmediate(done));
}

interface Asked extends Partial<HTTPGetAction> {
  readonly real?: Clock;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The pod is known as 10.77.32.5, and is dialled as 127.77.32.5 from the address of the node. */
function check(
  port: number,
  { real, timeoutMs = PATIENT_MS, signal, ...action }: Asked = {},
): Promise<ProbeOutcome> {
  const request = httpRequest(
    { port, ...action },
    { name: 'c' },
    { host: '10.77.32.5', userAgent: 'kube-probe/1.36' },
  );
  return httpCheck(request, {
    real: real ?? new SystemClock(),
    timeoutMs,
    signal: signal ?? new AbortController().signal,
    dial: (to) => ({ host: to.host.replace(/^10\./, '127.'), port: to.port, localAddress: NODE_WIRE }),
  });
}

describe('httpCheck', () => {
  const codes: readonly (readonly [number, ProbeOutcome['result'], string])[] = [
    [200, 'success', 'hello'],
    [204, 'success', ''],
    [299, 'success', 'hello'],
    [300, 'warning', 'Probe terminated redirects, Response body: hello'],
    [304, 'warning', 'Probe terminated redirects, Response body: '],
    [302, 'warning', 'Probe terminated redirects, Response body: hello'],
    [399, 'warning', 'Probe terminated redirects, Response body: hello'],
    [400, 'failure', 'HTTP probe failed with statuscode: 400'],
    [404, 'failure', 'HTTP probe failed with statuscode: 404'],
    [503, 'failure', 'HTTP probe failed with statuscode: 503'],
  ];
  for (const [code, result, message] of codes) {
    it(`lab/N21: takes ${code} for a ${result}`, async () => {
      await using server = await answering((_request, answer) => answer.writeHead(code).end('hello'));
      assert.deepEqual(await check(server.port), { result, message });
    });
  }

  it('lab/N21: asks by GET from the address of the node, says who it is and closes the connection', async () => {
    const peers: (string | undefined)[] = [];
    await using server = await answering(({ socket }, answer) => {
      peers.push(socket.remoteAddress);
      answer.end();
    });
    await check(server.port, { path: '/healthz?verbose' });
    const [request] = server.requests;
    assert.deepEqual([request?.method, request?.url], ['GET', '/healthz?verbose']);
    assert.deepEqual(peers, [NODE_WIRE]);
    assert.deepEqual(request?.headers, {
      'user-agent': 'kube-probe/1.36',
      accept: '*/*',
      host: `10.77.32.5:${server.port}`,
      connection: 'close',
    });
  });

  it('lab/N21: sends the headers of the manifest, each as often as it is given', async () => {
    await using server = await answering((_request, answer) => answer.end());
    const httpHeaders = [
      { name: 'Host', value: 'shop.example' },
      { name: 'X-A', value: '1' },
      { name: 'x-a', value: '2' },
      { name: '__proto__', value: 'kept' },
      { name: 'Connection', value: 'keep-alive' },
    ];
    await check(server.port, { httpHeaders });
    const [request] = server.requests;
    assert.deepEqual(request?.headersDistinct['x-a'], ['1', '2']);
    assert.deepEqual(request?.headersDistinct['host'], ['shop.example']);
    assert.deepEqual(request?.headersDistinct['connection'], ['close']);
    assert.ok(request?.rawHeaders.includes('__proto__'));
  });

  it('lab/N21: asks over TLS whoever answers, without a look at the certificate', async () => {
    const now = new Date('2001-01-01T00:00:00Z');
    const authority = await CertificateAuthority.create({ commonName: 'ca', now, validityMs: 1000 });
    const { certificatePem, keys } = await authority.issue({
      kind: 'serving',
      commonName: 'expired',
      dnsNames: ['elsewhere'],
      ipAddresses: [],
      now,
      validityMs: 1000,
    });
    const tls = { cert: certificatePem, key: keys.privateKeyPem };
    await using server = await serving(createTlsServer(tls, (_request, answer) => answer.end('secure')));
    assert.deepEqual(await check(server.port, { scheme: 'HTTPS' }), { result: 'success', message: 'secure' });
  });

  it('lab/N21: follows redirects on the same host', async () => {
    await using server = await answering((request, answer) => {
      if (request.url === '/') answer.writeHead(302, { location: '/a' }).end();
      else if (request.url === '/a') answer.writeHead(308, { location: `http://${request.headers.host}/b` }).end();
      else answer.writeHead(503).end();
    });
    const { result, message } = await check(server.port);
    assert.deepEqual([result, message], ['failure', 'HTTP probe failed with statuscode: 503']);
    assert.deepEqual(
      server.requests.map(({ url }) => url),
      ['/', '/a', '/b'],
    );
  });

  it('lab/N21: takes a redirect to another host for a success, with a warning, and does not go there', async () => {
    await using other = await answering((_request, answer) => answer.writeHead(500).end());
    const location = `http://127.77.32.6:${other.port}/`;
    await using server = await answering((_request, answer) => answer.writeHead(301, { location }).end('moved'));
    const outcome = await check(server.port);
    assert.deepEqual(outcome, { result: 'warning', message: 'Probe terminated redirects, Response body: moved' });
    assert.equal(other.requests.length, 0);
  });

  it('lab/N21: gives up after ten requests that lead to another', async () => {
    await using server = await answering((request, answer) =>
      answer.writeHead(302, { location: `${request.url}x` }).end(),
    );
    const { result, message } = await check(server.port);
    assert.equal(result, 'failure');
    assert.match(message, /^Get "http:\/\/10\.77\.32\.5:\d+\/x{10}": stopped after 10 redirects$/);
    assert.equal(server.requests.length, 10);
  });

  it('lab/N21: reads no more than 10 KiB of an answer that never ends', async () => {
    await using server = await answering((_request, answer) => {
      const more = () => void (answer.destroyed || answer.write(Buffer.alloc(4096, 'x'), more));
      more();
    });
    const { result, message } = await check(server.port);
    assert.deepEqual([result, message.length], ['success', 10_240]);
  });

  it('lab/N21: says in known words that nobody listens', async () => {
    const closed = await answering(() => {});
    await closed[Symbol.asyncDispose]();
    const at = `10.77.32.5:${closed.port}`;
    assert.deepEqual(await check(closed.port, { path: '/x' }), {
      result: 'failure',
      message: `Get "http://${at}/x": dial tcp ${at}: connect: connection refused`,
    });
  });

  it('lab/N23, T6: fails when there is no answer within the real time that it has', async () => {
    await using server = await answering(() => {});
    const { result, message } = await check(server.port, { timeoutMs: 30 });
    assert.equal(result, 'failure');
    assert.match(message, /: context deadline exceeded \(Client\.Timeout exceeded while awaiting headers\)$/);
  });

  it('lab/N22: a body that does not come is an error of the probe, not a failure', async () => {
    await using server = await answering((_request, answer) => answer.writeHead(200).write('half'));
    const real = new VirtualClock();
    const head = headReceived(server.port);
    const checking = assert.rejects(check(server.port, { real, timeoutMs: 1000 }), /was not read within 1000 ms/);
    await head;
    await real.advance(1000);
    await checking;
  });

  it('lab/N22: so is a body that breaks off', async () => {
    await using server = await answering((request, answer) => {
      answer.writeHead(200, { 'content-length': '100' }).write('half', () => request.socket.destroy());
    });
    await assert.rejects(check(server.port), { code: 'ECONNRESET' });
  });

  it('fails when the answer is no HTTP', async () => {
    await using server = await answering((request) => request.socket.end('what?\r\n\r\n'));
    const { result, message } = await check(server.port);
    assert.equal(result, 'failure');
    assert.match(message, /Parse Error/);
  });

  it('ends at once when nobody wants to know any more', async () => {
    const stop = new AbortController();
    await using server = await answering(() => stop.abort(new Error('stopped')));
    await assert.rejects(check(server.port, { signal: stop.signal }), /stopped/);
  });
});
