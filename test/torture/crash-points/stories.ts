import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import type { Controller } from '../../../src/kube/controller/controller.ts';
import type {
  CrashScenario,
  ScenarioInstance,
  ScenarioLife,
  ScenarioWorld,
} from '../../../src/testing/crash-scenario.ts';
import { Box, NAMESPACE } from './box-kind.ts';
import { Cloud, type CloudApi } from './cloud.ts';

/** Makes the controllers of one life. */
export type MakeControllers = (life: ScenarioLife, cloud: CloudApi) => readonly Controller[];
/** What a user has, in this process or before another one. */
export interface StoryWorld extends Pick<ScenarioWorld, 'client' | 'converge'> {
  /** Nothing happens any more at this moment. */
  settle(): Promise<void>;
}
type Story = (world: StoryWorld) => Promise<void>;

const KEY = { namespace: NAMESPACE, name: 'a' };

const makeBox = ({ client }: StoryWorld, name = KEY.name, children = 1) =>
  client.create(Box, {
    apiVersion: 'crash.example.com/v1',
    kind: 'Box',
    metadata: { name, namespace: NAMESPACE },
    spec: { size: 1, children },
  });

const changeBox = ({ client }: StoryWorld, spec: { size?: number; children?: number }) =>
  client.patch(Box, KEY, { type: 'merge', body: { spec } });

export const STORIES = {
  'create and change': async (world) => {
    await makeBox(world);
    await world.converge();
    await changeBox(world, { size: 2 });
    await world.converge();
  },
  'create and delete': async (world) => {
    await makeBox(world);
    await world.converge();
    await world.client.delete(Box, KEY);
    await world.converge();
  },
  'delete while creating': async (world) => {
    await makeBox(world);
    await world.settle();
    await world.client.delete(Box, KEY);
    await world.converge();
  },
  /** An object of somebody else has the name that the child would have. */
  'a name that is taken': async (world) => {
    const { client } = world;
    await client.create(ConfigMap, { metadata: { ...KEY }, data: { owner: 'somebody' } });
    await makeBox(world);
    await world.converge();
    const { data = {} } = await client.get(ConfigMap, KEY);
    if (data['owner'] !== 'somebody' || Object.keys(data).length > 1)
      throw new Error('the object of somebody else was taken');
  },
  'grow and shrink': async (world) => {
    await makeBox(world, 'a', 0);
    await world.converge();
    await changeBox(world, { children: 3 });
    await world.converge();
    await changeBox(world, { children: 1 });
    await world.converge();
  },
} satisfies Readonly<Record<string, Story>>;

export type StoryName = keyof typeof STORIES;

export const scenario = (name: string, story: StoryName, makeControllers: MakeControllers): CrashScenario => ({
  name: `${name}: ${story}`,
  kinds: [Box],
  start: (): ScenarioInstance => {
    const cloud = new Cloud();
    return {
      controllers: (life) => makeControllers(life, cloud),
      act: (world) => STORIES[story]({ ...world, settle: () => world.env.settle() }),
      inventory: () => cloud.inventory,
    };
  },
});
