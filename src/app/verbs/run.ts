import { CLOUD_EXAMPLE, RUN_COMPONENTS } from '../run/components.ts';
import { defineVerb } from '../verb.ts';

const listed = RUN_COMPONENTS.map(({ name, summary }) => `${name}: ${summary}`).join('; ');

/** One component as a program of its own, with the flags of the program that it replaces. */
export const runVerb = defineVerb({
  name: 'run',
  group: 'start here',
  summary: 'run a component, with the flags of the program it replaces',
  examples: ['slipway run cloud-controller-manager --help', CLOUD_EXAMPLE],
  positionals: [
    { name: 'COMPONENT', description: `${listed}. Everything after its name is for it`, isRequired: true },
  ],
  passesOn: true,
  settings: {},
  load: async () => {
    const { runComponent } = await import('../run/run-component.ts');
    return (context, _, words) => runComponent(context, words);
  },
});
