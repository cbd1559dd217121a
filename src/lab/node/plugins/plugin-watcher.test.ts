import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { HastyClock } from '../../../../test/support/hasty-clock.ts';
import { until } from '../../../../test/support/scratch.ts';
import { shortDirectory } from '../../../../test/support/short-directory.ts';
import { SystemClock, VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { PluginRegistration } from '../../../rpc/kubelet/plugin-registration.ts';
import type { Handlers } from '../../../rpc/rpc-service.ts';
import { served, serveRpc } from '../../../rpc/serve-rpc.ts';
import { PLUGIN_REGISTRY } from './node-sockets.ts';
import type { Plugin, PluginHandler } from './plugin-handler.ts';
import { startPluginWatcher } from './plugin-watcher.ts';

interface RigOptions {
  readonly refuses?: string;
  readonly failures?: readonly string[];
}

async function rig({ refuses, failures = [] }: RigOptions = {}) {
  const stack = new AsyncDisposableStack();
  const root = stack.use(await shortDirectory()).path;
  const registry = join(root, PLUGIN_REGISTRY);
  const [clock, real] = [new VirtualClock(), new HastyClock()];
  const told: string[] = [];
  const left = [...failures];
  const handler: PluginHandler = {
    problem: () => refuses,
    register: async ({ name, endpoint, versions }: Plugin) => {
      const failure = left.shift();
      if (failure !== undefined) throw new Error(failure);
      told.push(`+${name} ${endpoint.replace(root, '')} ${versions.join()}`);
    },
    deregister: async ({ name }) => void told.push(`-${name}`),
  };
  const start = async () => {
    const watcher = await startPluginWatcher({
      root,
      handlers: { CSIPlugin: handler },
      clock,
      real,
      log: SILENT_LOG,
    });
    return stack.use(watcher);
  };
  return { root, registry, clock, real, told, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

type Info = { type?: string; name?: string; endpoint?: string; supportedVersions?: readonly string[] };

/** A plugin that serves its registration, and remembers what it was told. */
async function plugin(socket: string, info: Info = {}, more: Handlers<typeof PluginRegistration> = {}) {
  await mkdir(dirname(socket), { recursive: true });
  const told: string[] = [];
  const handlers: Handlers<typeof PluginRegistration> = {
    getInfo: () => ({ type: 'CSIPlugin', name: 'p', supportedVersions: ['1.0.0'], ...info }),
    notifyRegistrationStatus: ({ pluginRegistered, error }) => {
      told.push(pluginRegistered ? 'registered' : error);
      return {};
    },
    ...more,
  };
  const server = await serveRpc({
    address: { socket },
    services: [served(PluginRegistration, handlers)],
    clock: new SystemClock(),
    graceMs: 50,
  });
  return { told, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe('the plugin watcher', () => {
  it('lab/N33: registers plugins that are there and that come, at any depth, and tells them so', async () => {
    await using one = await rig();
    await using early = await plugin(join(one.registry, 'early-reg.sock'), { name: 'early' });
    await one.start();
    await until(() => early.told.length === 1, 'the early plugin is told');
    await using late = await plugin(join(one.registry, 'a/b/late.sock'), {
      name: 'late',
      endpoint: '/var/lib/kubelet/plugins/late/csi.sock',
      supportedVersions: ['1.0.0', '1.2.0'],
    });
    await until(() => late.told.length === 1, 'the late plugin is told');
    assert.deepEqual(one.told, [
      '+early /var/lib/kubelet/plugins_registry/early-reg.sock 1.0.0',
      '+late /var/lib/kubelet/plugins/late/csi.sock 1.0.0,1.2.0',
    ]);
    assert.deepEqual([...early.told, ...late.told], ['registered', 'registered']);
  });

  it('lab/N33: de-registers a plugin whose socket is removed, with its directory too', async () => {
    await using one = await rig();
    await using a = await plugin(join(one.registry, 'a.sock'), { name: 'a' });
    await using b = await plugin(join(one.registry, 'sub/b.sock'), { name: 'b' });
    await one.start();
    await until(() => a.told.length + b.told.length === 2, 'both are told');
    one.told.length = 0;
    await a[Symbol.asyncDispose]();
    await until(() => one.told.length === 1, 'the first is gone');
    await rm(join(one.registry, 'sub'), { recursive: true });
    await until(() => one.told.length === 2, 'the second is gone');
    assert.deepEqual(one.told, ['-a', '-b']);
  });

  it('lab/N33: registers a plugin anew that made its socket anew', async () => {
    await using one = await rig();
    const socket = join(one.registry, 'sub/a.sock');
    const first = await plugin(socket, { name: 'first' });
    await one.start();
    await until(() => first.told.length === 1, 'the first is told');
    // At once, as a restarted program does it: directory and all.
    await rm(dirname(socket), { recursive: true });
    await using second = await plugin(socket, { name: 'second' });
    await until(() => second.told.length === 1, 'the second is told');
    await first[Symbol.asyncDispose]();
    assert.deepEqual(
      one.told.map((line) => line.split(' ', 1)[0]),
      ['+first', '-first', '+second'],
    );
  });

  it('lab/N33: leaves everything alone that is no socket, and what begins with a dot', async () => {
    await using one = await rig();
    await using hidden = await plugin(join(one.registry, '.hidden.sock'));
    await using within = await plugin(join(one.registry, '.dir/x.sock'));
    await writeFile(join(one.registry, 'file.sock'), '');
    await one.start();
    await using seen = await plugin(join(one.registry, 'z.sock'));
    await until(() => seen.told.length === 1, 'the last one is told');
    assert.deepEqual([...hidden.told, ...within.told], []);
    assert.equal(one.told.length, 1);
  });

  it('lab/N33: tells a plugin why it is not taken', async () => {
    const versions = 'manager version, v1, is not among plugin supported versions [v0]';
    await using one = await rig({ refuses: versions });
    const foreign = join(one.registry, 'f.sock');
    await using dra = await plugin(foreign, { type: 'DRAPlugin' });
    await using odd = await plugin(join(one.registry, 'o.sock'), { type: 'toString' });
    await using old = await plugin(join(one.registry, 'v.sock'), { supportedVersions: ['v0'] });
    await one.start();
    await until(() => dra.told.length + odd.told.length + old.told.length === 3, 'all are told');
    assert.deepEqual(dra.told, [
      `RegisterPlugin error -- no handler registered for plugin type: DRAPlugin at socket ${foreign}`,
    ]);
    assert.match(odd.told.join(), /no handler registered for plugin type: toString/);
    assert.deepEqual(old.told, [`RegisterPlugin error -- plugin validation failed with err: ${versions}`]);
    assert.deepEqual(one.told, []);
  });

  it('lab/N33: asks again after a failure, less and less often, by lab time', async () => {
    await using one = await rig({ failures: ['not yet', 'not yet', 'still not'] });
    await using slow = await plugin(join(one.registry, 'a.sock'));
    await one.start();
    const attempt = async (count: number, advanceMs: number) => {
      await one.clock.advance(advanceMs - 1);
      assert.equal(slow.told.length, count - 1);
      await one.clock.advance(1);
      await until(() => slow.told.length === count, `it is told ${count} times`);
      // Whoever waits for lab time does so a moment after it was told.
      await until(() => one.clock.nextDueMs !== undefined && one.clock.nextDueMs < 20_000, 'it waits');
    };
    await until(() => slow.told.length === 1, 'it is told once');
    await until(() => (one.clock.nextDueMs ?? 20_000) < 20_000, 'it waits');
    await attempt(2, 500);
    await attempt(3, 1000);
    await one.clock.advance(2000);
    await until(() => slow.told.length === 4, 'it is registered');
    assert.deepEqual(slow.told, [
      'RegisterPlugin error -- plugin registration failed with err: not yet',
      'RegisterPlugin error -- plugin registration failed with err: not yet',
      'RegisterPlugin error -- plugin registration failed with err: still not',
      'registered',
    ]);
  });

  it('lab/N33: gives a plugin 10 s to be there, 1 s to say who it is and 5 s to listen', async () => {
    await using one = await rig();
    const lines: string[] = [];
    const log = { ...SILENT_LOG, warn: ({ err }: { err?: unknown }) => void lines.push(String(err)) };
    const watch = () =>
      startPluginWatcher({
        root: one.root,
        handlers: {
          CSIPlugin: { problem: () => undefined, register: async () => {}, deregister: async () => {} },
        },
        clock: one.clock,
        real: one.real,
        log,
      });
    const socket = join(one.registry, 'a.sock');
    const failure = async (want: RegExp) => {
      await using _watcher = await watch();
      await until(() => lines.length > 0, `${want}`);
      assert.match(lines.splice(0).join(), want);
    };
    await mkdir(one.registry, { recursive: true });
    // Listens, and never says a word.
    const deaf = createServer((connection) => connection.on('error', () => {}).resume()).listen(socket);
    one.real.hasteMs = 9950;
    await failure(/dial failed at socket .*a\.sock, err: .*within 10000 ms/);
    await new Promise((resolve) => deaf.close(resolve));
    {
      one.real.hasteMs = 950;
      await using _mute = await plugin(socket, {}, { getInfo: () => new Promise(() => {}) });
      await failure(/GetInfo at socket .*a\.sock, err: rpc error: code = DeadlineExceeded/);
    }
    const hurried = { getInfo: () => ((one.real.hasteMs = 4950), { type: 'CSIPlugin', name: 'p' }) };
    one.real.hasteMs = 0;
    await using _rude = await plugin(
      socket,
      {},
      { ...hurried, notifyRegistrationStatus: () => new Promise(() => {}) },
    );
    await failure(/failed to send registration status at socket .*, err: rpc error: code = DeadlineExceeded/);
  });

  it('lab/N33: takes back a registration that the plugin could not be told of', async () => {
    await using one = await rig();
    await using rude = await plugin(
      join(one.registry, 'a.sock'),
      {},
      {
        notifyRegistrationStatus: () => {
          throw new Error('what?');
        },
      },
    );
    await one.start();
    await until(() => one.told.length === 2, 'it is taken back');
    assert.deepEqual(
      one.told.map((line) => line.split(' ', 1)[0]),
      ['+p', '-p'],
    );
    assert.deepEqual(rude.told, []);
  });

  it('lab/N33: keeps what is registered when the node ends, and registers it again at the next start', async () => {
    await using one = await rig();
    await using kept = await plugin(join(one.registry, 'a.sock'));
    const watcher = await one.start();
    await until(() => kept.told.length === 1, 'it is told');
    await watcher[Symbol.asyncDispose]();
    await one.start();
    await until(() => kept.told.length === 2, 'it is told again');
    assert.deepEqual(
      one.told.map((line) => line.split(' ', 1)[0]),
      ['+p', '+p'],
    );
  });

  it('lab/N34: does not start where sockets would not fit', async () => {
    await using directory = await shortDirectory();
    const root = join(directory.path, 'x'.repeat(60));
    const starting = startPluginWatcher({
      root,
      handlers: {},
      clock: new VirtualClock(),
      real: new SystemClock(),
      log: SILENT_LOG,
    });
    await assert.rejects(starting, { reason: 'NodeRootTooLong', message: /at most 107/ });
  });
});
