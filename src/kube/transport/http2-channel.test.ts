import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { describe, it } from 'node:test';
import { frame, frameServer, goaway, rst } from '../../../test/support/frame-server.ts';
import {
  connectTo,
  countdown,
  eventually,
  failureOf,
  http2Server,
  relay,
  type StreamHandle,
  textOf,
} from '../../../test/support/transport-world.ts';
import { VirtualClock } from '../../base/clock.ts';
import { NetworkError } from '../client/api-error.ts';

const get = (target = '/') => ({ method: 'GET', target });
const post = { method: 'POST', target: '/', body: '{}' };

const answer: StreamHandle = (stream) => {
  stream.respond({ ':status': 200 });
  stream.end('whole');
};

async function networkFailureOf(work: Promise<unknown>): Promise<NetworkError> {
  const failure = await failureOf(work);
  assert.ok(failure instanceof NetworkError, `${failure.name}: ${failure.message}`);
  return failure;
}

describe('an HTTP/2 session', () => {
  it('runtime/N2: a silent session gets a PING after 30 s and is destroyed 15 s later; all its requests fail', async () => {
    const clock = new VirtualClock();
    const entered = countdown(2);
    await using server = await http2Server(() => entered.hit());
    await using between = await relay(server.port);
    await using connection = await connectTo(between.url, {}, { clock });
    const long = { ...get(), timeoutMs: 600_000 };
    const failures = [networkFailureOf(connection.transport(long)), networkFailureOf(connection.transport(long))];
    await entered.done;
    between.freeze();
    await clock.advance(44_999);
    assert.equal(between.sockets.size, 1);
    await clock.advance(1);
    for (const failure of await Promise.all(failures)) {
      assert.match(failure.message, /did not answer an HTTP\/2 PING within 15.0 s/);
      assert.ok(failure.mayHaveHappened);
    }
    await eventually(() => between.sockets.size === 0);
  });

  it('runtime/N2: a session that answers its PING lives on', async () => {
    const clock = new VirtualClock();
    const pings: number[] = [];
    const entered = countdown();
    const held = Promise.withResolvers<void>();
    await using server = await http2Server((stream, headers) => {
      entered.hit();
      void held.promise.then(() => answer(stream, headers));
    });
    server.server.on('session', (session) => session.on('ping', () => pings.push(clock.monotonicMs())));
    await using connection = await connectTo(server.url, {}, { clock });
    const sent = connection.transport({ ...get(), timeoutMs: 600_000 }).then(textOf);
    sent.catch(() => {});
    await entered.done;
    for (let at = 0; at < 20; at++) {
      await clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    held.resolve();
    assert.equal(await sent, 'whole');
    assert.ok(pings.length >= 4 && pings[0] === 30_000, pings.join());
    assert.equal(server.accepted(), 1);
  });

  it('runtime/N2: an idle session is asked before it gets a request, so that no write is lost in a dead one', async () => {
    const clock = new VirtualClock();
    const seen: unknown[] = [];
    await using server = await http2Server((stream, headers) => {
      seen.push(headers[':method']);
      answer(stream, headers);
    });
    await using between = await relay(server.port);
    await using connection = await connectTo(between.url, {}, { clock });
    await textOf(await connection.transport(get()));
    await clock.advance(31_000);
    assert.equal(await textOf(await connection.transport(post)), 'whole', 'alive: used again');
    assert.equal(between.accepted(), 1);
    await clock.advance(31_000);
    between.freeze();
    const sent = networkFailureOf(connection.transport(post));
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(15_000);
    await eventually(() => between.accepted() === 2);
    await clock.advance(15_000);
    assert.equal((await sent).mayHaveHappened, false, 'a new one is opened before anything is sent');
    assert.deepEqual(seen, ['GET', 'POST']);
  });

  it('runtime/N3: after GOAWAY requests on their way finish and a new session is opened at once', async () => {
    const held = Promise.withResolvers<void>();
    const entered = countdown();
    await using server = await http2Server((stream, headers) => {
      if (headers[':path'] !== '/slow') return answer(stream, headers);
      entered.hit();
      void held.promise.then(() => answer(stream, headers));
    });
    await using connection = await connectTo(server.url);
    await textOf(await connection.transport(get()));
    const slow = connection.transport(get('/slow')).then(textOf);
    await entered.done;
    server.sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR);
    await eventually(() => server.sessions.length === 2);
    assert.equal(await textOf(await connection.transport(post)), 'whole');
    held.resolve();
    assert.equal(await slow, 'whole');
    assert.equal(server.sessions.length, 2);
  });

  it('runtime/N3: a server that ends each session at once is not asked in a loop', async () => {
    await using server = await http2Server(answer);
    server.server.on('session', (session) => session.destroy());
    await using connection = await connectTo(server.url, {}, { clock: new VirtualClock() });
    await networkFailureOf(connection.transport(get()));
    const accepted = server.accepted();
    assert.ok(accepted <= 10, `${accepted} connections for one request`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(server.accepted(), accepted, 'and nobody goes on when nobody asks');
  });

  for (const [name, fault, mayHaveHappened] of [
    ['REFUSED_STREAM', ({ close }) => close(constants.NGHTTP2_REFUSED_STREAM), false],
    ['CANCEL', ({ close }) => close(constants.NGHTTP2_CANCEL), true],
    ['INTERNAL_ERROR', ({ close }) => close(constants.NGHTTP2_INTERNAL_ERROR), true],
    ['GOAWAY with a lower last stream', ({ goaway }) => goaway(constants.NGHTTP2_NO_ERROR, 1), false],
    ['a destroyed socket', ({ destroy }) => destroy(), true],
  ] as readonly [string, (on: Fault) => void, boolean][]) {
    it(`runtime/N5: knows whether a request may have happened after ${name}`, async () => {
      await using server = await http2Server((stream, headers) => {
        if (headers[':method'] === 'GET') return answer(stream, headers);
        fault({
          close: (code) => stream.close(code),
          goaway: (code, last) => stream.session?.goaway(code, last),
          destroy: () => stream.session?.destroy(),
        });
      });
      await using connection = await connectTo(server.url);
      await textOf(await connection.transport(get()));
      const failure = await networkFailureOf(connection.transport(post));
      assert.equal(failure.mayHaveHappened, mayHaveHappened, failure.message);
      assert.equal(await textOf(await connection.transport(get())), 'whole', 'the next one works');
    });
  }

  for (const [name, after] of [
    ['RST_STREAM CANCEL', rst(constants.NGHTTP2_CANCEL)],
    ['RST_STREAM INTERNAL_ERROR', rst(constants.NGHTTP2_INTERNAL_ERROR)],
    ['RST_STREAM REFUSED_STREAM', rst(constants.NGHTTP2_REFUSED_STREAM)],
    ['a closed connection', undefined],
    ['GOAWAY NO_ERROR and a closed connection', goaway(constants.NGHTTP2_NO_ERROR)],
    ['GOAWAY ENHANCE_YOUR_CALM and a closed connection', goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM)],
  ] as const) {
    it(`reliability/T2: half a body followed by ${name} is never taken for a whole one`, async () => {
      await using server = await frameServer((id) => {
        const half = [frame({ type: 1, flags: 4, id }, [0x88]), frame({ type: 0, id }, Buffer.from('half'))];
        return [...half, ...(after === undefined ? [] : [after(id)])];
      }, name.includes('connection'));
      await using connection = await connectTo(server.url);
      const whole = await networkFailureOf(connection.transport(get()).then(textOf));
      assert.ok(whole.mayHaveHappened);
      await networkFailureOf(connection.transport(get()).then((answered) => drained(answered.stream())));
    });
  }
});

interface Fault {
  readonly close: (code: number) => void;
  readonly goaway: (code: number, last: number) => void;
  readonly destroy: () => void;
}

async function drained(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) assert.ok(chunk.length > 0);
}
