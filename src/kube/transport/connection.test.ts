import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import {
  bothServer,
  clientCertificate,
  connectTo,
  countdown,
  eventually,
  FakeCredentials,
  failureOf,
  http1Server,
  http2Server,
  plainServer,
  textOf,
} from '../../../test/support/transport-world.ts';
import { VirtualClock } from '../../base/clock.ts';
import { NetworkError } from '../client/api-error.ts';

const get = (target = '/api/v1/pods') => ({ method: 'GET', target });

/** Says what it received. */
const echo: RequestListener = (request, response) => {
  const chunks: Uint8Array[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers, httpVersion } = request;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method, url, headers, httpVersion, body: Buffer.concat(chunks).toString() }));
  });
};

describe('connect', () => {
  for (const [name, start, version] of [
    ['HTTP/2', bothServer, '2.0'],
    ['HTTP/1.1 over TLS', http1Server, '1.1'],
    ['plain HTTP/1.1', plainServer, '1.1'],
  ] as const) {
    it(`runtime/N1: speaks ${name}, and all parts of a request arrive`, async () => {
      await using server = await start(echo);
      const credentials = new FakeCredentials();
      credentials.token = 'letmein';
      await using connection = await connectTo(
        `${server.url}/clusters/c1`,
        { credentials },
        { userAgent: 'boat/1.0' },
      );
      const answer = await connection.transport({
        method: 'POST',
        target: '/api/v1/pods?dryRun=All',
        headers: { 'Content-Type': 'application/json', Authorization: 'of another' },
        body: '{"ä":1}',
      });
      const got = JSON.parse(await textOf(answer));
      assert.deepEqual(
        [answer.status, answer.headers['content-type'], got.httpVersion, got.method, got.url, got.body],
        [200, 'application/json', version, 'POST', '/clusters/c1/api/v1/pods?dryRun=All', '{"ä":1}'],
      );
      assert.equal(got.headers.authorization, 'Bearer letmein');
      assert.equal(got.headers['user-agent'], 'boat/1.0');
      assert.equal(got.headers['accept-encoding'], 'gzip');
      assert.equal(connection.host, `127.0.0.1:${server.port}`);
    });
  }

  it('runtime/N1: many requests share one HTTP/2 session, and sequential ones one HTTP/1.1 socket', async () => {
    for (const start of [bothServer, http1Server]) {
      await using server = await start(echo);
      await using connection = await connectTo(server.url);
      for (let at = 0; at < 5; at++) await textOf(await connection.transport(get()));
      assert.equal(server.accepted(), 1);
    }
  });

  it('runtime/N1: keeps at most 32 sockets for short requests over HTTP/1.1', async () => {
    await using server = await http1Server(
      (request, response) => void setImmediate(() => echo(request, response)),
    );
    await using connection = await connectTo(server.url);
    await Promise.all(Array.from({ length: 100 }, async () => textOf(await connection.transport(get()))));
    assert.equal(server.accepted(), 32);
  });

  it('runtime/N1: can be told never to speak HTTP/2', async () => {
    await using server = await bothServer(echo);
    await using connection = await connectTo(server.url, {}, { isHttp1Only: true });
    assert.equal(JSON.parse(await textOf(await connection.transport(get()))).httpVersion, '1.1');
  });

  it('runtime/N1: opens another session at 80 % of the streams that the server allows', async () => {
    let held = 0;
    const release = Promise.withResolvers<void>();
    await using server = await http2Server(
      (stream, headers) => {
        if (headers[':path'] === '/first') {
          stream.respond({ ':status': 200 });
          return void stream.end();
        }
        held++;
        void release.promise.then(() => {
          stream.respond({ ':status': 200 });
          stream.end('x');
        });
      },
      { settings: { maxConcurrentStreams: 10 } },
    );
    await using connection = await connectTo(server.url);
    const sent: Promise<string>[] = [];
    const send = () => void sent.push(connection.transport(get()).then(textOf));
    // An answer comes after the settings of the server.
    await textOf(await connection.transport(get('/first')));
    for (let at = 0; at < 8; at++) {
      send();
      await eventually(() => held === at + 1);
    }
    assert.equal(server.accepted(), 1, 'eight of ten are no reason');
    send();
    await eventually(() => server.accepted() === 2);
    send();
    await eventually(() => held === 10);
    release.resolve();
    assert.deepEqual(new Set(await Promise.all(sent)), new Set(['x']));
    assert.equal(server.accepted(), 2);
  });

  it('runtime/N6: asks for gzip and decodes it, as a whole and in chunks; not when told not to', async () => {
    const text = 'pods '.repeat(10_000);
    const handle: RequestListener = (request, response) => {
      const isWanted = request.headers['accept-encoding'] === 'gzip';
      if (isWanted) response.setHeader('content-encoding', 'gzip');
      response.end(isWanted ? gzipSync(text) : 'plain');
    };
    for (const start of [bothServer, http1Server]) {
      await using server = await start(handle);
      await using connection = await connectTo(server.url);
      assert.equal(await textOf(await connection.transport(get())), text);
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await connection.transport(get())).stream()) chunks.push(chunk);
      assert.equal(Buffer.concat(chunks).toString(), text);
      await using plain = await connectTo(server.url, { disableCompression: true });
      assert.equal(await textOf(await plain.transport(get())), 'plain');
    }
  });

  it('reliability/T2: a 401 throws cached credentials away and any request is sent once more', async () => {
    const seen: unknown[] = [];
    await using server = await http2Server((stream, headers) => {
      seen.push(headers['authorization']);
      stream.respond({ ':status': headers['authorization'] === 'Bearer new' ? 201 : 401 });
      stream.end('answer');
    });
    const credentials = new FakeCredentials();
    credentials.token = 'old';
    credentials.nextToken = 'new';
    await using connection = await connectTo(server.url, { credentials });
    const answer = await connection.transport({ method: 'POST', target: '/api/v1/pods', body: '{}' });
    assert.deepEqual([answer.status, await textOf(answer), credentials.refreshes], [201, 'answer', 1]);
    assert.deepEqual(seen, ['Bearer old', 'Bearer new']);
    credentials.token = 'bad';
    credentials.nextToken = 'worse';
    const refused = await connection.transport(get());
    assert.deepEqual([refused.status, seen.length], [401, 4], 'the second 401 is the answer');
    connection.refreshCredentials();
    assert.equal(credentials.refreshes, 3);
  });

  for (const [name, start] of [
    ['HTTP/2', bothServer],
    ['HTTP/1.1', http1Server],
  ] as const) {
    it(`runtime/N4: over ${name} the request after a 401 still has its deadline and its signal`, async () => {
      const clock = new VirtualClock();
      await using server = await start((request, response) => {
        if (request.headers.authorization === 'Bearer new') return entered.hit();
        response.statusCode = 401;
        response.end('no');
      });
      let entered = countdown();
      const credentials = new FakeCredentials();
      await using connection = await connectTo(server.url, { credentials }, { clock });
      const ended = async (request: object, end: (signal: AbortController) => unknown): Promise<string> => {
        Object.assign(credentials, { token: 'old', nextToken: 'new' });
        entered = countdown();
        const control = new AbortController();
        const failing = failureOf(connection.transport({ ...get(), ...request, signal: control.signal }));
        await entered.done;
        // The refused answer has been closed by now.
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => void setImmediate(resolve));
        await end(control);
        const late = new Promise<Error>((resolve) => {
          setTimeout(resolve, 500, new Error('never ended')).unref();
        });
        return (await Promise.race([failing, late])).message;
      };
      const isLate = /did not answer GET \/api\/v1\/pods within/;
      assert.match(await ended({}, () => clock.advance(30_000)), isLate);
      assert.match(await ended({ isStream: true }, () => clock.advance(30_000)), isLate);
      assert.equal(await ended({}, (control) => control.abort(new Error('enough'))), 'enough');
      assert.equal(await ended({ isStream: true }, (control) => control.abort(new Error('enough'))), 'enough');
    });
  }

  it('runtime/C4: a request fails with what its credentials say, and nothing is opened', async () => {
    await using server = await bothServer(echo);
    await using connection = await connectTo(server.url);
    connection.credentials.headers = () =>
      Promise.reject(new NetworkError('no token', { mayHaveHappened: false }));
    assert.equal((await failureOf(connection.transport(get()))).message, 'no token');
    assert.equal(server.accepted(), 0);
  });

  it('fails for good once it is disposed, and breaks off what is on its way', async () => {
    const entered = countdown(2);
    await using server = await bothServer(() => entered.hit());
    const connection = await connectTo(server.url);
    const waiting = [connection.transport(get()), connection.transport({ ...get(), isStream: true })].map(
      failureOf,
    );
    await entered.done;
    await connection[Symbol.asyncDispose]();
    for (const failure of await Promise.all(waiting)) assert.ok(failure instanceof NetworkError, failure.message);
    assert.match((await failureOf(connection.transport(get()))).message, /connection to .* is closed/);
    assert.equal(connection.credentials.listeners, 0);
    await eventually(() => server.sockets.size === 0);
  });

  it('breaks off what old sessions still carry, too', async () => {
    const clock = new VirtualClock();
    for (const start of [bothServer, http1Server]) {
      const entered = countdown();
      await using server = await start(() => entered.hit());
      const connection = await connectTo(server.url, {}, { clock });
      const slow = failureOf(connection.transport(get('/slow')));
      await entered.done;
      connection.credentials.changed();
      await connection[Symbol.asyncDispose]();
      await eventually(() => server.sockets.size === 0);
      assert.ok((await slow) instanceof NetworkError);
    }
  });

  it('runtime/C3: a new client certificate drains sessions and sockets and is used by the next request', async () => {
    const clock = new VirtualClock();
    const handle: RequestListener = (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      if (request.url === '/slow') return;
      if (request.url === '/watch') response.write('x');
      else response.end(subject.CN);
    };
    for (const start of [bothServer, http1Server]) {
      await using server = await start(handle);
      const credentials = new FakeCredentials();
      credentials.certificate = await clientCertificate('first');
      await using connection = await connectTo(server.url, { credentials }, { clock });
      assert.equal(await textOf(await connection.transport(get())), 'first');
      const slow = failureOf(connection.transport(get('/slow')));
      const watch = await connection.transport({ ...get('/watch'), isStream: true });
      const watched = failureOf(textOf(watch));
      credentials.certificate = await clientCertificate('second');
      credentials.changed();
      assert.equal(await textOf(await connection.transport(get())), 'second');
      await clock.advance(10_000);
      assert.ok((await slow) instanceof NetworkError);
      assert.ok((await watched) instanceof NetworkError);
    }
  });
});
