import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { ApiServer } from '../../src/apiserver/options.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import type { Kubeconfig } from '../../src/pki/kubeconfig.ts';
import { until } from '../support/scratch.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
const WATCH = `${PATH}?watch=1&resourceVersion=`;
const MIB = 1024 * 1024;

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');

function credentialsOf({ clusters, users }: Kubeconfig) {
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
  if (cluster === undefined || user === undefined) throw new Error('the kubeconfig is empty');
  const { port } = new URL(cluster.server);
  return {
    host: '127.0.0.1',
    port: Number(port),
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  };
}

describe('watches over real connections', () => {
  let server: ApiServer;
  let credentials: ReturnType<typeof credentialsOf>;
  before(async () => {
    server = await startApiServer({ storage: 'memory' });
    credentials = credentialsOf(await server.kubeconfig());
  });
  after(() => server.stop());

  let written = 0;
  const write = async (data = ''): Promise<string> => {
    const name = `stream-${written++}`;
    const body = JSON.stringify({ metadata: { name }, data: { data } });
    const answer = await server.client()({
      method: 'POST',
      target: PATH,
      headers: { 'content-type': 'application/json' },
      body,
    });
    assert.equal(answer.status, 201);
    return name;
  };

  /** A connection of HTTP/1.1 and everything it received. */
  async function plain(...requests: readonly string[]): Promise<{ socket: TLSSocket; text: () => string }> {
    const socket = connectTls({ ...credentials, ALPNProtocols: ['http/1.1'] });
    await once(socket, 'secureConnect');
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      received += piece;
    });
    socket.on('error', () => undefined);
    socket.write(requests.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
    return { socket, text: () => received };
  }

  it('apiserver/T1: are chunks of HTTP/1.1 that end with an empty one', async () => {
    const { socket, text } = await plain(`${WATCH}${server.store.revision}&timeoutSeconds=1`);
    await until(() => text().includes('\r\n\r\n'), 'the head comes before any event');
    const names = [await write(), await write()];
    await until(() => text().endsWith('0\r\n\r\n'), 'the stream ends');
    const [head = '', body = ''] = text().split(/\r\n\r\n(.*)/s);
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(head, /transfer-encoding: chunked/i);
    const lines: string[] = [];
    for (let at = 0; ; ) {
      const end = body.indexOf('\r\n', at);
      const size = Number.parseInt(body.slice(at, end), 16);
      if (size === 0) break;
      lines.push(
        ...body
          .slice(end + 2, end + 2 + size)
          .split('\n')
          .slice(0, -1),
      );
      at = end + 2 + size + 2;
      assert.equal(body.slice(at - 2, at), '\r\n');
    }
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).object.metadata.name),
      names,
    );
    socket.destroy();
  });

  it('apiserver/H1: the connection serves the next request after a watch has ended', async () => {
    const { socket, text } = await plain(`${WATCH}${server.store.revision}&timeoutSeconds=1`, '/version');
    await write();
    await until(() => text().includes('gitVersion'), 'the second answer comes');
    assert.ok(text().indexOf('0\r\n\r\n') < text().lastIndexOf('HTTP/1.1 200'));
    socket.destroy();
  });

  it('apiserver/H1: are streams of HTTP/2, many on one connection', async () => {
    const session = connect(`https://127.0.0.1:${credentials.port}`, credentials);
    const received = Array.from({ length: 20 }, () => '');
    const revision = server.store.revision;
    const streams = received.map((_, index) => {
      const stream = session.request({ ':path': `${WATCH}${revision}` });
      stream.setEncoding('utf8');
      stream.on('data', (piece: string) => {
        received[index] += piece;
      });
      return stream;
    });
    await Promise.all(streams.map((stream) => once(stream, 'response')));
    const names = [await write(), await write(), await write()];
    const namesOf = (text: string) =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).object.metadata.name);
    await until(() => received.every((text) => namesOf(text).length === 3), 'all streams get all events');
    for (const text of received) assert.deepEqual(namesOf(text), names);
    session.close();
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
    await once(session, 'close');
  });

  it('reliability/P20: a client that does not read costs little, and gets all when it does', async () => {
    const { socket, text } = await plain(`${WATCH}${server.store.revision}`);
    await until(() => text().includes('\r\n\r\n'), 'the watch is open');
    socket.pause();
    const other = await plain(`${WATCH}${server.store.revision}`);
    const names: string[] = [];
    // More than the buffers of the system and ours together hold.
    for (let size = 0; size < 16; size++) names.push(await write('x'.repeat(MIB)));
    await until(() => other.text().includes(`"${names.at(-1)}"`), 'the other one gets everything at once');
    socket.resume();
    await until(() => text().includes(`"${names.at(-1)}"`), 'everything comes');
    const told = [...text().matchAll(/"name":"(stream-\d+)"/g)].map(([, name]) => name);
    assert.deepEqual(told, names);
    socket.destroy();
    other.socket.destroy();
  });

  it('reliability/P13: end cleanly when the server stops', async () => {
    const own = await startApiServer({ storage: 'memory' });
    credentials = credentialsOf(await own.kubeconfig());
    const { text } = await plain(`${WATCH}${own.store.revision}`);
    const session = connect(`https://127.0.0.1:${credentials.port}`, credentials);
    const stream = session.request({ ':path': `${WATCH}${own.store.revision}` });
    stream.resume();
    await once(stream, 'response');
    await until(() => text().includes('\r\n\r\n'), 'the watch is open');
    const ended = once(stream, 'end');
    await own.stop();
    await ended;
    assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR);
    assert.ok(text().endsWith('0\r\n\r\n'));
    session.destroy();
  });
});
