import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory, until } from '../../../../test/support/scratch.ts';
import { VirtualClock } from '../../../base/clock.ts';
import type { Boot, BootedInstance } from '../boot.ts';

/** Nodes that are only noted. */
class NotedBoot implements Boot {
  readonly calls: string[] = [];
  readonly booted: BootedInstance[] = [];
  /** What a node prints when it starts. */
  greeting = 'node is up';
  #node = 0;
  #starting = Promise.resolve();

  takeAddress() {
    const node = ++this.#node;
    return { privateAddress: `10.77.1.${node}`, publicAddress: `127.77.1.${node}` };
  }

  async powerOn(instance: BootedInstance, print: (line: string) => void): Promise<void> {
    this.calls.push(`on ${instance.id}`);
    this.booted.push(instance);
    await this.#starting;
    print(this.greeting);
  }

  async powerOff(id: string): Promise<void> {
    this.calls.push(`off ${id}`);
  }

  release(id: string, address: string): void {
    this.calls.push(`release ${id} ${address}`);
  }

  rootOf(): undefined {
    return undefined;
  }

  /** From now on nodes need as long as they are let. */
  pause(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#starting = promise;
    return resolve;
  }
}

const userData = Buffer.from('{"ignition":{}}').toString('base64');
const instance = { name: 'w-1', type: 'lab.small', zone: 'b', userData, tags: { cluster: 'c1' } };
const act = (world: CloudWorld, id: string, action: string) =>
  world.ask('POST', `/v1/instances/${id}/actions`, { body: { action } });
const consoleOf = async (world: CloudWorld, id: string): Promise<string> =>
  (await world.ask('GET', `/v1/instances/${id}/console`)).text;

