import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { gunzipSync, gzipSync } from 'node:zlib';
import { recordedLog } from '../../../test/support/store.ts';
import { SystemClock, VirtualClock } from '../../base/clock.ts';
import { CertificateAuthority, type Credential } from '../../pki/certificate-authority.ts';
import type { ApiRequest, ApiResponse, Handle, StreamSink } from '../request.ts';
import { StatusError } from '../status.ts';
import { LISTENER_LIMITS, Listener, type ListenerOptions } from './listener.ts';

const LIMIT = 3_145_728;
const validity = { now: new Date(), validityMs: 3_600_000 };
const clock = new SystemClock();

let authority: CertificateAuthority;
let serving: Credential;
let jane: Credential;
const { log, lines } = recordedLog();

before(async () => {
  authority = await CertificateAuthority.create({ commonName: 'ca', ...validity });
  const other = await CertificateAuthority.create({ commonName: 'other', ...validity });
  const groups = { kind: 'client', commonName: 'jane', ...validity } as const;
  [serving, jane, stranger] = await Promise.all([
    authority.issue({
      kind: 'serving',
      commonName: 's',
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1'],
      ...validity,
    }),
    authority.issue({ ...groups, organizations: ['dev', 'ops'] }),
    other.issue({ ...groups, organizations: ['system:masters'] }),
  ]);
});
let stranger: Credential;

const start = (handle: Handle, more: Partial<ListenerOptions> = {}): Promise<Listener> =>
  Listener.start({
    host: '127.0.0.1',
    port: 0,
    certificatePem: serving.certificatePem,
    keyPem: serving.keys.privateKeyPem,
    authorityPem: authority.certificatePem,
    handle,
    clock,
    log,
    ...more,
  });

const text = (status: number, body: string): ApiResponse => ({ status, headers: {}, body: [Buffer.from(body)] });

interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly credential?: Credential;
}

/** One request over HTTP/1.1 on a connection of its own. */
async function call(port: number, { method = 'GET', path = '/', headers = {}, body, credential }: Call = {}) {
  const agent = new Agent({
    ca: authority.certificatePem,
    ...(credential && { cert: credential.certificatePem, key: credential.keys.privateKeyPem }),
  });
  const sent = httpsRequest({ host: '127.0.0.1', port, method, path, headers, agent });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const bytes = await buffer(response);
  agent.destroy();
  return { status: response.statusCode, headers: response.headers, bytes, text: bytes.toString('utf8') };
}

/** One request over HTTP/2. */
async function call2(session: ClientHttp2Session, headers: Readonly<Record<string, string>>, body = '') {
  const stream = session.request(headers, { endStream: body === '' });
  if (body !== '') stream.end(body);
  const [got] = await once(stream, 'response');
  return { status: got[':status'], headers: got, text: (await buffer(stream)).toString('utf8') };
}

const session = (port: number, credential?: Credential): ClientHttp2Session =>
  connectHttp2(`https://127.0.0.1:${port}`, {
    ca: authority.certificatePem,
    ...(credential && { cert: credential.certificatePem, key: credential.keys.privateKeyPem }),
  });

/** Tells what arrived. */
const echo: Handle = async (request) => {
  const body = Buffer.from(await request.body());
  const { method, path, query, headers, credentials, isInProcess } = request;
  const seen = { method, path, query: String(query), agent: headers['user-agent'], credentials, isInProcess };
  return {
    status: 200,
    headers: { 'content-type': 'application/json', warning: ['299 - "a"', '299 - "b"'] },
    body: [Buffer.from(JSON.stringify({ ...seen, size: body.length, twice: (await request.body()).length }))],
  };
};

