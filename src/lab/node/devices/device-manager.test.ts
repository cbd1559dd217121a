import assert from 'node:assert/strict';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HastyClock } from '../../../../test/support/hasty-clock.ts';
import {
  type PretendPluginOptions,
  pretendDevicePlugin,
  registerDevices,
} from '../../../../test/support/pretend-device-plugin.ts';
import { until } from '../../../../test/support/scratch.ts';
import { shortDirectory } from '../../../../test/support/short-directory.ts';
import type { Container, Node, Pod } from '../../../api/generated/core-v1-types.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { type DeviceManagerOptions, startDeviceManager } from './device-manager.ts';

const NPU = 'acme.example/npu';

async function rig(more: Partial<DeviceManagerOptions> = {}) {
  const stack = new AsyncDisposableStack();
  const root = stack.use(await shortDirectory()).path;
  const [clock, real] = [new VirtualClock(), new HastyClock()];
  const start = async () => stack.use(await startDeviceManager({ root, clock, real, log: SILENT_LOG, ...more }));
  const devices = await start();
  const plugin = async (options: PretendPluginOptions) => stack.use(await pretendDevicePlugin(root, options));
  /** Registered, and its devices are known. */
  const ready = async (options: PretendPluginOptions, manager = devices) => {
    const one = await plugin(options);
    await one.register();
    const { resource = NPU } = options;
    await until(() => manager.resources()[resource]?.capacity === options.devices.length, 'the devices are known');
    return one;
  };
  const amount = (manager = devices) => {
    const { [NPU]: found } = manager.resources();
    return found === undefined ? undefined : `${found.allocatable}/${found.capacity}`;
  };
  const seen = (want: string) => until(() => amount() === want, `${want} devices`);
  return {
    root,
    clock,
    real,
    devices,
    start,
    plugin,
    ready,
    amount,
    seen,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const container = (name: string, count: number, resource = NPU): Container => ({
  name,
  image: 'i',
  resources: {
    limits: { [resource]: String(count), cpu: '1' },
    requests: { [resource]: String(count), cpu: '1' },
  },
});

const pod = (uid: string, containers: readonly Container[], initContainers: readonly Container[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uid, namespace: 'default', uid },
  spec: { containers, initContainers },
});

const asking = (uid: string, count: number): Pod => pod(uid, [container('c', count)]);
const held = (
  manager: { assigned(uid: string, name: string): readonly { device: string }[] },
  uid: string,
  name = 'c',
) => manager.assigned(uid, name).map(({ device }) => device);

describe('registration of device plugins', () => {
  it('hardware/D1: dials back and asks for options before it answers, whatever the request says of them', async () => {
    await using one = await rig();
    const plugin = await one.ready({ devices: ['a', 'b', 'c!'] });
    // Case 12 of the specification.
    assert.equal(one.amount(), '2/3');
    assert.deepEqual(plugin.calls, []);
    one.real.hasteMs = 9900;
    await assert.rejects(registerDevices(one.root, { resource: 'acme.example/late', endpoint: 'late.sock' }), {
      code: 'UNKNOWN',
      details: /failed to dial device plugin with socketPath .*nobody answered at .*late\.sock within 10000 ms/,
    });
    one.real.hasteMs = 0;
    await one.plugin({ name: 'late.sock', resource: 'acme.example/late', devices: [] });
    await registerDevices(one.root, { resource: 'acme.example/late', endpoint: 'late.sock' });
  });

  it('lab/N33: serves kubelet.sock anew at every start, which is how plugins notice', async () => {
    await using one = await rig();
    await one.ready({ devices: ['a'] });
    await one.devices[Symbol.asyncDispose]();
    await assert.rejects(access(join(one.root, 'var/lib/kubelet/device-plugins/kubelet.sock')));
    const again = await one.start();
    const second = await one.ready({ devices: ['a'], name: 'again.sock' }, again);
    assert.deepEqual(second.calls, []);
  });

  it('hardware/D2: removes every socket of plugins at its start, and nothing else', async () => {
    await using one = await rig();
    const plugin = await one.ready({ devices: ['a'] });
    const directory = join(one.root, 'var/lib/kubelet/device-plugins');
    await mkdir(join(directory, 'kept'));
    await writeFile(join(directory, 'file'), 'kept');
    await one.devices[Symbol.asyncDispose]();
    await one.start();
    await assert.rejects(access(plugin.socket));
    await access(join(directory, 'kept'));
    assert.equal(await readFile(join(directory, 'file'), 'utf8'), 'kept');
  });

  for (const { name, announcement, want } of [
    {
      name: 'another version',
      announcement: { resource: NPU, endpoint: 'npu.sock', version: 'v1alpha' },
      want: 'requested API version "v1alpha" is not supported by kubelet. Supported version is "v1beta1"',
    },
    {
      name: 'a name that is no extended resource',
      announcement: { resource: 'requests.x/npu', endpoint: 'npu.sock' },
      want: /^the ResourceName "requests\.x\/npu" is invalid/,
    },
  ]) {
    it(`hardware/D9: refuses ${name}`, async () => {
      await using one = await rig();
      await one.plugin({ devices: ['a'] });
      await assert.rejects(registerDevices(one.root, announcement), { code: 'UNKNOWN', details: want });
      assert.deepEqual(one.devices.resources(), {});
    });
  }

  it('hardware/D9: refuses a plugin without options, and one that is connected already', async () => {
    await using one = await rig();
    const broken = {
      getDevicePluginOptions: () => {
        throw new Error('no idea');
      },
    };
    const bad = await one.plugin({ name: 'bad.sock', devices: [], handlers: broken });
    await assert.rejects(bad.register(), { details: /failed to get device plugin options: .*no idea/ });
    const good = await one.ready({ devices: ['a'] });
    await assert.rejects(good.register(), {
      details: `the plugin at ${good.socket} is already connected for ${NPU}`,
    });
    assert.equal(one.amount(), '1/1');
  });

  it('hardware/D9: connects a plugin once that registers twice at the same time', async () => {
    await using one = await rig();
    const plugin = await one.plugin({ devices: ['a'] });
    const results = await Promise.allSettled([plugin.register(), plugin.register()]);
    assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
    await one.seen('1/1');
  });

  it('hardware/D9: asks the newest of several, and the one before when that is gone', async () => {
    await using one = await rig();
    const old = await one.ready({ devices: ['a', 'b'], name: 'old.sock' });
    const fresh = await one.ready({ devices: ['a', 'b', 'c'], name: 'new.sock' });
    await one.seen('3/3');
    assert.equal(await one.devices.admit(asking('u1', 1)), undefined);
    assert.deepEqual([old.calls, fresh.calls], [[], ['allocate a']]);
    // What it says counts again when it is asked again.
    old.report(['a', 'b!']);
    await fresh[Symbol.asyncDispose]();
    await one.seen('1/2');
    await old[Symbol.asyncDispose]();
    await one.seen('0/2');
  });

  it('lab/N33: takes device plugins from the registry of the node, too', async () => {
    await using one = await rig();
    const { plugins } = one.devices;
    const { socket } = await one.plugin({ devices: ['a'] });
    const plugin = { type: 'DevicePlugin', name: NPU, endpoint: socket, versions: ['v1beta1'] };
    assert.equal(plugins.problem(plugin), undefined);
    assert.match(plugins.problem({ ...plugin, versions: ['v2'] }) ?? '', /"v2" is not supported/);
    assert.match(plugins.problem({ ...plugin, name: 'npu' }) ?? '', /"npu" is invalid/);
    await plugins.register(plugin, AbortSignal.timeout(20_000));
    await one.seen('1/1');
    await plugins.deregister(plugin);
    assert.equal(one.amount(), '0/1');
    await plugins.register(plugin, AbortSignal.timeout(20_000));
    await one.seen('1/1');
  });
});

describe('devices of a node', () => {
  it('hardware/D3: follow every list as a whole, and are unhealthy when the stream ends', async () => {
    await using one = await rig();
    let changes = 0;
    using _subscription = one.devices.subscribe(() => void changes++);
    const plugin = await one.ready({ devices: ['a', 'b'] });
    plugin.report(['b', 'c', 'd!']);
    await one.seen('2/3');
    assert.deepEqual(
      one.devices.healthy().map(({ device }) => device),
      ['b', 'c'],
    );
    const before = changes;
    await plugin[Symbol.asyncDispose]();
    await one.seen('0/3');
    assert.ok(changes > before);
  });

  it('hardware/D10: are capacity, healthy or not, and leave 5 min after their plugin', async () => {
    await using one = await rig();
    const plugin = await one.ready({ devices: ['a', 'b!'] });
    assert.deepEqual(one.devices.facts(), {
      capacity: { [NPU]: '2' },
      allocatable: { [NPU]: '1' },
      removedResources: [],
    });
    await plugin[Symbol.asyncDispose]();
    await one.seen('0/2');
    await one.clock.advance(5 * 60_000 - 1);
    assert.equal(one.amount(), '0/2');
    await one.clock.advance(1);
    assert.deepEqual(one.devices.facts(), { capacity: {}, allocatable: {}, removedResources: [NPU] });
    await one.ready({ devices: ['a'] });
    assert.deepEqual(one.devices.facts().removedResources, []);
    await one.clock.advance(10 * 60_000);
    assert.equal(one.amount(), '1/1');
  });

  it('hardware/D10: are never less for admission than what containers have', async () => {
    await using one = await rig();
    const node: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      spec: {},
      status: { allocatable: { cpu: '4', [NPU]: '0' } },
    };
    const plugin = await one.ready({ devices: ['a', 'b', 'c'] });
    await one.devices.admit(asking('u1', 2));
    plugin.report(['a!', 'b!', 'c']);
    await one.seen('1/3');
    assert.deepEqual(one.devices.nodeForAdmission(node).status?.allocatable, { cpu: '4', [NPU]: '2' });
    // hardware/D11: without a plugin the devices themselves say no.
    await plugin[Symbol.asyncDispose]();
    await one.seen('0/3');
    assert.deepEqual(one.devices.nodeForAdmission(node).status?.allocatable, { cpu: '4' });
  });

  it('hardware/D11: are remembered over a restart, and cannot be had before their plugin is back', async () => {
    await using one = await rig();
    const first = await one.ready({ devices: ['a', 'b', 'c'] });
    assert.equal(await one.devices.admit(asking('u1', 2)), undefined);
    await one.devices[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    const again = await one.start();
    assert.equal(one.amount(again), '0/0');
    assert.deepEqual(held(again, 'u1'), ['a', 'b']);
    // A running pod keeps what it has, and is told the same.
    assert.deepEqual((await again.allocate(asking('u1', 2), container('c', 2))).env, { NPUS: 'a,b' });
    const why = 'no healthy devices present; cannot allocate unhealthy devices acme.example/npu';
    assert.equal(await again.admit(asking('u2', 1)), `Allocate failed due to ${why}, which is unexpected`);
    const second = await one.ready({ devices: ['a', 'b', 'c'] }, again);
    assert.equal(await again.admit(asking('u2', 1)), undefined);
    assert.deepEqual([...held(again, 'u2'), ...second.calls], ['c', 'allocate c']);
    await one.clock.advance(5 * 60_000);
    assert.equal(one.amount(again), '3/3');
  });

  it('hardware/D11: leave when their plugin does not come back within 5 min of a restart', async () => {
    await using one = await rig();
    await one.ready({ devices: ['a'] });
    await one.devices.admit(asking('u1', 1));
    await one.devices[Symbol.asyncDispose]();
    const again = await one.start();
    await one.clock.advance(5 * 60_000);
    assert.deepEqual(again.facts(), { capacity: {}, allocatable: {}, removedResources: [NPU] });
    assert.match(
      (await again.admit(asking('u2', 1))) ?? '',
      /cannot allocate unregistered device acme\.example\/npu/,
    );
  });

  it('are all free when what was written down cannot be read', async () => {
    const errors: string[] = [];
    const log = { ...SILENT_LOG, error: ({ err }: { err?: unknown }) => void errors.push(String(err)) };
    await using one = await rig({ log });
    await one.ready({ devices: ['a'] });
    await one.devices[Symbol.asyncDispose]();
    await writeFile(join(one.root, 'var/lib/kubelet/device-plugins/kubelet_internal_checkpoint'), '{');
    const again = await one.start();
    assert.deepEqual(again.resources(), {});
    assert.match(errors.join(), /the checkpoint of devices is damaged/);
  });
});

describe('devices of a pod', () => {
  it('lab/N16: are given before it is let in, all or none, and a sentence says why not', async () => {
    await using one = await rig();
    const plugin = await one.ready({ devices: ['a', 'b', 'c'] });
    const greedy = pod('u1', [container('one', 2), container('two', 2)]);
    const why = 'requested number of devices unavailable for acme.example/npu. Requested: 2, Available: 1';
    assert.equal(await one.devices.admit(greedy), `Allocate failed due to ${why}, which is unexpected`);
    assert.equal(await one.devices.admit(asking('u2', 3)), undefined);
    assert.deepEqual(held(one.devices, 'u2'), ['a', 'b', 'c']);
    assert.deepEqual(plugin.calls, ['allocate a,b', 'allocate a,b,c']);
  });

  it('lab/N16: are nobody’s business when it asks for none, or for what no plugin has', async () => {
    await using one = await rig();
    assert.equal(await one.devices.admit(pod('u1', [container('c', 1, 'other.example/thing')])), undefined);
    await one.ready({ devices: [] });
    assert.equal(await one.devices.admit(pod('u1', [{ name: 'c', image: 'i' }])), undefined);
    assert.equal(await one.devices.admit(asking('u1', 0)), undefined);
    const settings = await one.devices.allocate(asking('u1', 0), container('c', 0));
    assert.deepEqual(settings, { env: {}, mounts: [], annotations: {}, cdiDevices: [] });
  });

  it('hardware/D13: stay the same when it is asked again, and must be as many as before', async () => {
    await using one = await rig();
    const plugin = await one.ready({ devices: ['a', 'b', 'c'] });
    await one.devices.admit(asking('u1', 2));
    assert.equal(await one.devices.admit(asking('u1', 2)), undefined);
    assert.deepEqual(plugin.calls, ['allocate a,b']);
    const changed = await one.devices.admit(asking('u1', 1));
    const want = 'pod "u1" container "c" changed request for resource "acme.example/npu" from 2 to 1';
    assert.equal(changed, `Allocate failed due to ${want}, which is unexpected`);
  });

  for (const { name, now, want } of [
    {
      name: 'none is healthy',
      now: ['a!', 'b!'],
      want: 'no healthy devices present; cannot allocate unhealthy devices',
    },
    {
      name: 'what it had is not healthy any more',
      now: ['a!', 'b'],
      want: 'previously allocated devices are no longer healthy; cannot allocate unhealthy devices',
    },
  ]) {
    it(`hardware/D13: are refused when ${name}`, async () => {
      await using one = await rig();
      const plugin = await one.ready({ devices: ['a', 'b'] });
      await one.devices.admit(asking('u1', 1));
      plugin.report(now);
      await one.seen(now.includes('b') ? '1/2' : '0/2');
      assert.equal(
        await one.devices.admit(asking('u1', 1)),
        `Allocate failed due to ${want} ${NPU}, which is unexpected`,
      );
    });
  }

  it('hardware/D13: pass from init containers to later ones, but not from sidecars', async () => {
    await using one = await rig();
    const plugin = await one.ready({ devices: ['a', 'b', 'c', 'd'] });
    const sidecar: Container = { ...container('side', 1), restartPolicy: 'Always' };
    const given = pod('u1', [container('one', 1), container('two', 1)], [container('init', 2), sidecar]);
    assert.equal(await one.devices.admit(given), undefined);
    assert.deepEqual(plugin.calls, ['allocate a,b', 'allocate a', 'allocate b', 'allocate c']);
    const names = ['init', 'side', 'one', 'two'];
    assert.deepEqual(
      names.map((name) => held(one.devices, 'u1', name)),
      [['a', 'b'], ['a'], ['b'], ['c']],
    );
  });

  it('hardware/D15: are given back when the plugin fails, or answers nothing', async () => {
    await using one = await rig();
    let isBroken = true;
    const answers = { containerResponses: [{}] };
    const allocate = () => {
      if (isBroken) throw new Error('cannot');
      return { containerResponses: [] };
    };
    await one.ready({ devices: ['a'], handlers: { allocate } });
    const failed = await one.devices.admit(asking('u1', 1));
    assert.equal(failed, 'Allocate failed due to rpc error: code = Unknown desc = cannot, which is unexpected');
    isBroken = false;
    assert.match((await one.devices.admit(asking('u1', 1))) ?? '', /no containers return in allocation response/);
    await one.ready({ devices: ['a'], name: 'good.sock', handlers: { allocate: () => answers } });
    await until(() => one.amount() === '1/1', 'the good one is there');
    assert.deepEqual(held(one.devices, 'u1'), []);
    assert.equal(await one.devices.admit(asking('u2', 1)), undefined);
  });

  it('hardware/D15: bring what their plugins say, of several the first that says it', async () => {
    await using one = await rig();
    const answer = (response: object) => ({ allocate: () => ({ containerResponses: [response] }) });
    const [mount, node] = [
      { containerPath: '/opt/npu/', hostPath: '/usr/lib/npu', readOnly: true },
      { containerPath: '/dev/npu0', hostPath: '/dev/acme0', permissions: 'rw' },
    ];
    await one.ready({
      devices: ['a'],
      handlers: answer({
        envs: { A: '1', BOTH: 'first' },
        mounts: [mount],
        devices: [node, { containerPath: '/dev/look', hostPath: '/dev/look', permissions: 'r' }],
        annotations: { x: 'y' },
        cdiDevices: [{ name: 'acme.example/npu=0' }],
      }),
    });
    await one.ready({
      devices: ['z'],
      resource: 'acme.example/zpu',
      name: 'z.sock',
      handlers: answer({
        envs: { B: '2', BOTH: 'second' },
        mounts: [{ ...mount, hostPath: '/elsewhere' }],
        devices: [{ ...node, hostPath: '/dev/other' }],
        annotations: { x: 'z' },
        cdiDevices: [{ name: 'acme.example/npu=0' }, { name: 'acme.example/zpu=0' }],
      }),
    });
    const limits = { [NPU]: '1', 'acme.example/zpu': '1' };
    const both: Container = { name: 'c', image: 'i', resources: { limits } };
    assert.equal(await one.devices.admit(pod('u1', [both])), undefined);
    assert.deepEqual(await one.devices.allocate(pod('u1', [both]), both), {
      env: { A: '1', BOTH: 'first', B: '2' },
      mounts: [
        { mountPath: '/opt/npu', source: join(one.root, 'usr/lib/npu'), isReadOnly: true },
        { mountPath: '/dev/npu0', source: join(one.root, 'dev/acme0'), isReadOnly: false },
        { mountPath: '/dev/look', source: join(one.root, 'dev/look'), isReadOnly: true },
      ],
      annotations: { x: 'y' },
      cdiDevices: ['acme.example/npu=0', 'acme.example/zpu=0'],
    });
  });

  it('hardware/D16: are prepared before every start, if the plugin wants it; else it does not start', async () => {
    await using one = await rig();
    let isBroken = false;
    const calls: string[] = [];
    const preStartContainer = ({ devicesIds }: { devicesIds: readonly string[] }) => {
      calls.push(devicesIds.join());
      if (isBroken) throw new Error('device is stuck');
      return {};
    };
    await one.ready({ devices: ['a'], preStart: true, handlers: { preStartContainer } });
    const asked = asking('u1', 1);
    await one.devices.admit(asked);
    await one.devices.allocate(asked, container('c', 1));
    await one.devices.allocate(asked, container('c', 1));
    assert.deepEqual(calls, ['a', 'a']);
    isBroken = true;
    await assert.rejects(one.devices.allocate(asked, container('c', 1)), {
      name: 'ContainerProblem',
      reason: 'CreateContainerConfigError',
      message:
        'device plugin PreStartContainer rpc failed with err: rpc error: code = Unknown desc = device is stuck',
    });
  });

  it('hardware/D16: are not prepared when the plugin did not ask for it', async () => {
    await using one = await rig();
    const plugin = await one.ready({ devices: ['a'] });
    await one.devices.admit(asking('u1', 1));
    assert.deepEqual((await one.devices.allocate(asking('u1', 1), container('c', 1))).env, { NPUS: 'a' });
    assert.deepEqual(plugin.calls, ['allocate a']);
  });

  it('hardware/D17: stay its own when they become unhealthy', async () => {
    await using one = await rig();
    const plugin = await one.ready({ devices: ['a', 'b'] });
    await one.devices.admit(asking('u1', 1));
    plugin.report(['a!', 'b']);
    await one.seen('1/2');
    assert.deepEqual(held(one.devices, 'u1'), ['a']);
    assert.deepEqual((await one.devices.allocate(asking('u1', 1), container('c', 1))).env, { NPUS: 'a' });
  });

  it('hardware/D14: are those that the plugin prefers, near to where the container is to be', async () => {
    await using one = await rig({ affinity: (_pod, { name }) => (name === 'near' ? new Set([1n]) : undefined) });
    const preferred = (available: readonly string[]) => available.toReversed();
    const plugin = await one.ready({ devices: ['a@0', 'b@1', 'c@1', 'd@1'], preferred });
    await one.devices.admit(pod('u1', [container('near', 2), container('far', 1)]));
    assert.deepEqual(plugin.calls, [
      'prefer b,c,d with  of 2',
      'allocate d,c',
      'prefer a,b with  of 1',
      'allocate b',
    ]);
    assert.deepEqual(one.devices.assigned('u1', 'near'), [
      { resource: NPU, device: 'd', numaNodes: [1n] },
      { resource: NPU, device: 'c', numaNodes: [1n] },
    ]);
  });

  it('are free again when it has ended, is told so or not', async () => {
    const active = new Set(['u1', 'u2', 'u3']);
    await using one = await rig({ activePods: () => active });
    await one.ready({ devices: ['a', 'b'] });
    await one.devices.admit(asking('u1', 1));
    await one.devices.admit(asking('u2', 1));
    await one.devices.release('u1');
    await one.devices.release('u1');
    assert.equal(await one.devices.admit(asking('u3', 1)), undefined);
    active.delete('u2');
    assert.equal(await one.devices.admit(asking('u4', 1)), undefined);
    assert.deepEqual([held(one.devices, 'u3'), held(one.devices, 'u4')], [['a'], ['b']]);
  });

  it('hardware/D12: are never given twice, however many ask at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 6 }),
        async (counts) => {
          await using one = await rig();
          const allocate = async () => {
            await new Promise((resolve) => setImmediate(resolve));
            return { containerResponses: [{}] };
          };
          await one.ready({ devices: ['a', 'b', 'c', 'd', 'e'], handlers: { allocate } });
          const results = await Promise.all(
            counts.map((count, index) => one.devices.admit(asking(`u${index}`, count))),
          );
          const given = counts.map((_, index) => held(one.devices, `u${index}`));
          const all = given.flat();
          assert.equal(new Set(all).size, all.length);
          counts.forEach((count, index) => {
            assert.equal(given[index]?.length, results[index] === undefined ? count : 0);
          });
        },
      ),
      { numRuns: 5 },
    );
  });

  it('are given at the start of a container when an earlier life did not write them down', async () => {
    await using one = await rig();
    const plugin = await one.ready({ devices: ['a'] });
    const settings = await one.devices.allocate(asking('u1', 1), container('c', 1));
    assert.deepEqual([settings.env, plugin.calls], [{ NPUS: 'a' }, ['allocate a']]);
    await assert.rejects(one.devices.allocate(asking('u2', 1), container('c', 1)), {
      reason: 'CreateContainerConfigError',
      message: /requested number of devices unavailable/,
    });
  });
});
