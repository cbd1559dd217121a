import assert from 'node:assert/strict';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { callOver, TlsWorld } from '../../../test/support/tls-listener.ts';
import { VirtualClock } from '../../base/clock.ts';
import type { Credential } from '../../pki/certificate-authority.ts';
import type { ApiResponse, Handle } from '../request.ts';
import { StatusError } from '../status.ts';
import { LISTENER_LIMITS, type Listener } from './listener.ts';

const LIMIT = 3_145_728;

let world: TlsWorld;
let jane: Credential;
let stranger: Credential;
before(async () => {
  const other = await TlsWorld.create();
  world = await TlsWorld.create();
  jane = await world.issue('jane', ['dev', 'ops']);
  stranger = await other.issue('jane', ['system:masters']);
});

const text = (status: number, body: string): ApiResponse => ({ status, headers: {}, body: [Buffer.from(body)] });

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
    listener = await world.start(async (request) => {
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
      (await world.call(listener.port, { path: '/a%20b?x=1&x=2', method: 'PUT', body: 'abc' })).text,
    );
    const { method, path, query, size, twice, isInProcess, credentials } = first;
    assert.deepEqual([method, path, query, size, twice], ['PUT', '/a%20b', 'x=1&x=2', 3, 3]);
    assert.deepEqual([isInProcess, credentials], [false, {}]);
    const two = world.session(listener.port);
    const head = { ':method': 'POST', ':path': '/q?y=z', 'user-agent': 'two' };
    const second = await callOver(two, head, 'body');
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
    const { headers } = await world.call(listener.port);
    assert.equal(headers['warning'], '299 - "a", 299 - "b"');
  });

  it('apiserver/Z1: reads user and groups off a certificate of its authority, on every request', async () => {
    const { credentials } = JSON.parse((await world.call(listener.port, { credential: jane })).text);
    const expected = { commonName: 'jane', organizations: ['dev', 'ops'] };
    assert.partialDeepStrictEqual(credentials, { certificate: expected });
    assert.match(credentials.certificate.fingerprint, /^[\da-f]{64}$/);
    const two = world.session(listener.port, jane);
    for (const path of ['/1', '/2']) {
      const { text: seen } = await callOver(two, { ':path': path });
      assert.deepEqual(JSON.parse(seen).credentials, credentials);
    }
    two.close();
  });

  it('apiserver/Z1: believes no certificate of another authority', async () => {
    assert.deepEqual(JSON.parse((await world.call(listener.port, { credential: stranger })).text).credentials, {});
  });

  it('apiserver/H3: takes a body up to the limit and refuses one beyond', async () => {
    const largest = await world.call(listener.port, { method: 'POST', body: Buffer.alloc(LIMIT) });
    assert.equal(JSON.parse(largest.text).size, LIMIT);
    const message = 'Request entity too large: limit is 3145728';
    const declared = await world.call(listener.port, { method: 'POST', body: Buffer.alloc(LIMIT + 1) });
    assert.deepEqual([declared.status, declared.text], [413, message]);
    const headers = { 'transfer-encoding': 'chunked' };
    const streamed = await world.call(listener.port, { method: 'POST', headers, body: Buffer.alloc(LIMIT + 1) });
    assert.deepEqual([streamed.status, streamed.text], [413, message]);
  });

  it('apiserver/H3: reads gzip, and limits what comes out of it', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const send = (body: Uint8Array) => world.call(listener.port, { method: 'POST', headers, body });
    assert.equal(JSON.parse((await send(gzipSync('hello'))).text).size, 5);
    const bomb = await send(gzipSync(Buffer.alloc(LIMIT + 1)));
    assert.deepEqual([bomb.status, bomb.text], [413, 'Request entity too large: limit is 3145728']);
    const broken = await send(Buffer.from('no gzip'));
    assert.deepEqual([broken.status, broken.text], [400, 'the request body is not valid gzip']);
  });

  it('survives what is no HTTP at all', async () => {
    const socket = world.socket(listener.port);
    await once(socket, 'secureConnect');
    socket.end('\0\0\0nonsense\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    assert.equal((await world.call(listener.port)).status, 200);
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
      const listener = await world.start(echo, { limits });
      const socket = world.socket(listener.port);
      socket.write(sent);
      assert.match((await buffer(socket)).toString('utf8'), /^HTTP\/1\.1 408 /);
      await listener.stop();
    });
  }

  it('is not even let in when there are too many', async () => {
    const listener = await world.start(echo, { limits: { ...LISTENER_LIMITS, connections: 0 } });
    await assert.rejects(world.call(listener.port));
    await listener.stop();
  });
});

describe('stopping', () => {
  for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
    it(`apiserver/H11: lets a request over ${protocol} finish, and takes no new connection`, async () => {
      const entered = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const listener = await world.start(async () => {
        entered.resolve();
        await release.promise;
        return text(200, 'done');
      });
      const { port } = listener;
      const client = protocol === 'HTTP/2' ? world.session(port) : undefined;
      const answer = client === undefined ? world.call(port) : callOver(client, { ':path': '/' });
      await entered.promise;
      const stopped = listener.stop();
      await assert.rejects(world.call(port), { code: 'ECONNREFUSED' });
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
    const listener = await world.start(never, { clock: virtual });
    const broken = assert.rejects(world.call(listener.port));
    await entered.promise;
    const stopped = listener.stop();
    assert.equal(virtual.nextDueMs, 10_000);
    await virtual.advance(10_000);
    await broken;
    await stopped;
    assert.equal(virtual.nextDueMs, undefined);
  });

  it('refuses a port that is taken', async () => {
    const listener = await world.start(echo);
    await assert.rejects(world.start(echo, { port: listener.port }), { code: 'EADDRINUSE' });
    await listener.stop();
  });
});
