import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type PretendDriverOptions, pretendCsiDriver } from '../../../../test/support/pretend-csi-driver.ts';
import { until } from '../../../../test/support/scratch.ts';
import { shortDirectory } from '../../../../test/support/short-directory.ts';
import { SystemClock, VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { startPluginWatcher } from '../plugins/plugin-watcher.ts';
import { DriverStore } from './driver-store.ts';

const real = new SystemClock();

async function rig(options: PretendDriverOptions = {}) {
  const stack = new AsyncDisposableStack();
  const root = stack.use(await shortDirectory()).path;
  const store = new DriverStore({ real, log: SILENT_LOG });
  const driver = stack.use(await pretendCsiDriver(root, options));
  const plugin = { type: 'CSIPlugin', name: driver.name, endpoint: driver.endpoint, versions: ['1.0.0'] };
  return { root, store, driver, plugin, stack, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const soon = () => AbortSignal.timeout(20_000);

describe('CSI drivers of a node', () => {
  it('lab/N36: register through the registry and are asked what they call the node', async () => {
    await using one = await rig({ nodeId: 'i-42', maxVolumes: 25n, topology: { 'topology.acme/zone': 'a' } });
    let changes = 0;
    using _subscription = one.store.subscribe(() => void changes++);
    one.stack.use(
      await startPluginWatcher({
        root: one.root,
        handlers: { CSIPlugin: one.store },
        clock: new VirtualClock(),
        real,
        log: SILENT_LOG,
      }),
    );
    await one.driver.announce();
    await until(() => changes === 1, 'the driver is registered');
    assert.deepEqual(one.store.registered, [
      {
        name: one.driver.name,
        endpoint: join(one.root, `var/lib/kubelet/plugins/${one.driver.name}/csi.sock`),
        version: [1, 0, 0],
        nodeId: 'i-42',
        topology: { 'topology.acme/zone': 'a' },
        maxVolumes: 25n,
      },
    ]);
    await one.driver[Symbol.asyncDispose]();
    await until(() => changes === 2, 'the driver is gone');
    assert.deepEqual([one.store.registered, [...one.store.gone]], [[], [one.driver.name]]);
  });

  for (const { name, versions, want } of [
    { name: 'no version', versions: [], want: /Plugin returned an empty list for supported versions/ },
    {
      name: 'a version of the future',
      versions: ['2.0.0'],
      want: /None of the versions specified \["2\.0\.0"\] are supported/,
    },
    { name: 'a version of the past', versions: ['0.3.0'], want: /None of the versions/ },
    { name: 'no version at all', versions: ['one', '1x'], want: /None of the versions/ },
    { name: 'one that is known among others', versions: ['0.3.0', '1.2.0', '2.0.0'], want: undefined },
    { name: 'a short one', versions: ['v1'], want: undefined },
  ]) {
    it(`lab/N33: are ${want === undefined ? 'taken' : 'refused'} with ${name}`, async () => {
      const store = new DriverStore({ real, log: SILENT_LOG });
      const problem = store.problem({ type: 'CSIPlugin', name: 'd', endpoint: '/x', versions });
      if (want === undefined) assert.equal(problem, undefined);
      else assert.match(problem ?? '', want);
    });
  }

  it('lab/N33: give way to a newer version of themselves only', async () => {
    await using one = await rig();
    const { store, plugin } = one;
    await store.register({ ...plugin, versions: ['1.0.0', '1.10.0'] }, soon());
    for (const versions of [['1.9.0'], ['1.10.0']]) {
      assert.match(
        store.problem({ ...plugin, versions }) ?? '',
        /already registered with a higher supported version: "1\.10\.0"/,
      );
    }
    assert.equal(store.problem({ ...plugin, versions: ['1.11.0'] }), undefined);
    // The socket of the one before goes: the newer one stays.
    await store.deregister({ ...plugin, endpoint: '/elsewhere' });
    assert.equal(store.registered.length, 1);
    await store.deregister(plugin);
    assert.deepEqual(store.registered, []);
    await store.register(plugin, soon());
    assert.deepEqual([...store.gone], []);
  });

  it('lab/N36: are refused when they cannot say what they call the node', async () => {
    await using mute = await rig({ nodeId: '' });
    await assert.rejects(mute.store.register(mute.plugin, soon()), {
      message: /does not say what it calls this node/,
    });
    await using broken = await rig({
      handlers: {
        nodeGetInfo: () => {
          throw new Error('metadata service is away');
        },
      },
    });
    await assert.rejects(broken.store.register(broken.plugin, soon()), { message: /metadata service is away/ });
    assert.deepEqual(broken.store.registered, []);
  });
});
