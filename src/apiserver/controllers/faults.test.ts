import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ControlledServer, ownedBy } from '../../../test/support/controlled-server.ts';
import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { createBuiltins } from '../builtin/builtin-registry.ts';
import type { InProcessRequest, InProcessResponse, Transport } from '../http/in-process.ts';
import { Registry } from '../registry/registry.ts';
import { Codec } from '../rest/codec.ts';
import type { ControllerServices } from './controllers.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { NamespaceController } from './namespace-controller.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

/** What a fault gives instead of an answer; undefined lets the request through. */
type Fault = (request: InProcessRequest) => Promise<number | undefined> | number | undefined;

/** Parts for a controller of our own beside a server that runs none, with faults between the two. */
function servicesOf(server: ControlledServer, clock: VirtualClock, fault: Fault): ControllerServices {
  const { store } = server;
  const registry = new Registry(createBuiltins({ store, clock, serviceRange: '10.0.0.0/24' }).resources);
  const codec = new Codec(registry, { convert: (objects) => objects });
  const transport: Transport = async (request) => {
    const status = await fault(request);
    if (status !== undefined) return refusal(status);
    const { method, target, body, headers = {} } = request;
    const text = body === undefined ? undefined : Buffer.from(body).toString('utf8');
    return server.raw(method, target, text, headers['content-type']);
  };
  return { store, registry, codec, clock, log: SILENT_LOG, transport, authorityPem: '', crds: undefined as never };
}

const refusal = (status: number): InProcessResponse => ({
  status,
  headers: {},
  stream: () => {
    throw new Error('nobody streams a refusal');
  },
  bytes: () =>
    Promise.resolve(Buffer.from(JSON.stringify({ kind: 'Status', message: 'it is refused', code: status }))),
});

const start = () => ControlledServer.start({ controllers: { gc: false, namespace: false, crd: false } });

describe('garbage collector with faults', () => {
  const make = (server: ControlledServer, name: string, ownerReferences: ReturnType<typeof ownedBy>[] = []) =>
    server.create(MAPS, { metadata: { name, ownerReferences } });

  it('reliability/P31: deletes an object that only changed otherwise since it was judged', async () => {
    await using server = await start();
    const owner = await make(server, 'o');
    await make(server, 'd', [ownedBy(owner)]);
    let changes = 0;
    const services = servicesOf(server, new VirtualClock(), async ({ method, target }) => {
      if (method === 'DELETE' && changes++ === 0) await server.merge(target, { data: { a: 'b' } });
      return undefined;
    });
    await using _collector = new GarbageCollector(services);
    await server.remove(`${MAPS}/o`);
    await server.gone('core/configmaps/default/d');
    assert.equal(changes, 2);
  });

  it('reliability/P32: spares an object that got another owner meanwhile', async () => {
    await using server = await start();
    const clock = new VirtualClock();
    const [owner, other] = [await make(server, 'o'), await make(server, 'other')];
    await make(server, 'd', [ownedBy(owner)]);
    const services = servicesOf(server, clock, async ({ method, target }) => {
      if (method === 'DELETE') await server.merge(target, { metadata: { ownerReferences: [ownedBy(other)] } });
      return undefined;
    });
    await using collector = new GarbageCollector(services);
    await server.remove(`${MAPS}/o`);
    await collector.settled();
    await clock.advance(1000);
    await collector.settled();
    assert.notEqual(server.stored('core/configmaps/default/d'), undefined);
  });

  it('tries again when a request fails, and collects although an event cannot be recorded', async () => {
    await using server = await start();
    const clock = new VirtualClock();
    await server.create('/api/v1/namespaces/kube-public/configmaps', { metadata: { name: 'far' } });
    const { body: far } = await server.send('GET', '/api/v1/namespaces/kube-public/configmaps/far');
    let failures = 0;
    const services = servicesOf(server, clock, ({ method }) => {
      if (method === 'POST') return 500;
      return method === 'DELETE' && failures++ === 0 ? 503 : undefined;
    });
    await using collector = new GarbageCollector(services);
    await make(server, 'd', [ownedBy(far)]);
    await collector.settled();
    assert.notEqual(server.stored('core/configmaps/default/d'), undefined);
    await clock.advance(5);
    await server.gone('core/configmaps/default/d');
  });
});

describe('namespace controller with faults', () => {
  it('apiserver/G3: says what could not be deleted, and tries again', async () => {
    await using server = await start();
    const clock = new VirtualClock();
    let isRefusing = true;
    const services = servicesOf(server, clock, ({ method, target }) =>
      isRefusing && method === 'DELETE' && target.endsWith('/secrets') ? 500 : undefined,
    );
    await using controller = new NamespaceController(services);
    await server.create('/api/v1/namespaces', { metadata: { name: 'x' } });
    await server.create('/api/v1/namespaces/x/secrets', { metadata: { name: 's' } });
    await server.create('/api/v1/namespaces/x/configmaps', { metadata: { name: 'c' } });
    await server.remove('/api/v1/namespaces/x');
    await server.until(() => server.stored('core/namespaces/x').status.conditions !== undefined);
    await controller.settled();
    assert.equal(server.stored('core/configmaps/x/c'), undefined);
    const [, , failure] = server.stored('core/namespaces/x').status.conditions;
    assert.deepEqual(
      [failure.status, failure.reason, failure.message],
      ['True', 'ContentDeletionFailed', 'Failed to delete all resource types, 1 remaining: it is refused'],
    );
    isRefusing = false;
    await clock.advance(60_000);
    await server.gone('core/namespaces/x');
  });
});
