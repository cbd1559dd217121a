import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import {
  clientCertificate,
  connectTo,
  eventually,
  failureOf,
  http1Server,
  http2Server,
  relay,
  type StreamHandle,
  textOf,
} from '../../../test/support/transport-world.ts';
import { VirtualClock } from '../../base/clock.ts';

const get = { method: 'GET', target: '/' };

/** Answers when told to. */
function held() {
  const waiting: (() => void)[] = [];
  const handle: StreamHandle = (stream) => {
    waiting.push(() => {
      stream.respond({ ':status': 200 });
      stream.end('x');
    });
  };
  const release = (): void => {
    for (const answer of waiting.splice(0)) answer();
  };
  return { waiting, handle, release };
}

describe('a pool of HTTP/2 sessions', () => {
  it('runtime/N1: opens at most 8 sessions, and closes those that nobody needs any more', async () => {
    const clock = new VirtualClock();
    const { waiting, handle, release } = held();
    await using server = await http2Server(handle, { settings: { maxConcurrentStreams: 2 } });
    await using connection = await connectTo(server.url, {}, { clock });
    const sent: Promise<string>[] = [];
    const send = () => void sent.push(connection.transport(get).then(textOf));
    for (let at = 0; at < 24; at++) {
      send();
      const count = Math.min(at + 1, 16);
      await eventually(() => waiting.length >= Math.min(count, 2) && server.sessions.length >= 1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => waiting.length === 16);
    assert.equal(server.accepted(), 8);
    while (sent.length > 0) {
      await eventually(() => waiting.length > 0);
      release();
      const done = await Promise.race([Promise.all(sent), new Promise((resolve) => setTimeout(resolve, 5))]);
      if (done !== undefined) sent.length = 0;
    }
    await clock.advance(60_001);
    const last = connection.transport(get).then(textOf);
    await eventually(() => waiting.length === 1 && server.sockets.size === 1);
    release();
    assert.equal(await last, 'x');
  });

  it('runtime/C3: a session that was being opened with the old certificate is not used', async () => {
    const names: unknown[] = [];
    await using server = await http2Server((stream) => {
      const socket = stream.session?.socket as TLSSocket;
      names.push(socket.getPeerCertificate().subject.CN);
      stream.respond({ ':status': 200 });
      stream.end('x');
    });
    await using between = await relay(server.port);
    await using connection = await connectTo(between.url);
    const { credentials } = connection;
    const [first, second] = await Promise.all(['first', 'second'].map(clientCertificate));
    credentials.certificate = first;
    const sent = connection.transport(get).then(textOf);
    await eventually(() => between.sockets.size === 1);
    credentials.certificate = second;
    credentials.changed();
    assert.equal(await sent, 'x');
    assert.deepEqual(names, ['second']);
  });

  it('a request that Node refuses to send gives its place in the pool back', async () => {
    await using server = await http1Server((_request, response) => response.end('x'));
    await using connection = await connectTo(server.url);
    for (let at = 0; at < 40; at++) {
      await failureOf(connection.transport({ ...get, headers: { accept: 'a\nb' } }));
    }
    assert.equal(await textOf(await connection.transport({ ...get, method: 'PUT' })), 'x');
  });
});
