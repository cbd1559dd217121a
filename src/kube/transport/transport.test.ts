import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectTo, failureOf, textOf } from '../../../test/support/transport-world.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { SystemClock } from '../../base/clock.ts';
import type { Kubeconfig } from '../../pki/kubeconfig.ts';
import { retrying } from './retrying.ts';
import { isWrite, type Transport } from './transport.ts';

const NAMESPACES = '/api/v1/namespaces';
const json = { 'content-type': 'application/json' };
const named = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

interface World extends AsyncDisposable {
  readonly transport: Transport;
}

async function inProcess(): Promise<World> {
  const server = await startApiServer({ listen: false });
  return { transport: server.client(), [Symbol.asyncDispose]: () => server.stop() };
}

const overSockets = (isHttp1Only: boolean) => async (): Promise<World> => {
  const server = await startApiServer({ listen: { host: '127.0.0.1', port: 0 } });
  const { clusters, users }: Kubeconfig = await server.kubeconfig();
  const decoded = (base64 = ''): string => Buffer.from(base64, 'base64').toString();
  const authority = decoded(clusters[0]?.cluster['certificate-authority-data']);
  const user = users[0]?.user;
  const connection = await connectTo(server.url, { ca: () => Promise.resolve(authority) }, { isHttp1Only });
  connection.credentials.certificate = {
    certPem: decoded(user?.['client-certificate-data']),
    keyPem: decoded(user?.['client-key-data']),
  };
  return {
    transport: connection.transport,
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]();
      await server.stop();
    },
  };
};

for (const [name, start] of [
  ['in process', inProcess],
  ['over HTTP/2', overSockets(false)],
  ['over HTTP/1.1', overSockets(true)],
] as const) {
  describe(`a transport ${name}`, () => {
    it('runtime/N8: brings bodies there and back, as bytes and as text', async () => {
      await using world = await start();
      const transport = world.transport;
      for (const body of [named('ü-not'), Buffer.from(named('boat'))]) {
        const answer = await transport({ method: 'POST', target: NAMESPACES, headers: json, body });
        const { kind, metadata } = JSON.parse(await textOf(answer));
        if (answer.status === 201) assert.deepEqual([kind, metadata.name], ['Namespace', 'boat']);
        else assert.deepEqual([answer.status, kind], [422, 'Status']);
      }
      const read = await transport({ method: 'GET', target: `${NAMESPACES}/boat?x=y` });
      assert.deepEqual([read.status, read.headers['content-type']], [200, 'application/json']);
      assert.equal((await transport({ method: 'GET', target: '/nowhere' })).status, 404);
    });

    it('runtime/N8: brings the events of a watch as they come, until the reader leaves', async () => {
      await using world = await start();
      const transport = world.transport;
      const target = `${NAMESPACES}?watch=true&fieldSelector=metadata.name%3Dboat`;
      const watch = await transport({ method: 'GET', target, isStream: true });
      await textOf(await transport({ method: 'POST', target: NAMESPACES, headers: json, body: named('boat') }));
      for await (const chunk of watch.stream()) {
        const { type, object } = JSON.parse(Buffer.from(chunk).toString());
        assert.deepEqual([type, object.metadata.name], ['ADDED', 'boat']);
        break;
      }
      assert.equal((await transport({ method: 'GET', target: '/readyz' })).status, 200);
    });

    it('runtime/N4: ends a stream when the signal aborts, and brings nothing more', async () => {
      await using world = await start();
      const control = new AbortController();
      const target = `${NAMESPACES}?watch=true&fieldSelector=metadata.name%3Dnone`;
      const watch = await world.transport({ method: 'GET', target, isStream: true, signal: control.signal });
      const reading = watch.stream()[Symbol.asyncIterator]().next();
      control.abort(new Error('enough'));
      const ended = await reading.then(
        ({ done }) => done,
        (thrown: Error) => thrown.message,
      );
      assert.ok(ended === true || ended === 'enough', String(ended));
    });

    it('runtime/N5: can be wrapped in retries', async () => {
      await using world = await start();
      const transport = retrying(world.transport, { clock: new SystemClock() });
      assert.equal(await textOf(await transport({ method: 'GET', target: '/readyz' })), 'ok');
      const signal = AbortSignal.abort(new Error('enough'));
      const refused = await failureOf(transport({ method: 'GET', target: '/readyz', signal })).catch(
        () => undefined,
      );
      assert.ok(refused === undefined || refused.message === 'enough');
    });
  });
}

describe('isWrite', () => {
  for (const [method, expected] of [
    ['GET', false],
    ['HEAD', false],
    ['OPTIONS', false],
    ['POST', true],
    ['PUT', true],
    ['PATCH', true],
    ['DELETE', true],
  ] as const) {
    it(`${method}: ${expected}`, () => assert.equal(isWrite({ method }), expected));
  }
});
