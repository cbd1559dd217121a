import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  bothServer,
  connectTo,
  countdown,
  eventually,
  failureOf,
  http1Server,
  http2Server,
  plainServer,
  relay,
  textOf,
} from '../../../test/support/transport-world.ts';
import { VirtualClock } from '../../base/clock.ts';
import { NetworkError } from '../client/api-error.ts';
import type { TransportResponse } from './transport.ts';

const get = { method: 'GET', target: '/api/v1/pods?fieldSelector=x%3Dsecret' };
const watch = { method: 'GET', target: '/api/v1/pods?watch=true', isStream: true };

async function networkFailureOf(work: Promise<unknown>): Promise<NetworkError> {
  const failure = await failureOf(work);
  assert.ok(failure instanceof NetworkError, `${failure.name}: ${failure.message}`);
  return failure;
}

async function drained(answer: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.stream()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** One chunk, then nothing more. */
const stalling: RequestListener = (_request, response) => {
  response.writeHead(200);
  response.write('x');
};

describe('answers that are read late', () => {
  for (const start of [bothServer, http1Server]) {
    for (const isGzip of [false, true]) {
      it(`runtime/N4: are whole, as bytes and as a stream, on ${start.name}${isGzip ? ', zipped' : ''}`, async () => {
        const text = 'x'.repeat(20_000);
        await using server = await start((_request, response) => {
          response.writeHead(200, isGzip ? { 'content-encoding': 'gzip' } : {});
          response.end(isGzip ? gzipSync(text) : text);
        });
        await using connection = await connectTo(server.url);
        const [whole, streamed] = await Promise.all([connection.transport(get), connection.transport(get)]);
        // Long enough for everything to have come.
        await sleep(100);
        assert.equal(Buffer.from(await whole.bytes()).toString(), text);
        assert.equal(await drained(streamed), text);
      });
    }
  }
});

describe('deadlines and signals', () => {
  for (const start of [bothServer, http1Server]) {
    const on = `on ${start.name}`;

    it(`runtime/N4: a request without an answer fails after 30 s ${on}`, async () => {
      const clock = new VirtualClock();
      const entered = countdown();
      await using server = await start(() => entered.hit());
      await using connection = await connectTo(server.url, {}, { clock });
      const failed = networkFailureOf(connection.transport(get));
      await entered.done;
      await clock.advance(29_999);
      await clock.advance(1);
      const { message, mayHaveHappened } = await failed;
      assert.equal(message, `127.0.0.1:${server.port} did not answer GET /api/v1/pods within 30.0 s`);
      assert.ok(mayHaveHappened);
      assert.equal(clock.nextDueMs, undefined, 'no timer is left');
    });

    it(`runtime/N4: a body that stalls after one byte fails at the deadline of the request ${on}`, async () => {
      const clock = new VirtualClock();
      await using server = await start(stalling);
      await using connection = await connectTo(server.url, {}, { clock });
      const answers = await Promise.all([1, 2, 3].map(() => connection.transport({ ...get, timeoutMs: 700 })));
      const failures = [answers[0]?.bytes(), answers[1] && drained(answers[1])].map((work) =>
        networkFailureOf(Promise.resolve(work)),
      );
      await clock.advance(700);
      for (const { message } of await Promise.all(failures)) assert.match(message, /within 0.7 s/);
      assert.equal(clock.nextDueMs, undefined, 'also of the answer that nobody reads');
    });

    it(`runtime/N4: the signal ends a request at once, whatever it waits for ${on}`, async () => {
      const entered = countdown();
      await using server = await start((request, response) => {
        if (request.url === '/body') stalling(request, response);
        else entered.hit();
      });
      await using connection = await connectTo(server.url);
      const control = new AbortController();
      const { signal } = control;
      const reason = new Error('enough');
      const body = await connection.transport({ ...get, target: '/body', signal });
      const streamed = await connection.transport({ ...get, target: '/body', signal });
      const failures = [connection.transport({ ...get, signal }), body.bytes(), drained(streamed)].map(failureOf);
      await entered.done;
      control.abort(reason);
      for (const failure of await Promise.all(failures)) assert.equal(failure, reason);
      assert.equal(await failureOf(connection.transport({ ...get, signal })), reason, 'aborted before it began');
    });
  }

  it('runtime/N4: the signal ends the waiting for a connection, and nothing leaks', async () => {
    await using server = await http2Server(() => {});
    await using between = await relay(server.port);
    between.freeze();
    await using connection = await connectTo(between.url, {}, { clock: new VirtualClock() });
    for (const request of [get, watch]) {
      const control = new AbortController();
      const failed = failureOf(connection.transport({ ...request, signal: control.signal }));
      await eventually(() => between.sockets.size > 0);
      control.abort(new Error('enough'));
      assert.equal((await failed).message, 'enough');
    }
  });

  it('reliability/T2: a connection that does not come fails after 15 s, and nothing happened', async () => {
    const clock = new VirtualClock();
    await using server = await http2Server(() => {});
    await using between = await relay(server.port);
    between.freeze();
    await using connection = await connectTo(between.url, {}, { clock });
    const failures = [get, watch].map((request) => networkFailureOf(connection.transport(request)));
    await eventually(() => between.sockets.size === 2);
    await clock.advance(15_000);
    for (const { message, mayHaveHappened } of await Promise.all(failures)) {
      assert.match(message, /no connection to .* within 15.0 s/);
      assert.equal(mayHaveHappened, false);
    }
    await eventually(() => between.sockets.size === 0);
  });
});

describe('bodies', () => {
  for (const start of [bothServer, http1Server]) {
    it(`reliability/T2: broken gzip is a NetworkError on ${start.name}`, async () => {
      const whole = gzipSync('pods '.repeat(1000));
      for (const bytes of [whole.subarray(0, whole.length - 10), Buffer.from('no gzip at all')]) {
        await using server = await start((_request, response) => {
          response.setHeader('content-encoding', 'gzip');
          response.end(bytes);
        });
        await using connection = await connectTo(server.url);
        for (const read of [textOf, drained]) {
          const failure = await networkFailureOf(connection.transport(get).then(read));
          assert.match(failure.message, /gzip data of the answer is broken/);
        }
      }
    });

    it(`a gzip answer that breaks off is a NetworkError on ${start.name}`, async () => {
      await using server = await start((_request, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.write(gzipSync('pods '.repeat(1000)).subarray(0, 20), () => response.destroy());
      });
      await using connection = await connectTo(server.url);
      for (const read of [textOf, drained]) await networkFailureOf(connection.transport(get).then(read));
    });

    it(`leaving the loop over an answer frees what carried it on ${start.name}`, async () => {
      const closed = countdown();
      await using server = await start((request, response) => {
        response.on('close', () => closed.hit());
        stalling(request, response);
      });
      await using connection = await connectTo(server.url);
      for await (const chunk of (await connection.transport(get)).stream()) {
        assert.equal(Buffer.from(chunk).toString(), 'x');
        break;
      }
      await closed.done;
    });
  }

  it('reliability/T2: FIN and RST inside a chunk are NetworkErrors', async () => {
    for (const [start, end] of [
      [http1Server, 'end'],
      [http1Server, 'destroy'],
      [plainServer, 'resetAndDestroy'],
    ] as const) {
      await using server = await start((_request, response) => {
        response.writeHead(200, { 'transfer-encoding': 'chunked' });
        response.write('half', () => void response.socket?.[end]());
      });
      await using connection = await connectTo(server.url);
      for (const request of [get, watch]) {
        for (const read of [textOf, drained]) {
          const failure = await networkFailureOf(connection.transport(request).then(read));
          assert.match(failure.message, /was reset|broke off/);
        }
      }
    }
  });
});

describe('streams', () => {
  it('runtime/N1: each has a socket of its own over HTTP/1.1, beside an HTTP/2 session for requests', async () => {
    const versions: string[] = [];
    await using server = await bothServer((request, response) => {
      versions.push(request.httpVersion);
      assert.equal(request.headers['accept-encoding'] === 'gzip', request.httpVersion === '2.0');
      if (request.httpVersion === '2.0') response.end('pods');
      else stalling(request, response);
    });
    await using connection = await connectTo(server.url);
    await textOf(await connection.transport(get));
    const control = new AbortController();
    const streams = await Promise.all(
      [1, 2, 3].map(() => connection.transport({ ...watch, signal: control.signal })),
    );
    await textOf(await connection.transport(get));
    assert.deepEqual([versions.sort(), server.accepted()], [['1.1', '1.1', '1.1', '2.0', '2.0'], 4]);
    for await (const _chunk of streams[0]?.stream() ?? []) break;
    await eventually(() => server.sockets.size === 3);
    const ended = failureOf(drained(streams[1] as TransportResponse));
    control.abort(new Error('enough'));
    assert.equal((await ended).message, 'enough');
    await eventually(() => server.sockets.size === 1);
  });

  it('runtime/N4: has no deadline once its headers are there, and one until then', async () => {
    const clock = new VirtualClock();
    const entered = countdown();
    const held = Promise.withResolvers<void>();
    await using server = await http1Server((request, response) => {
      if (request.url === '/never') return entered.hit();
      stalling(request, response);
      void held.promise.then(() => response.end('y'));
    });
    await using connection = await connectTo(server.url, {}, { clock });
    const answer = await connection.transport(watch);
    const read = drained(answer);
    const never = networkFailureOf(connection.transport({ ...watch, target: '/never' }));
    await entered.done;
    await clock.advance(3_600_000);
    held.resolve();
    assert.equal(await read, 'xy');
    assert.match((await never).message, /did not answer GET \/never within 30.0 s/);
  });

  it('reliability/P22: a stream without a byte for the given time is destroyed', async () => {
    const clock = new VirtualClock();
    const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    await using server = await http1Server((_request, response) => {
      for (const { promise } of next) void promise.then(() => response.write('x'));
      response.flushHeaders();
    });
    await using connection = await connectTo(server.url, {}, { clock });
    const answer = await connection.transport({ ...watch, silenceMs: 90_000 });
    const chunks = answer.stream()[Symbol.asyncIterator]();
    for (const { resolve } of next) {
      const chunk = chunks.next();
      await clock.advance(89_999);
      resolve();
      assert.equal((await chunk).done, false);
    }
    await clock.advance(500_000);
    const failed = networkFailureOf(chunks.next());
    await clock.advance(90_000 - 1);
    assert.equal(server.sockets.size, 1, 'a reader that was busy is no silence');
    await clock.advance(90_000);
    assert.match((await failed).message, /sent nothing for 1 m 30 s on GET \/api\/v1\/pods/);
    await eventually(() => server.sockets.size === 0);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('runtime/N5: a stream gets a new token after a 401', async () => {
    await using server = await http1Server((request, response) => {
      response.statusCode = request.headers.authorization === 'Bearer new' ? 200 : 401;
      response.end('events');
    });
    await using connection = await connectTo(server.url);
    connection.credentials.nextToken = 'new';
    const answer = await connection.transport(watch);
    assert.deepEqual([answer.status, await drained(answer)], [200, 'events']);
  });
});