describe('Listener', () => {
  let listener: Listener;
  before(async () => {
    listener = await start(async (request) => {
      try {
        return await echo(request);
      } catch (error) {
        if (error instanceof StatusError) return text(error.code, error.message);
        throw error;
      }
    });
  });
  after(() => listener.stop());

  it('apiserver/H1: speaks HTTP/1.1 and HTTP/2 on one port', async () => {
    const first = JSON.parse(
      (await call(listener.port, { path: '/a%20b?x=1&x=2', method: 'PUT', body: 'abc' })).text,
    );
    const { method, path, query, size, twice, isInProcess, credentials } = first;
    assert.deepEqual([method, path, query, size, twice], ['PUT', '/a%20b', 'x=1&x=2', 3, 3]);
    assert.deepEqual([isInProcess, credentials], [false, {}]);
    const two = session(listener.port);
    const head = { ':method': 'POST', ':path': '/q?y=z', 'user-agent': 'two' };
    const second = await call2(two, head, 'body');
    assert.equal(second.status, 200);
    assert.partialDeepStrictEqual(JSON.parse(second.text), {
      method: 'POST',
      query: 'y=z',
      agent: 'two',
      size: 4,
    });
    two.close();
  });

  it('apiserver/H10: sends each warning in a header of its own', async () => {
    const { headers } = await call(listener.port);
    assert.equal(headers['warning'], '299 - "a", 299 - "b"');
  });

  it('apiserver/Z1: reads user and groups off a certificate of its authority, on every request', async () => {
    const { credentials } = JSON.parse((await call(listener.port, { credential: jane })).text);
    const expected = { commonName: 'jane', organizations: ['dev', 'ops'] };
    assert.partialDeepStrictEqual(credentials, { certificate: expected });
    assert.match(credentials.certificate.fingerprint, /^[\da-f]{64}$/);
    const two = session(listener.port, jane);
    for (const path of ['/1', '/2']) {
      const { text: seen } = await call2(two, { ':path': path });
      assert.deepEqual(JSON.parse(seen).credentials, credentials);
    }
    two.close();
  });

  it('apiserver/Z1: believes no certificate of another authority', async () => {
    assert.deepEqual(JSON.parse((await call(listener.port, { credential: stranger })).text).credentials, {});
  });

  it('apiserver/H3: takes a body up to the limit and refuses one beyond', async () => {
    const largest = await call(listener.port, { method: 'POST', body: Buffer.alloc(LIMIT) });
    assert.equal(JSON.parse(largest.text).size, LIMIT);
    const message = 'Request entity too large: limit is 3145728';
    const declared = await call(listener.port, { method: 'POST', body: Buffer.alloc(LIMIT + 1) });
    assert.deepEqual([declared.status, declared.text], [413, message]);
    const headers = { 'transfer-encoding': 'chunked' };
    const streamed = await call(listener.port, { method: 'POST', headers, body: Buffer.alloc(LIMIT + 1) });
    assert.deepEqual([streamed.status, streamed.text], [413, message]);
  });

  it('apiserver/H3: reads gzip, and limits what comes out of it', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const send = (body: Uint8Array) => call(listener.port, { method: 'POST', headers, body });
    assert.equal(JSON.parse((await send(gzipSync('hello'))).text).size, 5);
    const bomb = await send(gzipSync(Buffer.alloc(LIMIT + 1)));
    assert.deepEqual([bomb.status, bomb.text], [413, 'Request entity too large: limit is 3145728']);
    const broken = await send(Buffer.from('no gzip'));
    assert.deepEqual([broken.status, broken.text], [400, 'the request body is not valid gzip']);
  });

  it('survives what is no HTTP at all', async () => {
    const socket = connectTls({ host: '127.0.0.1', port: listener.port, ca: authority.certificatePem });
    await once(socket, 'secureConnect');
    socket.end('\0\0\0nonsense\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    assert.equal((await call(listener.port)).status, 200);
  });

  it('gives a client ten seconds for its headers and thirty for a request', () => {
    const { headersMs, requestMs, connections } = LISTENER_LIMITS;
    assert.deepEqual([headersMs, requestMs, connections], [10_000, 30_000, 2000]);
  });
});

