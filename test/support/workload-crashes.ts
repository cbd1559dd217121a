import { Deployment, ReplicaSet } from '../../src/api/generated/apps-v1.ts';
import { Pod } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { deploymentController } from '../../src/lab/workloads/deployment/controller.ts';
import { replicaSetController } from '../../src/lab/workloads/replicaset/controller.ts';
import type { CrashScenario, ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import { readyPods, WEB, webDeployment, webReplicaSet } from './deployment-world.ts';

const change = ({ client }: ScenarioWorld, spec: JsonObject) =>
  client.patch(Deployment, WEB, { type: 'strategic', body: { spec } });

const image = (name: string): JsonObject => ({
  template: { spec: { containers: [{ name: 'web', image: name }] } },
});

/** What users do, one after the other; in between everything comes to rest. */
const scenario = (
  name: string,
  steps: readonly ((world: ScenarioWorld) => Promise<unknown>)[],
): CrashScenario => ({
  name,
  start: () => ({
    controllers: () => [deploymentController(), replicaSetController()],
    async act(world) {
      await world.env.startManager({ name: 'kubelet', add: [readyPods(world.env.clock)] });
      for (const step of steps) {
        await step(world);
        await world.converge();
      }
    },
  }),
});

const create =
  (spec: Parameters<typeof webDeployment>[0]) =>
  ({ client }: ScenarioWorld) =>
    client.create(Deployment, webDeployment(spec));

export const WORKLOAD_CRASHES: readonly CrashScenario[] = [
  scenario('a Deployment is made, scaled and deleted', [
    create({ replicas: 1 }),
    (world) => change(world, { replicas: 3 }),
    (world) => change(world, { replicas: 2 }),
    ({ client }) => client.delete(Deployment, WEB),
  ]),
  scenario('a Deployment gets a new template, and the old one back', [
    create({ replicas: 1 }),
    (world) => change(world, image('web:2')),
    (world) => change(world, { ...image('web:1'), revisionHistoryLimit: 0 }),
  ]),
  scenario('a Deployment recreates its pods', [
    create({ replicas: 1, strategy: { type: 'Recreate' } }),
    (world) => change(world, image('web:2')),
  ]),
  scenario('a ReplicaSet is made, adopts a pod, is scaled and deleted', [
    ({ client }) =>
      client.create(Pod, {
        metadata: { ...WEB, labels: { app: 'web' } },
        spec: webReplicaSet('web', 2).spec.template.spec,
      }),
    ({ client }) => client.create(ReplicaSet, webReplicaSet('web', 3)),
    ({ client }) => client.patch(ReplicaSet, WEB, { type: 'merge', body: { spec: { replicas: 1 } } }),
    ({ client }) => client.delete(ReplicaSet, WEB),
  ]),
];
