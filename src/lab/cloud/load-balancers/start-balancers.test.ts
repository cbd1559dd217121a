import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { Torture } from '../../../../test/support/balancer-torture.ts';
import {
  Backend,
  BalancerWorld,
  balancerConfig,
  echoServer,
  freePort,
  type GreetedClient,
  greeted,
} from '../../../../test/support/balancer-world.ts';
import { until } from '../../../../test/support/scratch.ts';
import { SystemClock } from '../../../base/clock.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import type { BalancerConfig } from './balancer-config.ts';

/** One balancer before targets with names `10.9.3.<n>`, which all listen on one port. */
class Stage implements AsyncDisposable {
  readonly world: BalancerWorld;
  readonly backends: readonly Backend[];
  readonly at: Endpoint;
  readonly config: BalancerConfig;
  readonly #stack: AsyncDisposableStack;

  private constructor(parts: Pick<Stage, 'world' | 'backends' | 'at' | 'config'>, stack: AsyncDisposableStack) {
    this.world = parts.world;
    this.backends = parts.backends;
    this.at = parts.at;
    this.config = parts.config;
    this.#stack = stack;
  }

  static async open(count: number, overrides: Partial<BalancerConfig> = {}): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await BalancerWorld.start());
    const targets = Array.from({ length: count }, (_, index) => `10.9.3.${index + 1}`);
    const targetPort = await freePort('127.9.3.1');
    const backends: Backend[] = [];
    for (const target of targets)
      backends.push(
        stack.use(
          await Backend.listen(echoServer(target), { host: target.replace('10.', '127.'), port: targetPort }),
        ),
      );
    const at = { host: '127.9.128.1', port: await freePort('127.9.128.1') };
    const listeners = [{ port: at.port, targetPort }];
    const config = balancerConfig({ address: '10.9.128.1', listeners, targets, ...overrides });
    await world.balancers.apply('lb', config);
    return new Stage({ world, backends, at, config }, stack.move());
  }

  /** With targets that are known to be healthy. */
  static async ready(count: number, overrides: Partial<BalancerConfig> = {}): Promise<Stage> {
    const stage = await Stage.open(count, overrides);
    await stage.world.pass(5);
    return stage;
  }

  get targetPort(): number {
    return this.config.listeners[0]?.targetPort ?? 0;
  }

  async apply(overrides: Partial<BalancerConfig>): Promise<void> {
    await this.world.balancers.apply('lb', { ...this.config, ...overrides });
  }

  async client(localAddress?: string): Promise<GreetedClient> {
    const client = await greeted(this.at, localAddress);
    this.#stack.defer(() => void client.socket.destroy());
    return client;
  }

  /** Who serves so many clients that stay. */
  async clients(count: number): Promise<readonly GreetedClient[]> {
    const clients: GreetedClient[] = [];
    for (let number = 0; number < count; number++) clients.push(await this.client());
    return clients;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

const counted = (clients: readonly GreetedClient[]): Record<string, number> =>
  Object.fromEntries(
    Object.entries(Object.groupBy(clients, ({ greeting }) => `${greeting}`)).map(([key, list]) => [
      key,
      list?.length ?? 0,
    ]),
  );

async function echoed({ socket }: GreetedClient, text: string): Promise<boolean> {
  const answer = once(socket, 'data');
  socket.write(text);
  return ((await answer) as [Buffer])[0].toString() === text;
}

describe('load balancers', () => {
  it('lab/C15: turn clients away until targets are known to be healthy', async () => {
    await using stage = await Stage.open(1);
    await stage.world.settle();
    assert.equal((await stage.client()).greeting, undefined);
    await stage.world.pass(4);
    assert.equal((await stage.client()).greeting, undefined);
    await stage.world.pass(1);
    assert.equal((await stage.client()).greeting, '10.9.3.1');
  });

  it('lab/C15: let clients through to anybody while nobody is healthy, when told to', async () => {
    await using stage = await Stage.open(2, { failOpen: true });
    const clients = await stage.clients(4);
    assert.deepEqual(counted(clients), { '10.9.3.1': 2, '10.9.3.2': 2 });
  });

  it('lab/C15: give each client to the target with the fewest connections', async () => {
    await using stage = await Stage.ready(3);
    const clients = await stage.clients(6);
    assert.deepEqual(counted(clients), { '10.9.3.1': 2, '10.9.3.2': 2, '10.9.3.3': 2 });
    const gone = clients.filter(({ greeting }) => greeting === '10.9.3.2');
    for (const { socket } of gone) socket.end();
    await Promise.all(gone.map(({ closed }) => closed));
    const { balancers } = stage.world;
    await until(() => balancers.status('lb')?.connections.get('10.9.3.2') === undefined, 'two are gone', 5000);
    assert.deepEqual(counted(await stage.clients(2)), { '10.9.3.2': 2 });
  });

  it('lab/C15: give no new client to a target after two failed checks, and again after two good ones', async () => {
    await using stage = await Stage.ready(2);
    await stage.backends[0]?.[Symbol.asyncDispose]();
    await stage.world.pass(10);
    assert.deepEqual(counted(await stage.clients(3)), { '10.9.3.2': 3 });
    assert.deepEqual(stage.world.balancers.status('lb')?.targets, [
      {
        target: '10.9.3.1',
        port: stage.at.port,
        isHealthy: false,
        problem: `connect ECONNREFUSED 127.9.3.1:${stage.targetPort}`,
      },
      { target: '10.9.3.2', port: stage.at.port, isHealthy: true, problem: undefined },
    ]);
    await using _back = await Backend.listen(echoServer('back'), { host: '127.9.3.1', port: stage.targetPort });
    await stage.world.pass(10);
    assert.equal((await stage.client()).greeting, 'back');
  });

  it('lab/C15: end all clients of a target that is not there although it was healthy', async () => {
    await using stage = await Stage.ready(1);
    await stage.backends[0]?.[Symbol.asyncDispose]();
    assert.equal((await stage.client()).greeting, undefined);
  });

  it('lab/C15: let connections to a removed target go on for 30 s, and then cut them', async () => {
    await using stage = await Stage.ready(2);
    const clients = await stage.clients(4);
    await stage.apply({ targets: ['10.9.3.2'] });
    assert.deepEqual(counted(await stage.clients(2)), { '10.9.3.2': 2 });
    await stage.world.pass(29);
    const [old, stays] = ['10.9.3.1', '10.9.3.2'].map((name) => clients.find(({ greeting }) => greeting === name));
    assert.ok(old !== undefined && stays !== undefined);
    assert.ok(await echoed(old, 'still there'));
    const broken = once(old.socket, 'error') as Promise<[NodeJS.ErrnoException]>;
    await stage.world.pass(1);
    assert.equal((await broken)[0].code, 'ECONNRESET');
    assert.ok(await echoed(stays, 'still here'));
  });

  it('lab/C15: keep connections of a target that comes back in time', async () => {
    await using stage = await Stage.ready(2);
    const clients = await stage.clients(2);
    await stage.apply({ targets: ['10.9.3.2'] });
    await stage.world.pass(20);
    await stage.apply({});
    await stage.world.pass(40);
    for (const client of clients) assert.ok(await echoed(client, 'here'));
  });

  it('lab/C15: cut a connection on which no byte moves for 350 s', async () => {
    await using stage = await Stage.ready(1);
    const [busy, idle] = [await stage.client(), await stage.client()];
    await stage.world.clock.advance(300_000);
    assert.ok(await echoed(busy, 'a word'));
    await stage.world.clock.advance(49_000);
    assert.equal(idle.socket.closed, false);
    await stage.world.clock.advance(1_000);
    await idle.closed;
    assert.ok(await echoed(busy, 'another word'));
    await stage.world.clock.advance(349_000);
    assert.equal(busy.socket.closed, false);
    await stage.world.clock.advance(1_000);
    await busy.closed;
  });

  it('lab/C15: hold back a client whose target does not read', async () => {
    await using stage = await Stage.ready(1);
    const { socket, closed } = await stage.client();
    const [served] = stage.backends[0]?.sockets ?? [];
    assert.ok(served !== undefined);
    served.unpipe(served).pause();
    const chunk = Buffer.alloc(1_000_000);
    for (let megabyte = 0; megabyte < 24; megabyte++) socket.write(chunk);
    const underWay = () => socket.bytesWritten - socket.writableLength;
    for (let before = -1; before < underWay(); before = underWay(), await new SystemClock().sleep(30));
    assert.ok(socket.writableLength > 0, 'not everything was taken');
    let heard = 0;
    served.on('data', (bytes: Buffer) => {
      heard += bytes.length;
    });
    served.resume();
    socket.end();
    await once(served, 'end');
    assert.equal(heard, 24_000_000);
    served.end();
    await closed;
  });

  it('lab/C15: carry 300 talks byte for byte, whoever ends first', async () => {
    const torture = new Torture(15);
    await using world = await BalancerWorld.start();
    await using one = await Backend.listen(torture.server(), { host: '127.9.4.1', port: 0 });
    await using _two = await Backend.listen(torture.server(), { host: '127.9.4.2', port: one.port });
    const at = { host: '127.9.128.2', port: await freePort('127.9.128.2') };
    await world.applyAndCheck(
      'lb',
      balancerConfig({
        address: '10.9.128.2',
        listeners: [{ port: at.port, targetPort: one.port }],
        targets: ['10.9.4.1', '10.9.4.2'],
      }),
    );
    assert.deepEqual(await torture.run(at, 300, 50), []);
    await until(() => world.balancers.status('lb')?.connections.size === 0, 'all are over', 5000);
  });

  it('lab/C16: close others than those in the ranges without a byte, and their targets never hear of them', async () => {
    await using stage = await Stage.ready(1, { sourceRanges: ['10.9.5.0/24', '127.9.6.1/32'] });
    const seen: (string | undefined)[] = [];
    for (const from of ['127.9.5.7', '127.9.6.1', '127.9.6.2', '127.9.7.1'])
      seen.push((await stage.client(from)).greeting);
    assert.deepEqual(seen, ['10.9.3.1', '10.9.3.1', undefined, undefined]);
    assert.equal(stage.backends[0]?.sockets.size, 2);
    await stage.apply({ sourceRanges: [] });
    assert.equal((await stage.client('127.9.7.1')).greeting, '10.9.3.1');
  });

  it('lab/C17: are all that targets see of their clients', async () => {
    await using stage = await Stage.ready(1);
    await stage.client('127.9.5.7');
    const addresses = [...(stage.backends[0]?.sockets ?? [])].map(({ remoteAddress }) => remoteAddress);
    assert.deepEqual(addresses, ['127.9.128.1']);
  });

  it('lab/C18: keep connections of listeners that stay, and end those of others', async () => {
    await using stage = await Stage.ready(1);
    const other = await freePort('127.9.128.1');
    const [first] = stage.config.listeners;
    assert.ok(first !== undefined);
    const second = { port: other, targetPort: stage.targetPort };
    const stays = await stage.client();
    await stage.apply({ listeners: [first, second] });
    await stage.world.pass(5);
    const goes = await greeted({ ...stage.at, port: other });
    assert.equal(goes.greeting, '10.9.3.1');
    await stage.apply({ listeners: [first] });
    await goes.closed;
    assert.ok(await echoed(stays, 'still here'));
    const refused = once(connect({ ...stage.at, port: other }), 'error') as Promise<[NodeJS.ErrnoException]>;
    assert.equal((await refused)[0].code, 'ECONNREFUSED');
  });

  it('lab/C18: end connections of a listener that leads elsewhere, and go on listening', async () => {
    await using stage = await Stage.ready(1);
    await using elsewhere = await Backend.listen(echoServer('elsewhere'), { host: '127.9.3.1', port: 0 });
    const client = await stage.client();
    await stage.apply({ listeners: [{ port: stage.at.port, targetPort: elsewhere.port }] });
    await client.closed;
    assert.equal((await stage.client()).greeting, 'elsewhere');
  });

  it('lab/C18: go on as before when a port cannot be had', async () => {
    await using stage = await Stage.ready(1);
    await using other = createServer();
    other.listen(0, '127.9.128.1');
    await once(other, 'listening');
    const told = other.address();
    assert.ok(told !== null && typeof told === 'object');
    const free = await freePort('127.9.128.1');
    const client = await stage.client();
    const listeners = [free, told.port].map((port) => ({ port, targetPort: stage.targetPort }));
    await assert.rejects(stage.apply({ listeners }), { code: 'EADDRINUSE' });
    assert.ok(await echoed(client, 'still here'));
    assert.equal((await stage.client()).greeting, '10.9.3.1');
    const refused = once(connect({ ...stage.at, port: free }), 'error') as Promise<[NodeJS.ErrnoException]>;
    assert.equal((await refused)[0].code, 'ECONNREFUSED');
  });

  it('lab/C18: are gone with all connections when removed', async () => {
    await using stage = await Stage.ready(1);
    const client = await stage.client();
    await stage.world.balancers.remove('lb');
    await stage.world.balancers.remove('lb');
    await client.closed;
    assert.equal(stage.world.balancers.status('lb'), undefined);
    assert.equal((await stage.client()).greeting, undefined);
    assert.equal(stage.world.clock.nextDueMs, undefined);
  });
});

/** Sockets of a server that only listens, in the order they come. */
function listener(): { readonly server: ReturnType<typeof createServer>; readonly heard: Buffer[] } {
  const heard: Buffer[] = [];
  const server = createServer((socket: Socket) => {
    const chunks: Buffer[] = [];
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => chunks.push(bytes));
    socket.once('close', () => heard.push(Buffer.concat(chunks)));
  });
  return { server, heard };
}