describe('a client that is too slow', () => {
  const limits = { ...LISTENER_LIMITS, headersMs: 5, requestMs: 10, checkMs: 5 };
  for (const [what, sent] of [
    ['its headers', 'GET / HTTP/1.1\r\nhost: x\r\n'],
    ['its body', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc'],
  ] as const) {
    it(`is told 408 when it keeps back ${what}`, async () => {
      const listener = await start(echo, { limits });
      const socket = connectTls({ host: '127.0.0.1', port: listener.port, ca: authority.certificatePem });
      socket.write(sent);
      assert.match((await buffer(socket)).toString('utf8'), /^HTTP\/1\.1 408 /);
      await listener.stop();
    });
  }

  it('is not even let in when there are too many', async () => {
    const listener = await start(echo, { limits: { ...LISTENER_LIMITS, connections: 0 } });
    await assert.rejects(call(listener.port));
    await listener.stop();
  });
});

describe('answers on the wire', () => {
  const bodyOf = (size: number) => Array.from({ length: Math.ceil(size / 1000) }, () => Buffer.alloc(1000, 'x'));
  const serveSize = (size: number) =>
    start(() => Promise.resolve({ status: 200, headers: {}, body: bodyOf(size) }));

  it('apiserver/H7: are compressed when they are large and the client can', async () => {
    const listener = await serveSize(140_000);
    const gzip = { 'accept-encoding': 'deflate, gzip;q=0.5' };
    const packed = await call(listener.port, { headers: gzip });
    assert.deepEqual([packed.headers['content-encoding'], packed.headers['vary']], ['gzip', 'Accept-Encoding']);
    assert.equal(gunzipSync(packed.bytes).length, 140_000);
    const plain = await call(listener.port);
    assert.deepEqual([plain.headers['content-encoding'], plain.bytes.length], [undefined, 140_000]);
    await listener.stop();
    const small = await serveSize(130_000);
    assert.equal((await call(small.port, { headers: gzip })).headers['content-encoding'], undefined);
    await small.stop();
  });

  it('apiserver/H7: still say what else they vary with when they are compressed', async () => {
    const body = bodyOf(140_000);
    for (const vary of ['Accept', 'Accept-Encoding, Accept']) {
      const listener = await start(() => Promise.resolve({ status: 200, headers: { vary }, body }));
      const { headers } = await call(listener.port, { headers: { 'accept-encoding': 'gzip' } });
      assert.deepEqual([headers['content-encoding'], headers['vary']], ['gzip', 'Accept-Encoding, Accept']);
      await listener.stop();
    }
  });

  it('leave in pieces when they are very large', async () => {
    const listener = await serveSize(5_000_000);
    const { headers, bytes } = await call(listener.port);
    assert.deepEqual([headers['content-length'], bytes.length], ['5000000', 5_000_000]);
    await listener.stop();
  });

  it('have no body for HEAD, but its length', async () => {
    const listener = await serveSize(1000);
    const { headers, bytes } = await call(listener.port, { method: 'HEAD' });
    assert.deepEqual([headers['content-length'], bytes.length], ['1000', 0]);
    await listener.stop();
  });

  it('end with the connection when serving fails outside the handler', async () => {
    const listener = await start(() => Promise.reject(new Error('boom')));
    await assert.rejects(call(listener.port), { code: 'ECONNRESET' });
    assert.ok(
      lines.some(({ level, message }) => level === 'error' && message === 'Request failed outside the handler'),
    );
    await listener.stop();
  });
});

/** A watch that writes what the test tells it. */
function watchable() {
  const opened = Promise.withResolvers<StreamSink>();
  let disposals = 0;
  const handle: Handle = () =>
    Promise.resolve({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: (sink) => {
        opened.resolve(sink);
        return { [Symbol.dispose]: () => void disposals++ };
      },
    });
  return { handle, sink: opened.promise, disposals: () => disposals };
}

describe('a stream', () => {
  it('arrives as it is written, ends cleanly, and is then disposed', async () => {
    const { handle, sink, disposals } = watchable();
    const listener = await start(handle);
    const answer = call(listener.port);
    const writing = await sink;
    writing.write(Buffer.from('a\n'));
    assert.equal(typeof writing.queuedBytes, 'number');
    writing.write(Buffer.from('b\n'));
    writing.end();
    assert.equal((await answer).text, 'a\nb\n');
    await listener.stop();
    assert.equal(disposals(), 1);
  });

  it('tells when what was queued is taken', async () => {
    const { handle, sink } = watchable();
    const listener = await start(handle);
    const answer = call(listener.port);
    const writing = await sink;
    writing.write(Buffer.alloc(2_000_000));
    await writing.drained();
    writing.end();
    assert.equal((await answer).bytes.length, 2_000_000);
    await listener.stop();
  });

  it('breaks visibly when it is destroyed, in both protocols', async () => {
    const one = watchable();
    const first = await start(one.handle);
    const broken = assert.rejects(call(first.port));
    (await one.sink).destroy();
    await broken;
    await first.stop();
    const two = watchable();
    const second = await start(two.handle);
    const client = session(second.port);
    const stream = client.request({ ':path': '/' });
    stream.on('error', () => undefined);
    (await two.sink).destroy();
    await once(stream, 'close');
    assert.equal(stream.rstCode, 8);
    client.close();
    await second.stop();
  });

  it('is disposed when the client goes away', async () => {
    const { handle, sink, disposals } = watchable();
    const aborted = Promise.withResolvers<void>();
    const listener = await start((request: ApiRequest) => {
      request.signal.addEventListener('abort', () => aborted.resolve());
      return handle(request);
    });
    const agent = new Agent({ ca: authority.certificatePem });
    const sent = httpsRequest({ host: '127.0.0.1', port: listener.port, agent });
    sent.on('error', () => undefined);
    sent.end();
    await sink;
    sent.destroy();
    await aborted.promise;
    await listener.stop();
    assert.equal(disposals(), 1);
    agent.destroy();
  });
});

describe('stopping', () => {
  for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
    it(`apiserver/H11: lets a request over ${protocol} finish, and takes no new connection`, async () => {
      const entered = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const listener = await start(async () => {
        entered.resolve();
        await release.promise;
        return text(200, 'done');
      });
      const { port } = listener;
      const client = protocol === 'HTTP/2' ? session(port) : undefined;
      const answer = client === undefined ? call(port) : call2(client, { ':path': '/' });
      await entered.promise;
      const stopped = listener.stop();
      await assert.rejects(call(port), { code: 'ECONNREFUSED' });
      release.resolve();
      assert.equal((await answer).text, 'done');
      await stopped;
      client?.destroy();
    });
  }

  it('reliability/P13: waits ten seconds for a request that does not end, not longer', async () => {
    const virtual = new VirtualClock();
    const entered = Promise.withResolvers<void>();
    const never: Handle = () => {
      entered.resolve();
      return Promise.withResolvers<ApiResponse>().promise;
    };
    const listener = await start(never, { clock: virtual });
    const broken = assert.rejects(call(listener.port));
    await entered.promise;
    const stopped = listener.stop();
    assert.equal(virtual.nextDueMs, 10_000);
    await virtual.advance(10_000);
    await broken;
    await stopped;
    assert.equal(virtual.nextDueMs, undefined);
  });

  it('refuses a port that is taken', async () => {
    const listener = await start(echo);
    await assert.rejects(start(echo, { port: listener.port }), { code: 'EADDRINUSE' });
    await listener.stop();
  });
});
