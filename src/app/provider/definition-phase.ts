import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { CAPABILITY_NAMES } from '../../sdk/capabilities/capabilities.ts';
import { CommandError } from '../failures.ts';
import { slipwayPackage } from '../init/slipway-package.ts';
import { Handover, type Phase, type PhaseContext, type PhaseOutcome } from '../journey/phase.ts';
import { shellWord } from '../journey/plain-text.ts';
import { type LoadedProvider, loadProvider } from './load-provider.ts';

/** The provider of the journey, for the phases after this one. */
export const PROVIDER = new Handover<LoadedProvider>('provider');

/** The example that `slipway init` copies; in the package as in a clone. */
const exampleProvider = (): string => join(slipwayPackage().root, 'examples', 'acme-cloud');

/** Loads and checks the definition that everything else follows from: that of the user, or the example. */
export const definitionPhase = (path?: string): Phase => ({
  id: 'definition',
  needs: [],
  run: (context) => run(context, path ?? exampleProvider()),
  probes: [],
});

async function run(context: PhaseContext, path: string): Promise<PhaseOutcome> {
  context.progress('loading the definition');
  let loaded: LoadedProvider;
  try {
    loaded = await loadProvider(context.folder, path);
  } catch (error) {
    return failed(error, path);
  }
  PROVIDER.put(context, loaded);
  const { definition, shown } = loaded;
  const present = CAPABILITY_NAMES.filter((name) => definition.capabilities[name] !== undefined);
  return {
    health: 'done',
    detail: `${definition.displayName}: ${present.length} of ${CAPABILITY_NAMES.length} capabilities, 0 errors`,
    tries: [{ kind: 'command', text: `npx slipway lint ${shellWord(shown)}` }],
  };
}

function failed(error: unknown, path: string): PhaseOutcome {
  if (!(error instanceof CommandError)) throw error;
  return {
    health: 'failed',
    detail: 'the definition cannot be used',
    cause: oneLine(messageOf(error)),
    code: error.code,
    next: [`npx slipway lint ${shellWord(path)}`],
  };
}

/** A journey has one line for it: the problems of a list follow its heading. */
function oneLine(message: string): string {
  const [first = '', ...others] = message.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' '));
  return others.length === 0 ? first : `${first} ${others.join('; ')}`;
}
