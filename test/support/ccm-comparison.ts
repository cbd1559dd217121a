import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEVIATIONS } from './ccm-deviations.ts';
import { Scene, type Side, type Step, type Story } from './ccm-scene.ts';
import { type Difference, differences, type View } from './ccm-views.ts';

const TURN_MS = 250;
/** Routes are looked at every ten seconds, and whoever failed waits twice as long each time: half a minute is everyday. */
const PATIENCE_MS = 60_000;

/** What both have become. */
interface Compared {
  readonly isSettled: boolean;
  readonly unexpected: readonly Difference[];
  /** Ids of the deviations that are to be seen. */
  readonly deviations: readonly string[];
  readonly views: readonly View[];
}

const isEmpty = (left: Readonly<Record<string, unknown>>): boolean => Object.keys(left).length === 0;

/** One after the other: whether a balancer whose nodes go before it is told to have none is a matter of moments. */
const END: readonly Step[] = [
  {
    name: 'the end of Services',
    act: (scene) => scene.removeServices(),
    isSettled: ({ services, balancers }) => isEmpty(services) && isEmpty(balancers),
  },
  { name: 'the end of nodes', act: (scene) => scene.removeNodes(), isSettled: ({ nodes }) => isEmpty(nodes) },
];

/**
 * Plays a story here and there. After each step both must become what the step says, and look the same but for the listed
 * deviations; answers which of these were to be seen.
 */
export async function compareStory(story: Story, go: Side, ours: Side): Promise<readonly string[]> {
  const scenes = [go, ours].map((side) => new Scene(side, story.slug));
  const found: string[] = [];
  try {
    for (const step of [...story.steps, ...END]) found.push(...(await playStep(story, step, scenes)));
  } finally {
    // For the next story, also when this one failed.
    await Promise.all(scenes.map((scene) => scene.removeServices()));
    await Promise.all(scenes.map((scene) => scene.removeNodes()));
  }
  return found;
}

async function playStep(story: Story, step: Step, scenes: readonly Scene[]): Promise<readonly string[]> {
  for (const scene of scenes) scene.beginStep();
  await Promise.all(scenes.map((scene) => step.act(scene)));
  for (const startedMs = performance.now(); ; await sleep(TURN_MS)) {
    const compared = await compare(story, step, scenes);
    const isComplete = (step.deviations ?? []).every((id) => compared.deviations.includes(id));
    if (compared.isSettled && isComplete && compared.unexpected.length === 0) return compared.deviations;
    if (performance.now() - startedMs <= PATIENCE_MS) continue;
    assert.fail(`${story.title}, ${step.name}: ${JSON.stringify(compared, undefined, 1)}`);
  }
}

async function compare(story: Story, step: Step, scenes: readonly Scene[]): Promise<Compared> {
  const looks = await Promise.all(scenes.map(async (scene) => ({ scene, view: await scene.view() })));
  const views = looks.map(({ view }) => view);
  const all = differences(...(views as [View, View]));
  return {
    isSettled: looks.every(({ scene, view }) => step.isSettled(view, scene)),
    unexpected: all.filter((difference) => deviationOf(story, difference) === undefined),
    deviations: all.flatMap((difference) => deviationOf(story, difference) ?? []),
    views,
  };
}

const deviationOf = (story: Story, difference: Difference): string | undefined =>
  DEVIATIONS.find(({ stories, matches }) => stories.includes(story.slug) && matches(difference))?.id;
