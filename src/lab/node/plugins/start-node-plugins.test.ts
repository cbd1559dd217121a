import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pretendCsiDriver } from '../../../../test/support/pretend-csi-driver.ts';
import { pretendDevicePlugin } from '../../../../test/support/pretend-device-plugin.ts';
import { until } from '../../../../test/support/scratch.ts';
import { shortDirectory } from '../../../../test/support/short-directory.ts';
import { Node } from '../../../api/generated/core-v1.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { CSINode } from '../../../api/generated/storage-v1.ts';
import { SystemClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { dialRpc } from '../../../rpc/dial-rpc.ts';
import { PodResourcesLister } from '../../../rpc/kubelet/pod-resources.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { basicFacts, factsWith } from '../registration/node-facts.ts';
import { startNodePlugins } from './start-node-plugins.ts';

const NPU = 'acme.example/npu';
const real = new SystemClock();
const system = {
  architecture: 'amd64',
  operatingSystem: 'linux',
  kernelVersion: '6',
  bootID: 'b',
  machineID: 'm',
  systemUUID: 's',
};
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'u1' },
  spec: { containers: [{ name: 'c', resources: { limits: { [NPU]: '1' } } }] },
};

describe('plugins of a node', () => {
  it('lab/N33: become devices, volumes and facts of the node', async () => {
    await using env = await TestEnv.start();
    await using directory = await shortDirectory();
    const root = directory.path;
    await env.client.create(Node, { metadata: { name: 'w-1' } });
    const common = { root, node: 'w-1', client: env.client, clock: env.clock, real, log: SILENT_LOG };
    await using plugins = await startNodePlugins({ ...common, pods: () => [pod] });
    await env.startManager({ add: [...plugins.controllers] });
    await using npu = await pretendDevicePlugin(root, { devices: ['a', 'b!'] });
    await npu.register();
    await using driver = await pretendCsiDriver(root);
    await driver.announce();
    await until(() => plugins.devices.resources()[NPU]?.capacity === 2, 'the devices are known');
    const drivers = async () => (await env.client.find(CSINode, { name: 'w-1' }))?.spec.drivers;
    let known: Awaited<ReturnType<typeof drivers>>;
    await until(() => {
      void drivers().then((found) => (known = found));
      return (known ?? []).length === 1;
    }, 'the driver is known');
    const { capacity, allocatable, volumesInUse } = factsWith(basicFacts({ system }), plugins.facts());
    assert.deepEqual([capacity[NPU], allocatable[NPU], capacity['cpu'], volumesInUse], ['2', '1', '4', []]);
    assert.equal(await plugins.devices.admit(pod), undefined);
    const socket = join(root, 'var/lib/kubelet/pod-resources/kubelet.sock');
    using connection = dialRpc({ address: { socket }, clock: real });
    const { podResources } = await connection.client(PodResourcesLister).list({}, { timeoutMs: 20_000 });
    assert.deepEqual(podResources[0]?.containers[0]?.devices, [{ resourceName: NPU, deviceIds: ['a'] }]);
    await plugins[Symbol.asyncDispose]();
    const left = await Promise.all(
      ['pod-resources', 'device-plugins'].map((name) => readdir(join(root, 'var/lib/kubelet', name))),
    );
    assert.deepEqual(left, [[], ['kubelet_internal_checkpoint', 'npu.sock']]);
  });

  it('lab/N34: are not started where their sockets would not fit', async () => {
    await using env = await TestEnv.start();
    await using directory = await shortDirectory();
    const root = join(directory.path, 'x'.repeat(90));
    const common = { root, node: 'w-1', client: env.client, clock: env.clock, real, log: SILENT_LOG };
    await assert.rejects(startNodePlugins({ ...common, pods: () => undefined }), { reason: 'NodeRootTooLong' });
  });
});
