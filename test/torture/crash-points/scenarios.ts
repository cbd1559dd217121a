import type { CrashScenario } from '../../../src/testing/crash-scenario.ts';
import { adopting, applying, machines, numbering } from './controllers.ts';
import { MUTANTS } from './mutants.ts';
import { type MakeControllers, type StoryName, scenario } from './stories.ts';

interface Planned {
  /** Of the controllers: a process of its own finds them by it. */
  readonly name: string;
  readonly story: StoryName;
  readonly controllers: MakeControllers;
}

const RIGHT_ONES: readonly (readonly [string, MakeControllers, readonly StoryName[]])[] = [
  ['an applied child', applying, ['create and change', 'create and delete', 'delete while creating']],
  ['an adopted child', adopting, ['create and change', 'create and delete', 'a name that is taken']],
  ['numbered children', numbering, ['grow and shrink']],
  ['a machine', machines(), ['create and change', 'create and delete', 'delete while creating']],
];

/** Right controllers: every one of them must survive every fault at every write. */
export const RIGHT_PLANS: readonly Planned[] = RIGHT_ONES.flatMap(([name, controllers, stories]) =>
  stories.map((story) => ({ name, story, controllers })),
);

export const scenarioOf = ({ name, story, controllers }: Planned): CrashScenario =>
  scenario(name, story, controllers);

/** Right ones and mutants alike. */
export function controllersNamed(name: string): MakeControllers {
  const found = [...RIGHT_PLANS, ...MUTANTS].find((plan) => plan.name === name);
  if (found === undefined) throw new Error(`there are no controllers named ${name}`);
  return found.controllers;
}
