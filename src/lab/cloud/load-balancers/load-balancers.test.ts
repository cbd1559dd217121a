import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import {
  Backend,
  balancerNetwork,
  echoServer,
  freePort,
  greeted,
} from '../../../../test/support/balancer-world.ts';
import {
  type Body,
  type CloudWorld,
  type CloudWorldOptions,
  cloudWorld,
  pretendAddresses,
} from '../../../../test/support/cloud-world.ts';
import { scratchDirectory, until } from '../../../../test/support/scratch.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { listening } from '../../address/listening.ts';
import { loadBalancers } from './load-balancers.ts';

const network = { ...balancerNetwork, owns: (address: string) => /^(10|127)\.9\./.test(address) };

/** A cloud with load balancers that really listen. */
class BalancedWorld implements AsyncDisposable {
  readonly world: CloudWorld;
  readonly #holds: Set<object>;

  private constructor(world: CloudWorld, holds: Set<object>) {
    this.world = world;
    this.#holds = holds;
  }

  static async open(options: CloudWorldOptions = {}): Promise<BalancedWorld> {
    const holds = new Set<object>();
    const hold = () => {
      const held = { [Symbol.dispose]: () => void holds.delete(held) };
      holds.add(held);
      return held;
    };
    const kinds = [loadBalancers({ network, hold })];
    return new BalancedWorld(await cloudWorld({ addresses: pretendAddresses(9), ...options, kinds }), holds);
  }

