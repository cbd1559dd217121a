import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import { controllerFor } from '../../src/kube/controller/controller.ts';
import { DONE } from '../../src/kube/controller/reconcile.ts';
import { Activity } from '../../src/kube/quiet/activity.ts';
import { needs } from '../../src/kube/rbac/need.ts';
import { csiNode } from '../../src/lab/node/csi/csi-node-controller.ts';
import { startPods } from '../../src/lab/node/kubelet/start-pods.ts';
import { containerRuntime } from '../../src/lab/node/runtime/chosen-runtime.ts';
import { processRuntime } from '../../src/lab/node/runtime/process-runtime.ts';
import { simulatedRuntime } from '../../src/lab/node/runtime/simulated-runtime.ts';
import { CRASH_FAULTS } from '../../src/testing/crash-faults.ts';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import type { ScenarioLife, ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import { driver, FakeDrivers } from '../support/fake-drivers.ts';
import {
  labClockOf,
  memoryLog,
  NODE,
  PretendProbes,
  PretendVolumes,
  pretendAddresses,
} from '../support/kubelet-world.ts';
import { PretendHost } from '../support/pretend-host.ts';

const KEY = { namespace: 'default', name: 'p' };

/** The node of one life of the program; its simulated containers die with it. */
function startNode({ clock: lifeClock, transport }: ScenarioLife, volumes: PretendVolumes): void {
  const nothing = async () => {};
  const env = {
    activity: new Activity(),
    settle: nothing,
    advance: nothing,
    throughTime: <T>(work: Promise<T>) => work,
  };
  const clock = labClockOf(env, lifeClock);
  const log = SILENT_LOG;
  const processes = processRuntime({ host: new PretendHost(), clock, real: clock, path: '' });
  const self = (): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: NODE }, spec: {} });
  startPods({
    client: createClient({ transport, fieldManager: 'kubelet', clock, log }),
    runtime: containerRuntime({
      catalogue: {},
      processes,
      simulated: simulatedRuntime(clock),
      unknownImages: 'simulate',
    }),
    clock,
    real: clock,
    log,
    volumes,
    crashLoopMaxMs: 10_000,
    maxGraceMs: 2000,
    self,
    node: { name: NODE, address: { api: '10.16.1.1', wire: '127.16.1.1' }, root: '/nowhere' },
    addresses: pretendAddresses(),
    startProbes: new PretendProbes().startAt(clock),
    resolveStart: async () => ({ env: {} }),
    openLog: (_pod, container) => memoryLog(container.name),
    events: { normal: () => {}, warning: () => {} },
  });
}

async function act({ client, converge }: ScenarioWorld): Promise<void> {
  await client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: KEY,
    spec: {
      nodeName: NODE,
      automountServiceAccountToken: false,
      initContainers: [{ name: 'i', image: 'x' }],
      containers: [
        { name: 'a', image: 'x' },
        { name: 'b', image: 'x' },
      ],
    },
  });
  await converge();
  const { status } = await client.get(Pod, KEY);
  assert.equal(status?.phase, 'Running');
  assert.ok(status?.containerStatuses?.every(({ ready, state }) => ready && state?.running !== undefined));
  await client.delete(Pod, KEY);
}

describe('a node that may die anywhere', () => {
  it('lab/N18: runs its pods and lets go of them, whichever write it dies at', async () => {
    const faults = CRASH_FAULTS.filter((fault) => fault !== 'zombie' && fault !== 'pause');
    const { failures, points, tried } = await enumerateCrashPoints(
      {
        name: 'one pod',
        start: () => {
          const volumes = new PretendVolumes();
          return {
            controllers: (life) => {
              let hasStarted = false;
              // A controller in whose name the node acts: it begins to write when it may.
              const standIn = controllerFor(Pod)
                .needs(needs(Pod, ['delete']), needs(Pod, ['patch'], { subresource: 'status' }))
                .reconcile({
                  async reconcile() {
                    if (!hasStarted) startNode(life, volumes);
                    hasStarted = true;
                    return DONE;
                  },
                });
              return [standIn];
            },
            act,
            inventory: () => [...volumes.laidOut],
          };
        },
      },
      { faults },
    );
    assert.deepEqual(failures, []);
    assert.ok(points.length >= 4 && tried >= 40, `${points.length} points, ${tried} runs`);
  });
});

describe('the CSINode of a node', () => {
  it('lab/N36: survives a crash after every write', async () => {
    const { failures, tried } = await enumerateCrashPoints(
      {
        name: 'drivers come, change and go',
        start: () => {
          const drivers = new FakeDrivers();
          return {
            controllers: () => [csiNode({ node: 'w-1', drivers })],
            act: async ({ client, converge }) => {
              await client.create(Node, { metadata: { name: 'w-1' } });
              drivers.set(driver('d', { topology: { 'd/zone': 'a' } }), driver('e'));
              await converge();
              drivers.set(driver('d', { nodeId: 'other', topology: { 'd/zone': 'a' } }));
              await converge();
            },
          };
        },
      },
      { faults: ['kill-after'] },
    );
    assert.deepEqual(failures, []);
    assert.ok(tried >= 4, `only ${tried} writes`);
  });
});
