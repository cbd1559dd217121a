import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { ProxyWorld, textOf } from '../../../test/support/proxy-world.ts';
import { addServiceNode, addServicePod, setPodStatus } from '../../../test/support/service-world.ts';
import { Service } from '../../api/generated/core-v1.ts';
import { type LogFields, SILENT_LOG } from '../../base/log.ts';
import { endpointSliceController } from '../workloads/endpoints/controller.ts';

const WEB = { namespace: 'default', name: 'web' };
const refused = { code: 'ECONNREFUSED' };
const skip = process.platform !== 'linux' && 'only Linux gives every place of a lab an address of its own';

/** How a connection ends that nobody takes: it is made, and broken off. */
async function endOf(connecting: Promise<Socket>): Promise<string | undefined> {
  try {
    const socket = await connecting;
    socket.resume();
    await once(socket, 'end');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

describe('the proxy', () => {
  it('lab/X11: leads from the address of a service to its pods, one after the other', async () => {
    await using world = await ProxyWorld.start();
    await world.addService();
    await world.serve([await world.backend('a'), await world.backend('b', 'n2'), await world.backend('c')]);
    const names = await world.askers(await world.clusterPlace(), 6);
    assert.deepEqual(names.split(' ').toSorted(), ['a', 'a', 'b', 'b', 'c', 'c']);
    assert.equal(names.slice(0, 5), names.slice(6));
  });

  it('lab/X11: leads from the port of every node to pods on all of them', async () => {
    await using world = await ProxyWorld.start();
    await world.addService({ type: 'NodePort' });
    await world.serve([await world.backend('a'), await world.backend('b', 'n2')]);
    for (const node of [1, 2]) {
      const names = await world.askers(await world.nodePlace(node), 2);
      assert.deepEqual(names.split(' ').toSorted(), ['a', 'b']);
    }
  });

  it('lab/X11: refuses where nobody serves, and no longer when somebody does', async () => {
    await using world = await ProxyWorld.start();
    await world.addService({ type: 'NodePort' });
    const places = [await world.clusterPlace(), await world.nodePlace(1)];
    for (const place of places) await assert.rejects(world.connect(place), refused);
    const backend = await world.backend('a');
    await world.serve([backend]);
    for (const place of places) assert.match(await world.ask(place), /^a /);
    await world.serve([{ ...backend, conditions: { ready: false, serving: false } }]);
    for (const place of places) await assert.rejects(world.connect(place), refused);
    await world.serve([backend]);
    for (const place of places) assert.match(await world.ask(place), /^a /);
    await world.env.client.delete(Service, WEB);
    await world.settle();
    for (const place of places) await assert.rejects(world.connect(place), refused);
  });

  it('lab/X11: takes what is on its way out and still serves, when nobody is ready', async () => {
    await using world = await ProxyWorld.start();
    await world.addService();
    const [old, fresh] = [await world.backend('old'), await world.backend('fresh')];
    const leaving = { ...old, conditions: { ready: false, serving: true, terminating: true } };
    await world.serve([leaving, fresh]);
    const place = await world.clusterPlace();
    assert.equal(await world.askers(place, 3), 'fresh fresh fresh');
    await world.serve([leaving, { ...fresh, conditions: { ready: false, serving: false } }]);
    assert.equal(await world.askers(place, 2), 'old old');
  });

  it('lab/X11: leaves connections alone when endpoints, ports and the service change', async () => {
    await using world = await ProxyWorld.start();
    await world.addService();
    const [old, fresh] = [await world.backend('old'), await world.backend('fresh')];
    await world.serve([old]);
    const place = await world.clusterPlace();
    const socket = await world.connect(place);
    const say = async (text: string): Promise<string> => {
      socket.write(text);
      const [answer] = await once(socket, 'data');
      return String(answer);
    };
    assert.match(await say('one'), /^old .* one$/);
    await world.serve([fresh]);
    assert.equal(await world.askers(place, 2), 'fresh fresh');
    assert.match(await say('two'), /^old .* two$/);
    await world.env.client.delete(Service, WEB);
    await world.settle();
    await assert.rejects(world.connect(place), refused);
    assert.match(await say('three'), /^old .* three$/);
    socket.end('four');
    assert.match(await textOf(socket), /^old .* four$/);
  });

  it('lab/X11: keeps listening while other things change', async () => {
    await using world = await ProxyWorld.start();
    await world.addService();
    const backends = [await world.backend('a'), await world.backend('b')];
    await world.serve(backends);
    const place = await world.clusterPlace();
    let isOver = false;
    const asking = (async () => {
      let answers = 0;
      for (; !isOver; answers++) await world.ask(place);
      return answers;
    })();
    for (let round = 0; round < 10; round++) await world.serve(round % 2 === 0 ? backends.slice(0, 1) : backends);
    isOver = true;
    assert.ok((await asking) > 0);
  });

  it('lab/X11: ClientIP: a client stays with its backend', { skip }, async () => {
    await using world = await ProxyWorld.start();
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 60 } };
    await world.addService({ sessionAffinity: 'ClientIP', sessionAffinityConfig });
    await world.serve([await world.backend('a'), await world.backend('b')]);
    const place = await world.clusterPlace();
    const [one, two] = [world.plan.pods.take().api, world.plan.pods.take().api];
    assert.equal(await world.askers(place, 3, one), 'a a a');
    assert.equal(await world.askers(place, 3, two), 'b b b');
    assert.equal(await world.askers(place, 2, one), 'a a');
  });

  it('lab/X11: Local: clients inside get pods of their own node, and are refused where there are none', {
    skip,
  }, async () => {
    await using world = await ProxyWorld.start();
    await world.addService({ internalTrafficPolicy: 'Local' });
    await world.serve([await world.backend('a', 'n1'), await world.backend('b', 'n2')]);
    const place = await world.clusterPlace();
    const [client, stranger] = [world.plan.pods.take().api, world.plan.pods.take().api];
    // Had the address before.
    await addServicePod(world.env, 'ancestor', { node: 'n1', ip: client, phase: 'Succeeded' });
    await addServicePod(world.env, 'client', { node: 'n2', ip: client });
    await addServicePod(world.env, 'stranger', { node: 'n3', ip: stranger });
    await world.settle();
    assert.equal(await world.askers(place, 3, client), 'b b b');
    assert.equal(await world.askers(place, 2, world.plan.node(1, 1).api), 'a a');
    assert.equal(await endOf(world.connect(place, stranger)), 'ECONNRESET');
  });

  it('lab/X11: Local: only nodes with a pod of their own take connections from outside', async () => {
    await using world = await ProxyWorld.start();
    await world.addService({ type: 'NodePort', externalTrafficPolicy: 'Local' });
    await world.serve([await world.backend('a', 'n1'), await world.backend('b', 'n1')]);
    const names = await world.askers(await world.nodePlace(1), 2);
    assert.deepEqual(names.split(' ').toSorted(), ['a', 'b']);
    await assert.rejects(world.connect(await world.nodePlace(2)), refused);
  });

  it('lab/X11: shows pods who the client is, or by which node it came', { skip }, async () => {
    await using world = await ProxyWorld.start();
    await world.addService({ type: 'NodePort' });
    await world.serve([await world.backend('a', 'n1')]);
    const client = world.plan.balancers.take();
    const sources = async () => [
      await world.ask(await world.clusterPlace(), client.api),
      await world.ask(await world.nodePlace(1), client.api),
    ];
    const node = world.plan.node(1, 1).wire;
    assert.deepEqual(await sources(), [`a ${client.wire} hello`, `a ${node} hello`]);
    const body = { spec: { externalTrafficPolicy: 'Local' } };
    await world.env.client.patch(Service, WEB, { type: 'merge', body });
    await world.settle();
    assert.deepEqual(await sources(), [`a ${client.wire} hello`, `a ${client.wire} hello`]);
  });

  it('lab/X11: tells load balancers how many pods a node has', async () => {
    await using world = await ProxyWorld.start();
    const { spec } = await world.addService({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    const port = spec?.healthCheckNodePort ?? 0;
    const ask = async (node: number) => {
      const { host, port: wirePort } = world.plan.target({ host: world.plan.node(1, node).api, port });
      const answer = await fetch(`http://${host}:${wirePort}/healthz`, { headers: { connection: 'close' } });
      const weight = answer.headers.get('x-load-balancing-endpoint-weight');
      return [answer.status, weight, answer.headers.get('content-type'), await answer.json()];
    };
    const expected = (status: number, localEndpoints: number) => [
      status,
      `${localEndpoints}`,
      'application/json',
      { service: WEB, localEndpoints, serviceProxyHealthy: true },
    ];
    assert.deepEqual(await ask(1), expected(503, 0));
    const backends = [await world.backend('a', 'n1'), await world.backend('b', 'n1')];
    await world.serve(backends);
    assert.deepEqual([await ask(1), await ask(2)], [expected(200, 2), expected(503, 0)]);
    await world.serve(
      backends.map((one) => ({ ...one, conditions: { ready: false, serving: true, terminating: true } })),
    );
    assert.deepEqual(await ask(1), expected(503, 0));
  });

  it('lab/X11: closes the ports of a node that is switched off', async () => {
    await using world = await ProxyWorld.start();
    await world.addService({ type: 'NodePort' });
    await world.serve([await world.backend('a', 'n1')]);
    const place = await world.nodePlace(2);
    assert.match(await world.ask(place), /^a /);
    const nodes = world.nodes.list();
    world.nodes.set(nodes.slice(0, 1));
    await world.settle();
    await assert.rejects(world.connect(place), refused);
    world.nodes.set(nodes);
    await world.settle();
    assert.match(await world.ask(place), /^a /);
  });

  it('lab/X11: breaks off a connection when the pod does not take it', async () => {
    await using world = await ProxyWorld.start();
    await world.addService();
    const backend = await world.backend('a');
    await world.serve([backend]);
    const closed = once(backend.server, 'close');
    backend.server.close();
    await closed;
    assert.equal(await endOf(world.connect(await world.clusterPlace())), 'ECONNRESET');
  });

  it('lab/X11: says that a place is taken, and takes it when it is free', async () => {
    const warnings: LogFields[] = [];
    const log = { ...SILENT_LOG, warn: (fields: LogFields) => void warnings.push(fields) };
    await using world = await ProxyWorld.start({ log });
    await world.addService({ type: 'NodePort' });
    const squatter = createServer();
    const place = await world.nodePlace(1);
    await world.plan.listen(squatter, place);
    await world.serve([await world.backend('a', 'n1')]);
    await world.serve([await world.backend('b', 'n1')]);
    assert.equal(warnings.length, 1);
    assert.match(String(warnings[0]?.['err']), /EADDRINUSE/);
    assert.match(await world.ask(await world.nodePlace(2)), /^b /);
    const closed = once(squatter, 'close');
    squatter.close();
    await closed;
    world.nodes.set(world.nodes.list());
    await world.settle();
    assert.match(await world.ask(place), /^b /);
  });

  it('lab/X1: says once that addresses of services are not of the lab, and serves node ports all the same', async () => {
    const warnings: LogFields[] = [];
    const log = { ...SILENT_LOG, warn: (fields: LogFields) => void warnings.push(fields) };
    // No octet of a lab.
    await using world = await ProxyWorld.start({ log, serviceRange: '10.1.0.0/24' });
    await world.addService({ type: 'NodePort' });
    await world.serve([await world.backend('a', 'n1')]);
    await world.serve([await world.backend('b', 'n2')]);
    assert.deepEqual(
      warnings.map(({ service, range }) => ({ service, range })),
      [{ service: WEB, range: world.plan.serviceRange }],
    );
    assert.match(await world.ask(await world.nodePlace(1)), /^b /);
  });

  it('lab/X11: carries many connections at once, every byte, each way', async () => {
    await using world = await ProxyWorld.start();
    await world.addService();
    const echoes = await Promise.all(['n1', 'n2'].map((node) => world.echo(node)));
    await world.serve(echoes);
    const place = await world.clusterPlace();
    const exchange = async (bytes: Buffer): Promise<void> => {
      const socket = await world.connect(place);
      socket.end(bytes);
      assert.equal(await textOf(socket, 'base64'), bytes.toString('base64'));
    };
    await Promise.all(Array.from({ length: 100 }, (_, at) => exchange(randomBytes(1 + at * 997))));
  });

  it('lab/X11, lab/X10: does the same where all addresses are one', async () => {
    await using world = await ProxyWorld.start({ network: 'ports' });
    await world.addService({ type: 'NodePort', internalTrafficPolicy: 'Local' });
    const backends = [await world.backend('a', 'n1'), await world.backend('b', 'n2')];
    await world.serve(backends);
    for (const place of [await world.clusterPlace(), await world.nodePlace(2)]) {
      const names = await world.askers(place, 2);
      assert.deepEqual(names.split(' ').toSorted(), ['a', 'b']);
    }
    await world.serve([]);
    await assert.rejects(world.connect(await world.clusterPlace()), refused);
  });

  it('lab/X11, lab/W31, lab/W32: serves what the controller of endpoints finds, by API addresses', async () => {
    await using world = await ProxyWorld.start();
    const { env } = world;
    await env.startManager({ add: [endpointSliceController()] });
    await addServiceNode(env, 'n1');
    await world.addService({ selector: { app: 'web' } });
    const { api } = await world.backend('a');
    await addServicePod(env, 'a', { ip: api });
    await world.settle();
    const place = await world.clusterPlace();
    assert.match(await world.ask(place), /^a /);
    await setPodStatus(env, 'a', { ip: api, isReady: false });
    await world.settle();
    await assert.rejects(world.connect(place), refused);
  });

  it('ends every connection and every listener', async () => {
    const world = await ProxyWorld.start();
    await world.addService();
    await world.serve([await world.backend('a')]);
    const place = await world.clusterPlace();
    const socket = await world.connect(place);
    socket.write('hello');
    await once(socket, 'data');
    const end = endOf(Promise.resolve(socket));
    await world.proxy[Symbol.asyncDispose]();
    assert.equal(await end, 'ECONNRESET');
    await assert.rejects(world.connect(place), refused);
    await world[Symbol.asyncDispose]();
  });
});
