import { usageError } from '../failures.ts';
import { suggestion } from '../nearest.ts';
import { type SettingTable, shown } from '../settings.ts';
import { defineVerb } from '../verb.ts';

const settings = {
  dir: {
    type: 'path',
    of: 'folder',
    default: undefined,
    description: 'where the project is made; without it, a folder with its name',
  },
} as const satisfies SettingTable;

/** Makes a project for a new provider. */
export const initVerb = defineVerb({
  name: 'init',
  group: 'start here',
  summary: 'make a project for a new provider that passes its own tests',
  examples: ['slipway init provider my-cloud', 'slipway init provider my-cloud --dir work/my-cloud'],
  positionals: [
    { name: 'what', description: 'provider', isRequired: true },
    { name: 'name', description: 'what it is called: lower-case letters, digits and dashes', isRequired: true },
  ],
  settings,
  load: async () => {
    const { initProvider } = await import('../init/init-provider.ts');
    return (context, { dir }, [what = '', name = '']) => {
      if (what !== 'provider') {
        const hint = suggestion(what, ['provider']) || '. There is: provider';
        throw usageError(`slipway init makes no "${shown(what)}"${hint}`);
      }
      return initProvider(context, { name, dir });
    };
  },
});
