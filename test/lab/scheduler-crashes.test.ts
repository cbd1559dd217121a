import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Pod } from '../../src/api/generated/core-v1.ts';
import { schedulerController } from '../../src/lab/workloads/scheduler/controller.ts';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import type { CrashScenario, ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import { addNode, addPod } from '../support/pretend-cluster.ts';
import { PretendStorage, podUsing } from '../support/scheduler-storage.ts';

const scenario = (name: string, act: (world: ScenarioWorld) => Promise<void>): CrashScenario => ({
  name,
  start: () => ({ controllers: () => [schedulerController()], act }),
});

/** One that fits, and one that has to wait until the first is gone. */
const waitForRoom = scenario('pods that wait for room', async ({ client, converge }) => {
  await addNode(client, { allocatable: { cpu: '2', memory: '4Gi', pods: '9' } });
  for (const name of ['first', 'second']) await addPod(client, { name, requests: { cpu: '2' } });
  await converge();
  await client.delete(Pod, { namespace: 'default', name: 'first' }, { gracePeriodSeconds: 0 });
});

const waitForVolumes = scenario('pods that wait for volumes', async ({ client, converge }) => {
  const storage = new PretendStorage(client);
  for (const name of ['n1', 'n2']) await addNode(client, { name });
  await storage.addClass('slow', 'WaitForFirstConsumer');
  await storage.addClaim('data', 'slow');
  await addPod(client, podUsing('p', 'data'));
  await converge();
  await storage.provision('data', 'n1');
});

describe('a scheduler that may be killed anywhere', () => {
  for (const one of [waitForRoom, waitForVolumes]) {
    it(`lab/K7: ${one.name} get the same nodes, each once, whatever fails`, async () => {
      const { failures, tried, points } = await enumerateCrashPoints(one);
      assert.deepEqual(failures, []);
      assert.ok(tried > points.length);
    });
  }
});