describe('instances that become nodes', () => {
  it('lab/C14: get power when they are running, with everything the node has to know', async () => {
    const boot = new NotedBoot();
    await using world = await cloudWorld({ boot });
    const id = await world.make('instances', instance);
    assert.deepEqual(boot.calls, []);
    await world.pass(3000);
    assert.deepEqual(boot.booted, [
      {
        id,
        name: 'w-1',
        zone: 'b',
        providerId: `lab://b/${id}`,
        privateAddress: '10.77.1.1',
        hostname: 'w-1.b.lab.internal',
        userData: '{"ignition":{}}',
        tags: { cluster: 'c1' },
      },
    ]);
    const seen = await world.look('instances', id);
    assert.deepEqual([seen['privateAddress'], seen['publicAddress']], ['10.77.1.1', '127.77.1.1']);
  });

  it('lab/C14: lose power when they are stopped, rebooted or terminated, and their address at the end', async () => {
    const boot = new NotedBoot();
    await using world = await cloudWorld({ boot });
    const id = await world.make('instances', instance);
    await world.pass(3000);
    await act(world, id, 'reboot');
    await world.pass(2000);
    await act(world, id, 'stop');
    await world.pass(2000);
    await act(world, id, 'start');
    await world.pass(2000);
    await world.ask('DELETE', `/v1/instances/${id}`);
    await world.pass(2000);
    const power = ['on', 'off', 'on', 'off', 'on', 'off'].map((what) => `${what} ${id}`);
    assert.deepEqual(boot.calls, [...power, `release ${id} 10.77.1.1`]);
  });

  it('lab/C14: that never ran are released without power', async () => {
    const boot = new NotedBoot();
    await using world = await cloudWorld({ boot });
    const id = await world.make('instances', instance);
    await world.ask('DELETE', `/v1/instances/${id}`);
    await world.pass(5000);
    assert.deepEqual(boot.calls, [`release ${id} 10.77.1.1`]);
  });

  it('lab/C14: lose power at once while they still start', async () => {
    const boot = new NotedBoot();
    const start = boot.pause();
    await using world = await cloudWorld({ boot });
    const id = await world.make('instances', instance);
    await world.pass(3000);
    await world.ask('DELETE', `/v1/instances/${id}`);
    assert.deepEqual(boot.calls, [`on ${id}`, `off ${id}`]);
    start();
    await world.pass(2000);
    assert.equal((await world.look('instances', id))['state'], 'terminated');
    assert.equal(boot.calls.at(-1), `release ${id} 10.77.1.1`);
  });

  it('lab/C14: end even when their node never answers', async () => {
    const boot = new NotedBoot();
    boot.pause();
    const real = new VirtualClock();
    await using world = await cloudWorld({ boot, real });
    const id = await world.make('instances', instance);
    await world.pass(3000);
    await world.ask('DELETE', `/v1/instances/${id}`);
    await world.clock.advance(2000);
    await real.advance(30_000);
    await until(
      () => world.cloud.state.get({ plural: 'instances' }, id)?.state === 'terminated',
      'it is terminated',
    );
  });

  it('lab/C14: have a console with the lines of the boot and those of the node', async () => {
    const boot = new NotedBoot();
    boot.greeting = 'kubelet started\nregistered as w-1';
    await using world = await cloudWorld({ boot });
    const id = await world.make('instances', instance);
    assert.deepEqual(JSON.parse(await consoleOf(world, id)), { lines: [] });
    await world.pass(3000);
    assert.deepEqual(JSON.parse(await consoleOf(world, id)).lines, [
      '2030-01-01T00:00:03.000Z power on: lab.small in zone b, image none',
      '2030-01-01T00:00:03.000Z user data: 15 bytes',
      '2030-01-01T00:00:03.000Z kubelet started',
      '2030-01-01T00:00:03.000Z registered as w-1',
    ]);
    await act(world, id, 'stop');
    assert.match(await consoleOf(world, id), /power off/);
  });

  it('lab/C14: keep the last lines of their console, not all', async () => {
    const boot = new NotedBoot();
    boot.greeting = Array.from({ length: 2000 }, (_, n) => `line ${n}`).join('\n');
    await using world = await cloudWorld({ boot });
    const id = await world.make('instances', instance);
    await world.pass(3000);
    const { lines } = JSON.parse(await consoleOf(world, id));
    assert.equal(lines.length, 500);
    assert.match(lines.at(-1), /line 1999$/);
  });

  it('lab/C14: with user data that is no text boot nothing, and the console says why', async () => {
    const boot = new NotedBoot();
    await using world = await cloudWorld({ boot });
    const id = await world.make('instances', {
      ...instance,
      userData: Buffer.from([0xff, 0xfe]).toString('base64'),
    });
    await world.pass(3000);
    assert.deepEqual(boot.calls, []);
    assert.match(await consoleOf(world, id), /user data is not UTF-8 text: nothing is booted/);
    assert.equal((await world.look('instances', id))['state'], 'running', 'the machine runs, as a real one would');
  });

  it('lab/C14: whose user data the node cannot read say so on the console', async () => {
    const boot = new NotedBoot();
    boot.greeting = 'user data cannot be parsed: expected ignition; nothing is booted';
    await using world = await cloudWorld({ boot });
    const id = await world.make('instances', {
      ...instance,
      userData: Buffer.from('nonsense').toString('base64'),
    });
    await world.pass(3000);
    assert.match(await consoleOf(world, id), /user data cannot be parsed/);
  });

  it('lab/C14: that ran get power again after a restart, and no address of theirs is given twice', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path, boot: new NotedBoot() });
    const id = await first.make('instances', instance);
    await first.pass(3000);
    await first[Symbol.asyncDispose]();
    const boot = new NotedBoot();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock, boot });
    await second.pass(1);
    assert.deepEqual(boot.calls, [`on ${id}`]);
    const other = await second.look('instances', await second.make('instances', instance));
    assert.notEqual(other['privateAddress'], (await second.look('instances', id))['privateAddress']);
  });
});
