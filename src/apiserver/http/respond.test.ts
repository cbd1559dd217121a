import assert from 'node:assert/strict';
import { once } from 'node:events';
import { before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { TlsWorld } from '../../../test/support/tls-listener.ts';
import type { ApiRequest, Handle, StreamSink } from '../request.ts';

let world: TlsWorld;
before(async () => {
  world = await TlsWorld.create();
});

describe('answers on the wire', () => {
  const bodyOf = (size: number) => Array.from({ length: Math.ceil(size / 1000) }, () => Buffer.alloc(1000, 'x'));
  const serveSize = (size: number) =>
    world.start(() => Promise.resolve({ status: 200, headers: {}, body: bodyOf(size) }));

  it('apiserver/H7: are compressed when they are large and the client can', async () => {
    const listener = await serveSize(140_000);
    const gzip = { 'accept-encoding': 'deflate, gzip;q=0.5' };
    const packed = await world.call(listener.port, { headers: gzip });
    assert.deepEqual([packed.headers['content-encoding'], packed.headers['vary']], ['gzip', 'Accept-Encoding']);
    assert.equal(gunzipSync(packed.bytes).length, 140_000);
    const plain = await world.call(listener.port);
    assert.deepEqual([plain.headers['content-encoding'], plain.bytes.length], [undefined, 140_000]);
    await listener.stop();
    const small = await serveSize(130_000);
    assert.equal((await world.call(small.port, { headers: gzip })).headers['content-encoding'], undefined);
    await small.stop();
  });

  it('apiserver/H7: still say what else they vary with when they are compressed', async () => {
    const body = bodyOf(140_000);
    for (const vary of ['Accept', 'Accept-Encoding, Accept']) {
      const listener = await world.start(() => Promise.resolve({ status: 200, headers: { vary }, body }));
      const { headers } = await world.call(listener.port, { headers: { 'accept-encoding': 'gzip' } });
      assert.deepEqual([headers['content-encoding'], headers['vary']], ['gzip', 'Accept-Encoding, Accept']);
      await listener.stop();
    }
  });

  it('leave in pieces when they are very large', async () => {
    const listener = await serveSize(5_000_000);
    const { headers, bytes } = await world.call(listener.port);
    assert.deepEqual([headers['content-length'], bytes.length], ['5000000', 5_000_000]);
    await listener.stop();
  });

  it('have no body for HEAD, but its length', async () => {
    const listener = await serveSize(1000);
    const { headers, bytes } = await world.call(listener.port, { method: 'HEAD' });
    assert.deepEqual([headers['content-length'], bytes.length], ['1000', 0]);
    await listener.stop();
  });

  it('end with the connection when serving fails outside the handler', async () => {
    const listener = await world.start(() => Promise.reject(new Error('boom')));
    await assert.rejects(world.call(listener.port), { code: 'ECONNRESET' });
    assert.ok(
      world.log.lines.some(
        ({ level, message }) => level === 'error' && message === 'Request failed outside the handler',
      ),
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
    const listener = await world.start(handle);
    const answer = world.call(listener.port);
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
    const listener = await world.start(handle);
    const answer = world.call(listener.port);
    const writing = await sink;
    writing.write(Buffer.alloc(2_000_000));
    await writing.drained();
    writing.end();
    assert.equal((await answer).bytes.length, 2_000_000);
    await listener.stop();
  });

  it('breaks visibly when it is destroyed, in both protocols', async () => {
    const one = watchable();
    const first = await world.start(one.handle);
    const broken = assert.rejects(world.call(first.port));
    (await one.sink).destroy();
    await broken;
    await first.stop();
    const two = watchable();
    const second = await world.start(two.handle);
    const client = world.session(second.port);
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
    const listener = await world.start((request: ApiRequest) => {
      request.signal.addEventListener('abort', () => aborted.resolve());
      return handle(request);
    });
    const socket = world.socket(listener.port);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await sink;
    socket.destroy();
    await aborted.promise;
    await listener.stop();
    assert.equal(disposals(), 1);
  });
});
