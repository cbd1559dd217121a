import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { shortDirectory } from '../../../../test/support/short-directory.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { SystemClock } from '../../../base/clock.ts';
import { dialRpc } from '../../../rpc/dial-rpc.ts';
import { PodResourcesLister } from '../../../rpc/kubelet/pod-resources.ts';
import { startPodResources } from './start-pod-resources.ts';

const real = new SystemClock();
const NPU = 'acme.example/npu';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'team', uid: 'u1' },
  spec: {
    initContainers: [{ name: 'init' }, { name: 'side', restartPolicy: 'Always' }],
    containers: [{ name: 'main' }],
  },
};

async function rig() {
  const stack = new AsyncDisposableStack();
  const root = stack.use(await shortDirectory()).path;
  const assigned = (uid: string, container: string) =>
    uid === 'u1' && container === 'main'
      ? [
          { resource: NPU, device: 'a', numaNodes: [] },
          { resource: NPU, device: 'b', numaNodes: [0n, 1n] },
        ]
      : [];
  const healthy = () => [{ resource: NPU, device: 'z', numaNodes: [2n] }];
  const server = stack.use(
    await startPodResources({ root, real, pods: () => [pod], devices: { assigned, healthy } }),
  );
  const directory = join(root, 'var/lib/kubelet/pod-resources');
  const connection = stack.use(dialRpc({ address: { socket: join(directory, 'kubelet.sock') }, clock: real }));
  const lister = connection.client(PodResourcesLister);
  return { directory, server, lister, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const soon = { timeoutMs: 20_000 };
const nothing = { cpuIds: [], memory: [], dynamicResources: [] };
const node = (ID: bigint) => ({ topology: { nodes: [{ ID }] } });
const WANT = {
  name: 'p',
  namespace: 'team',
  containers: [
    { name: 'side', devices: [], ...nothing },
    {
      name: 'main',
      devices: [
        { resourceName: NPU, deviceIds: ['a'] },
        { resourceName: NPU, deviceIds: ['b'], ...node(0n) },
        { resourceName: NPU, deviceIds: ['b'], ...node(1n) },
      ],
      ...nothing,
    },
  ],
};

describe('pod resources', () => {
  it('lab/N35: lists pods with the devices of the containers that go on', async () => {
    await using one = await rig();
    assert.deepEqual(await one.lister.list({}, soon), { podResources: [WANT] });
  });

  it('lab/N35: gives one pod, and says when there is none', async () => {
    await using one = await rig();
    const found = await one.lister.get({ podName: 'p', podNamespace: 'team' }, soon);
    assert.deepEqual(found, { podResources: WANT });
    await assert.rejects(one.lister.get({ podName: 'p', podNamespace: 'other' }, soon), {
      code: 'UNKNOWN',
      details: 'pod p in namespace other not found',
    });
  });

  it('lab/N35: gives all devices that could be had', async () => {
    await using one = await rig();
    assert.deepEqual(await one.lister.getAllocatableResources({}, soon), {
      devices: [{ resourceName: NPU, deviceIds: ['z'], ...node(2n) }],
      cpuIds: [],
      memory: [],
    });
  });

  it('leaves no socket', async () => {
    await using one = await rig();
    await one.server[Symbol.asyncDispose]();
    assert.deepEqual(await readdir(one.directory), []);
  });
});
