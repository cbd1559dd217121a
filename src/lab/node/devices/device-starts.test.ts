import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { KubeletWorld } from '../../../../test/support/kubelet-world.ts';
import { type PretendPluginOptions, pretendDevicePlugin } from '../../../../test/support/pretend-device-plugin.ts';
import { until } from '../../../../test/support/scratch.ts';
import { shortDirectory } from '../../../../test/support/short-directory.ts';
import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import { SystemClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { startDeviceManager } from './device-manager.ts';
import { withDevices } from './device-starts.ts';

const NPU = 'acme.example/npu';
const container = (count: string): Container => ({
  name: 'c',
  image: 'web',
  resources: { limits: { [NPU]: count }, requests: { [NPU]: count } },
});

/** A kubelet whose pods get the devices of a plugin. */
async function rig(options: PretendPluginOptions) {
  const stack = new AsyncDisposableStack();
  const root = stack.use(await shortDirectory()).path;
  const real = new SystemClock();
  const devices = stack.use(await startDeviceManager({ root, clock: real, real, log: SILENT_LOG }));
  const plugin = stack.use(await pretendDevicePlugin(root, options));
  await plugin.register();
  await until(() => devices.resources()[NPU] !== undefined, 'the devices are known');
  await until(() => (devices.resources()[NPU]?.capacity ?? 0) > 0, 'the devices are known');
  const catalogue = { web: { argv: ['web'] } };
  // What is asked takes real time, in which the world waits.
  const hold: { world?: KubeletWorld } = {};
  const admitDevices = async (pod: Pod) => {
    using _hold = hold.world?.env.activity.hold('devices');
    return await devices.admit(pod);
  };
  const world = stack.use(await KubeletWorld.start({ catalogue, admitDevices }));
  hold.world = world;
  const parts = withDevices({ resolveStart: world.resolveStart, volumes: world.volumes }, devices);
  world.resolveStart = parts.resolveStart;
  return { root, devices, plugin, world, parts, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('containers with devices', () => {
  it('lab/N16: are never started when there are too few; the pod has failed for good', async () => {
    await using one = await rig({ devices: ['a'] });
    await one.world.create('p', { containers: [container('2')] });
    const { status } = await one.world.pod('p');
    assert.equal(status?.phase, 'Failed');
    assert.equal(status?.reason, 'UnexpectedAdmissionError');
    const why = `requested number of devices unavailable for ${NPU}. Requested: 2, Available: 1`;
    assert.equal(status?.message, `Pod was rejected: Allocate failed due to ${why}, which is unexpected`);
    assert.deepEqual(one.plugin.calls, []);
  });

  it('hardware/D15: see the variables and mounts of their devices, unless they have their own', async () => {
    const mounts = [
      { containerPath: '/opt/npu', hostPath: '/usr/lib/npu', readOnly: true },
      { containerPath: '/own', hostPath: '/usr/lib/other', readOnly: true },
    ];
    const response = { envs: { NPUS: 'a', OWN: 'of the plugin' }, mounts };
    await using one = await rig({
      devices: ['a'],
      handlers: { allocate: () => ({ containerResponses: [response] }) },
    });
    const own = { mountPath: '/own', source: '/x', isReadOnly: false };
    const { resolveStart, volumes } = withDevices(
      {
        resolveStart: async () => ({ env: { OWN: 'of the pod' } }),
        volumes: {
          setUp: async () => {},
          mountsFor: async () => [own],
          tearDown: async () => {},
          known: async () => ['u1'],
        },
      },
      one.devices,
    );
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', uid: 'u1' },
      spec: { containers: [container('1')] },
    };
    await volumes.setUp(pod);
    assert.deepEqual(await volumes.mountsFor(pod, container('1')), [own]);
    assert.deepEqual((await resolveStart(pod, container('1'))).env, { NPUS: 'a', OWN: 'of the pod' });
    const npu = { mountPath: '/opt/npu', source: join(one.root, 'usr/lib/npu'), isReadOnly: true };
    assert.deepEqual(await volumes.mountsFor(pod, container('1')), [own, npu]);
    assert.deepEqual(await volumes.known(), ['u1']);
    await volumes.tearDown('u1');
    assert.deepEqual(one.devices.assigned('u1', 'c'), []);
    assert.deepEqual(await volumes.mountsFor(pod, container('1')), [own]);
  });

  it('hardware/D16: wait when the plugin cannot prepare them', async () => {
    const preStartContainer = () => {
      throw new Error('stuck');
    };
    await using one = await rig({ devices: ['a'], preStart: true, handlers: { preStartContainer } });
    await one.world.create('p', { containers: [container('1')] });
    const waits = async () => (await one.world.brief('p')).waiting;
    let reason = '';
    await until(() => {
      void waits().then((found) => (reason = found));
      return reason === 'CreateContainerConfigError';
    }, 'the container waits');
    const { message } = await one.world.brief('p');
    assert.match(message, /device plugin PreStartContainer rpc failed with err: .*stuck/);
  });
});