interface Header {
  readonly from: string;
  readonly to: string;
  readonly rest: string;
}

/** What a receiver that knows only the specification of the PROXY protocol makes of the first bytes. */
function parsedHeader(bytes: Buffer): Header {
  const text = bytes.toString('latin1');
  if (!text.startsWith('PROXY ')) return parsedBinaryHeader(bytes);
  const end = text.indexOf('\r\n');
  const words = text.slice(0, end).split(' ');
  const rest = text.slice(end + 2);
  if (words[1] === 'UNKNOWN') return { from: 'own', to: 'own', rest };
  assert.deepEqual([words[1], words.length], ['TCP4', 6]);
  return { from: `${words[2]}:${words[4]}`, to: `${words[3]}:${words[5]}`, rest };
}

function parsedBinaryHeader(bytes: Buffer): Header {
  assert.ok(bytes.toString('latin1').startsWith('\r\n\r\n\0\r\nQUIT\n'), 'begins with the signature');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [command, family, length] = [view.getUint8(12), view.getUint8(13), view.getUint16(14)];
  const rest = bytes.toString('latin1', 16 + length);
  assert.equal(command >> 4, 2, 'is version 2');
  if ((command & 0xf) === 0) return { from: 'own', to: 'own', rest };
  assert.deepEqual([command & 0xf, family, length], [1, 0x11, 12]);
  const address = (at: number) => [0, 1, 2, 3].map((byte) => view.getUint8(at + byte)).join('.');
  return { from: `${address(16)}:${view.getUint16(24)}`, to: `${address(20)}:${view.getUint16(26)}`, rest };
}