  /** Lets time pass, with all health checks. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await this.world.pass(1000);
      await until(() => this.#holds.size === 0, 'no health check is under way', 10_000);
    }
  }

  async tried(method: string, path: string, body?: Body): Promise<string> {
    const { status, error } = await this.world.ask(method, path, body === undefined ? {} : { body });
    const { code } = error;
    return typeof code === 'string' ? `${status} ${code}` : String(status);
  }

  /** Who answers at a port of the balancer. */
  async served(id: string, port: number): Promise<string | undefined> {
    const { address } = await this.world.look('load-balancers', id);
    const { socket, greeting } = await greeted({ host: String(address), port });
    socket.destroy();
    return greeting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}

const HOST = '127.9.20.1';
const target = { address: '10.9.20.1' };

/** A balancer that listened, and was told to listen where somebody else does. */
async function spoiledBalancer(cloud: BalancedWorld) {
  await using stack = new AsyncDisposableStack();
  const backend = stack.use(await Backend.listen(echoServer('one'), { host: HOST, port: 0 }));
  const port = await freePort('127.9.128.1');
  const listeners = [{ port, targetPort: backend.port }];
  const body = { name: 'web', failOpen: true, listeners, targets: [target] };
  const id = await cloud.world.make('load-balancers', body);
  await cloud.pass(3);
  const other = stack.use(createServer());
  const taken = await freePort('127.9.128.1');
  await listening(other, { host: '127.9.128.1', port: taken });
  const wrong = [{ port: taken, targetPort: backend.port }];
  assert.equal(await cloud.tried('PATCH', `/v1/load-balancers/${id}`, { listeners: wrong }), '202');
  const kept = stack.move();
  return { id, listeners, port, other, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

const listeners = [{ port: 80, targetPort: 30080 }];

describe('load balancers of the cloud', () => {
  it('lab/C15: are provisioned, get an address, and serve clients from healthy instances', async () => {
    await using cloud = await BalancedWorld.open();
    const { world } = cloud;
    const instanceId = await world.make('instances', { name: 'w-1', type: 'lab.small', zone: 'a' });
    await cloud.pass(3);
    const host = String((await world.look('instances', instanceId))['privateAddress']).replace('10.', '127.');
    await using backend = await Backend.listen(echoServer('w-1'), { host, port: 0 });
    const port = await freePort('127.9.128.1');
    const id = await world.make('load-balancers', {
      name: 'web',
      listeners: [{ port, targetPort: backend.port }],
      targets: [{ instanceId }],
    });
    assert.match(id, /^lb-/);
    const created = await world.look('load-balancers', id);
    assert.deepEqual(
      [created['state'], created['address'], created['targetHealth']],
      ['provisioning', undefined, []],
    );
    assert.deepEqual(created['healthCheck'], {
      protocol: 'tcp',
      path: '/',
      intervalSeconds: 5,
      timeoutSeconds: 2,
      healthyThreshold: 2,
      unhealthyThreshold: 2,
    });
    await cloud.pass(3);
    const active = await world.look('load-balancers', id);
    assert.deepEqual(
      [active['state'], active['address'], active['apiAddress']],
      ['active', '127.9.128.1', '10.9.128.1'],
    );
    assert.deepEqual(active['targetHealth'], [{ target: instanceId, port, healthy: false }]);
    await cloud.pass(5);
    assert.equal(await cloud.served(id, port), 'w-1');
    await world.ask('DELETE', `/v1/instances/${instanceId}`);
    await cloud.pass(10);
    assert.equal(await cloud.served(id, port), undefined);
    assert.deepEqual((await world.look('load-balancers', id))['targetHealth'], [
      { target: instanceId, port, healthy: false, reason: `${instanceId} has no address` },
    ]);
  });

  it('lab/C18: change only after their time, keep what stays, and refuse two changes at once', async () => {
    await using cloud = await BalancedWorld.open();
    const { world } = cloud;
    await using backend = await Backend.listen(echoServer('one'), { host: HOST, port: 0 });
    await using other = await Backend.listen(echoServer('two'), { host: HOST, port: 0 });
    const [first, second] = [await freePort('127.9.128.1'), await freePort('127.9.128.1')];
    const kept = { port: first, targetPort: backend.port };
    const id = await world.make('load-balancers', { name: 'web', listeners: [kept], targets: [target] });
    const path = `/v1/load-balancers/${id}`;
    const early = await world.ask('PATCH', path, { body: { failOpen: true } });
    assert.deepEqual([early.error['code'], early.error['retryable']], ['IncorrectState', true]);
    await cloud.pass(8);
    const client = await greeted({ host: '127.9.128.1', port: first });
    const more = [kept, { port: second, targetPort: other.port }];
    assert.equal(await cloud.tried('PATCH', path, { listeners: more }), '202');
    assert.equal((await world.look('load-balancers', id))['state'], 'updating');
    assert.equal(await cloud.served(id, second), undefined);
    await cloud.pass(6);
    assert.equal((await world.look('load-balancers', id))['state'], 'active');
    assert.deepEqual([await cloud.served(id, first), await cloud.served(id, second)], ['one', 'two']);
    assert.equal(client.socket.closed, false);
    assert.equal(await cloud.tried('PATCH', path, { tags: { a: 'b' }, name: 'shop' }), '200');
    assert.equal(await cloud.tried('PATCH', path, { scheme: 'internal' }), '400 InvalidArgument');
    assert.equal((await world.look('load-balancers', id))['state'], 'active');
    client.socket.destroy();
  });

  it('lab/C15: are deaf as soon as they are deleted, and give their address back at the end', async () => {
    const addresses = pretendAddresses(9);
    const released: string[] = [];
    const { balancers } = addresses;
    const pool = {
      take: () => balancers.take(),
      keep: (api: string) => balancers.keep(api),
      release: (api: string) => void released.push(api),
    };
    await using cloud = await BalancedWorld.open({ addresses: { ...addresses, balancers: pool } });
    await using backend = await Backend.listen(echoServer('one'), { host: HOST, port: 0 });
    const port = await freePort('127.9.128.1');
    const body = { name: 'web', listeners: [{ port, targetPort: backend.port }], targets: [target] };
    const id = await cloud.world.make('load-balancers', body);
    await cloud.pass(8);
    const client = await greeted({ host: '127.9.128.1', port });
    assert.equal(client.greeting, 'one');
    assert.equal(await cloud.tried('DELETE', `/v1/load-balancers/${id}`), '202');
    await client.closed;
    assert.deepEqual([await cloud.served(id, port), released], [undefined, []]);
    await cloud.pass(2);
    assert.equal(await cloud.tried('GET', `/v1/load-balancers/${id}`), '404 NotFound');
    assert.deepEqual(released, ['10.9.128.1']);
  });

  it('lab/C15: end in error with a reason when they cannot listen, and can be deleted', async () => {
    await using cloud = await BalancedWorld.open();
    await using other = createServer();
    const port = await freePort('127.9.128.1');
    await listening(other, { host: '127.9.128.1', port });
    const id = await cloud.world.make('load-balancers', { name: 'web', listeners: [{ port, targetPort: 80 }] });
    await cloud.pass(3);
    const { state, stateReason } = await cloud.world.look('load-balancers', id);
    assert.equal(state, 'error');
    const { code, message } = stateReason as { code: string; message: string };
    assert.equal(code, 'Unavailable');
    assert.match(message, /cannot listen: .*EADDRINUSE/);
    const refused = await cloud.world.ask('PATCH', `/v1/load-balancers/${id}`, { body: { failOpen: true } });
    assert.deepEqual([refused.error['code'], refused.error['retryable']], ['IncorrectState', false]);
    assert.equal(await cloud.tried('DELETE', `/v1/load-balancers/${id}`), '202');
    await cloud.pass(2);
    assert.equal(await cloud.tried('GET', `/v1/load-balancers/${id}`), '404 NotFound');
  });

  it('lab/C15: are not tried again at once when nothing takes time, but a second later', {
    timeout: 20_000,
  }, async () => {
    await using cloud = await BalancedWorld.open({ durations: 0 });
    await using spoiled = await spoiledBalancer(cloud);
    const { id, other } = spoiled;
    await cloud.world.pass(1);
    const first = await cloud.world.look('load-balancers', id);
    assert.equal(first['state'], 'error');
    await cloud.world.pass(900);
    assert.deepEqual(await cloud.world.look('load-balancers', id), first);
    await other[Symbol.asyncDispose]();
    await cloud.pass(1);
    assert.equal((await cloud.world.look('load-balancers', id))['state'], 'active');
  });

  it('lab/C18: that cannot listen since a change are mended by another change', async () => {
    await using cloud = await BalancedWorld.open();
    await using spoiled = await spoiledBalancer(cloud);
    const { id, listeners: before, port } = spoiled;
    const path = `/v1/load-balancers/${id}`;
    await cloud.pass(1);
    assert.equal((await cloud.world.look('load-balancers', id))['state'], 'error');
    assert.equal(await cloud.tried('PATCH', path, { listeners: before }), '202');
    const { state, stateReason } = await cloud.world.look('load-balancers', id);
    assert.deepEqual([state, stateReason], ['updating', undefined]);
    assert.equal(await cloud.tried('PATCH', path, { failOpen: false }), '409 IncorrectState');
    await cloud.pass(1);
    assert.equal((await cloud.world.look('load-balancers', id))['state'], 'active');
    assert.equal(await cloud.served(id, port), 'one');
    await cloud.pass(15);
    assert.equal((await cloud.world.look('load-balancers', id))['state'], 'active');
  });

  it('lab/C18: have names of their own', async () => {
    await using cloud = await BalancedWorld.open();
    await cloud.world.make('load-balancers', { name: 'web', listeners });
    assert.equal(await cloud.tried('POST', '/v1/load-balancers', { name: 'web', listeners }), '409 AlreadyExists');
  });

  it('lab/C15: that cannot listen after a restart say so, and are tried again until they can', async () => {
    await using directory = await scratchDirectory();
    await using backend = await Backend.listen(echoServer('one'), { host: HOST, port: 0 });
    const port = await freePort('127.9.128.1');
    const options = { directory: directory.path, clock: new VirtualClock() };
    const body = {
      name: 'web',
      failOpen: true,
      listeners: [{ port, targetPort: backend.port }],
      targets: [target],
    };
    let id = '';
    {
      await using cloud = await BalancedWorld.open(options);
      id = await cloud.world.make('load-balancers', body);
      await cloud.pass(3);
    }
    await using other = createServer();
    await listening(other, { host: '127.9.128.1', port });
    await using cloud = await BalancedWorld.open(options);
    for (const seconds of [0, 15, 15]) {
      await cloud.pass(seconds);
      const { state, stateReason } = await cloud.world.look('load-balancers', id);
      assert.match(
        `${String(state)} ${JSON.stringify(stateReason)}`,
        /^(error|updating) .*Unavailable.*EADDRINUSE/,
      );
    }
    await other[Symbol.asyncDispose]();
    await cloud.pass(15);
    const { state, stateReason, address } = await cloud.world.look('load-balancers', id);
    assert.deepEqual([state, stateReason, address], ['active', undefined, '127.9.128.1']);
    assert.equal(await cloud.served(id, port), 'one');
  });

  it('lab/C15: listen at the same address after a restart', async () => {
    await using directory = await scratchDirectory();
    await using backend = await Backend.listen(echoServer('one'), { host: HOST, port: 0 });
    const port = await freePort('127.9.128.1');
    const options = { directory: directory.path, clock: new VirtualClock() };
    const body = { name: 'web', listeners: [{ port, targetPort: backend.port }], targets: [target] };
    let id = '';
    {
      await using cloud = await BalancedWorld.open(options);
      id = await cloud.world.make('load-balancers', body);
      await cloud.pass(3);
      // In the middle of a change.
      await cloud.world.ask('PATCH', `/v1/load-balancers/${id}`, { body: { failOpen: true } });
    }
    await using cloud = await BalancedWorld.open(options);
    assert.equal(await cloud.served(id, port), 'one');
    await cloud.pass(1);
    assert.equal((await cloud.world.look('load-balancers', id))['state'], 'active');
    const second = await cloud.world.make('load-balancers', {
      name: 'more',
      listeners: [{ port, targetPort: 1 }],
    });
    await cloud.pass(3);
    assert.equal((await cloud.world.look('load-balancers', second))['address'], '127.9.128.2');
  });
});
