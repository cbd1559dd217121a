import { Job } from '../../src/api/generated/batch-v1.ts';
import { Pod } from '../../src/api/generated/core-v1.ts';
import { keyOf } from '../../src/api/object.ts';
import { jobController } from '../../src/lab/workloads/job/controller.ts';
import { finishedJobController } from '../../src/lab/workloads/job/finished-jobs.ts';
import { orphanedPodController } from '../../src/lab/workloads/job/orphaned-pods.ts';
import type { CrashScenario, ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import { WORK, work } from './lab-jobs.ts';
import { addNodes, type Fate, PretendNodes, settled } from './pretend-nodes.ts';

const scenario = (name: string, act: (world: ScenarioWorld) => Promise<void>): CrashScenario => ({
  name,
  start: () => ({
    controllers: () => [jobController(), orphanedPodController(), finishedJobController()],
    act: async (world) => {
      await addNodes(world.client, 'n1');
      await act(world);
    },
  }),
});

/** The first pods to run end like this, the others as told; which pods these are differs from run to run. */
function fatesInOrder(first: readonly Fate[], rest: Fate): (pod: Pod) => Fate {
  const left = [...first];
  const decided = new Map<string, Fate>();
  return ({ metadata: { name } }) => {
    const fate = decided.get(name) ?? left.shift() ?? rest;
    decided.set(name, fate);
    return fate;
  };
}

const suspend = (is: boolean) => ({ type: 'merge', body: { spec: { suspend: is } } }) as const;

/** What happens to jobs, each as short as it can be: it is played once for each write and each fault. */
export const JOB_SCENARIOS: readonly CrashScenario[] = [
  scenario('succeeds, and is deleted after its time', async (world) => {
    const nodes = new PretendNodes({ fate: () => 'succeeded' });
    await world.client.create(Job, work({ parallelism: 2, completions: 3, ttlSecondsAfterFinished: 300 }));
    await settled(world, nodes);
    await world.env.advance(300_000);
    await settled(world, nodes);
  }),
  scenario('fails once, and succeeds', async (world) => {
    const nodes = new PretendNodes({ fate: fatesInOrder(['failed'], 'succeeded') });
    await world.client.create(Job, work());
    await settled(world, nodes);
  }),
  scenario('reaches its limit', async (world) => {
    let failing: string | undefined;
    const nodes = new PretendNodes({ fate: ({ metadata }) => (metadata.name === failing ? 'failed' : 'ready') });
    await world.client.create(Job, work({ parallelism: 2, completions: 2, backoffLimit: 0 }));
    await settled(world, nodes);
    const { items } = await world.client.live.list(Pod);
    failing = items[0]?.metadata.name;
    await settled(world, nodes);
  }),
  scenario('reaches its deadline', async (world) => {
    const nodes = new PretendNodes();
    await world.client.create(Job, work({ parallelism: 2, completions: 2, activeDeadlineSeconds: 200 }));
    await settled(world, nodes);
    await world.env.advance(200_000);
    await settled(world, nodes);
  }),
  scenario('is suspended, and resumed', async (world) => {
    const nodes = new PretendNodes();
    await world.client.create(Job, work());
    await settled(world, nodes);
    for (const is of [true, false]) {
      await world.client.patch(Job, WORK, suspend(is));
      await settled(world, nodes);
    }
  }),
  scenario('is indexed, and loses a pod', async (world) => {
    const nodes = new PretendNodes({ fate: ({ spec }) => (spec.hostname === 'work-1' ? 'succeeded' : 'ready') });
    await world.client.create(Job, work({ parallelism: 2, completions: 2, completionMode: 'Indexed' }));
    await settled(world, nodes);
    const { items } = await world.client.live.list(Pod);
    for (const pod of items.filter(({ status }) => status?.phase === 'Running'))
      await world.client.delete(Pod, keyOf(pod));
    await settled(world, nodes);
  }),
  scenario('is deleted while it runs', async (world) => {
    const nodes = new PretendNodes();
    await world.client.create(Job, work({ parallelism: 2, completions: 2 }));
    await settled(world, nodes);
    await world.client.delete(Job, WORK, { propagationPolicy: 'Background' });
    await settled(world, nodes);
  }),
];