describe('load balancers that tell who the client is', () => {
  for (const proxyProtocol of ['v1', 'v2'] as const)
    it(`lab/C17: begin with it (${proxyProtocol}), also when the client says nothing`, async () => {
      const { server, heard } = listener();
      await using world = await BalancerWorld.start();
      await using backend = await Backend.listen(server, { host: '127.9.8.1', port: 0 });
      const at = { host: '127.9.128.3', port: await freePort('127.9.128.3') };
      const listeners = [{ port: at.port, targetPort: backend.port, proxyProtocol }];
      await world.applyAndCheck('lb', balancerConfig({ address: '10.9.128.3', listeners, targets: ['10.9.8.1'] }));
      await until(() => heard.length === 2, 'two health checks are over', 5000);
      assert.deepEqual(heard.splice(0).map(parsedHeader), Array(2).fill({ from: 'own', to: 'own', rest: '' }));
      const sources: string[] = [];
      for (const text of ['', 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nforged']) {
        const socket = connect({ ...at, localAddress: '127.9.5.7' });
        await once(socket, 'connect');
        sources.push(`127.9.5.7:${socket.localPort}`);
        socket.end(text);
        socket.resume();
        await once(socket, 'close');
      }
      await until(() => heard.length === 2, 'both clients are over', 5000);
      assert.deepEqual(heard.map(parsedHeader), [
        { from: sources[0], to: `127.9.128.3:${at.port}`, rest: '' },
        { from: sources[1], to: `127.9.128.3:${at.port}`, rest: 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nforged' },
      ]);
    });

  it('lab/C17: say nothing of it to the port of health checks', async () => {
    const { server, heard } = listener();
    await using world = await BalancerWorld.start();
    await using backend = await Backend.listen(server, { host: '127.9.8.2', port: 0 });
    const port = await freePort('127.9.128.4');
    const config = balancerConfig({
      address: '10.9.128.4',
      listeners: [{ port, targetPort: backend.port + 1, proxyProtocol: 'v2' }],
      targets: ['10.9.8.2'],
    });
    const healthCheck = { ...config.healthCheck, port: backend.port };
    await world.applyAndCheck('lb', { ...config, healthCheck });
    assert.equal(world.balancers.status('lb')?.targets[0]?.isHealthy, true);
    await until(() => heard.length === 2, 'two health checks are over', 5000);
    assert.deepEqual(heard.map(String), ['', '']);
  });
});
