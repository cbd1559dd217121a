import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiRequest, ApiResponse, StreamSink } from '../request.ts';
import { inProcessTransport } from './in-process.ts';

const USER = { name: 'jane', groups: ['dev'] };
const JSON_HEADERS = { 'content-type': 'application/json' };

/** A stream whose sink the test holds. */
function streaming() {
  const opened = Promise.withResolvers<StreamSink>();
  let disposals = 0;
  const answer: ApiResponse = {
    status: 200,
    headers: JSON_HEADERS,
    body: (sink) => {
      opened.resolve(sink);
      return { [Symbol.dispose]: () => void disposals++ };
    },
  };
  return {
    transport: inProcessTransport(() => Promise.resolve(answer), USER),
    sink: opened.promise,
    disposals: () => disposals,
  };
}

const textOf = (chunk: Uint8Array | undefined): string => Buffer.from(chunk ?? []).toString('utf8');

describe('inProcessTransport', () => {
  it('apiserver/H12: hands over what HTTP would, with the user proven', async () => {
    const seen: ApiRequest[] = [];
    const transport = inProcessTransport((request) => {
      seen.push(request);
      return Promise.resolve({ status: 201, headers: JSON_HEADERS, body: [Buffer.from('a'), Buffer.from('b')] });
    }, USER);
    const answer = await transport({
      method: 'POST',
      target: '/x?a=1&a=2',
      headers: { Accept: 'y' },
      body: 'text',
    });
    assert.deepEqual([answer.status, textOf(await answer.bytes())], [201, 'ab']);
    await transport({ method: 'GET', target: '/y' });
    const [first, second] = seen;
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(first.query.getAll('a'), ['1', '2']);
    assert.deepEqual(
      [first.path, first.headers, first.credentials, first.isInProcess],
      ['/x', { accept: 'y' }, { user: USER }, true],
    );
    assert.equal(textOf(await first.body()), 'text');
    assert.deepEqual([second.path, String(second.query), (await second.body()).length], ['/y', '', 0]);
  });

  it('apiserver/H12: streams chunks as they are written, until the stream ends', async () => {
    const { transport, sink, disposals } = streaming();
    const chunks = (await transport({ method: 'GET', target: '/' })).stream()[Symbol.asyncIterator]();
    const first = chunks.next();
    const writing = await sink;
    writing.write(Buffer.from('a'));
    assert.equal(textOf((await first).value), 'a');
    writing.write(Buffer.from('b'));
    writing.write(Buffer.from('c'));
    assert.equal(writing.queuedBytes, 2);
    assert.equal(textOf((await chunks.next()).value), 'b');
    assert.equal(textOf((await chunks.next()).value), 'c');
    writing.end();
    assert.equal((await chunks.next()).done, true);
    assert.equal(disposals(), 1);
  });

  it('tells the writer when the reader has taken everything', async () => {
    const { transport, sink } = streaming();
    const chunks = (await transport({ method: 'GET', target: '/' })).stream()[Symbol.asyncIterator]();
    const first = chunks.next();
    const writing = await sink;
    await writing.drained();
    writing.write(Buffer.from('a'));
    let isDrained = false;
    const drained = writing.drained().then(() => {
      isDrained = true;
    });
    assert.equal(isDrained, false);
    await first;
    await drained;
    writing.end();
    await writing.drained();
    await chunks.return?.();
  });

  it('ends the stream when the reader leaves', async () => {
    const { transport, sink, disposals } = streaming();
    const answer = await transport({ method: 'GET', target: '/' });
    const reading = (async () => {
      for await (const chunk of answer.stream()) return textOf(chunk);
      return '';
    })();
    (await sink).write(Buffer.from('a'));
    assert.equal(await reading, 'a');
    assert.equal(disposals(), 1);
  });

  it('ends the stream when the signal aborts, also before it was read', async () => {
    for (const isEarly of [false, true]) {
      const { transport, disposals } = streaming();
      const stop = new AbortController();
      const answer = await transport({ method: 'GET', target: '/', signal: stop.signal });
      if (isEarly) stop.abort();
      const bytes = answer.bytes();
      stop.abort();
      assert.equal((await bytes).length, 0);
      assert.equal(disposals(), 1);
    }
  });

  it('fails the reader when the server gives the stream up', async () => {
    const { transport, sink } = streaming();
    const bytes = assert.rejects((await transport({ method: 'GET', target: '/' })).bytes(), /too slow/);
    (await sink).destroy();
    await bytes;
  });
});
