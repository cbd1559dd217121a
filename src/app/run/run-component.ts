import { usageError } from '../failures.ts';
import { suggestion } from '../nearest.ts';
import { shown } from '../settings.ts';
import type { ExitCode, VerbContext } from '../verb.ts';
import { RUN_COMPONENTS } from './components.ts';

/** Runs the component that the first word names; everything after it is for that one, as it stands. */
export async function runComponent(context: VerbContext, words: readonly string[]): Promise<ExitCode> {
  const [name = '', ...argv] = words;
  const component = RUN_COMPONENTS.find((one) => one.name === name);
  if (component === undefined) {
    const names = RUN_COMPONENTS.map((one) => one.name);
    throw usageError(
      `there is no component "${shown(name)}"${suggestion(name, names) || `; there are: ${names.join(', ')}`}`,
    );
  }
  const run = await component.load();
  const code = await run(context, argv);
  // Whoever gives no flags at all does not know them yet.
  if (code === 2 && argv.length === 0) context.output.hint(`Example: npx ${component.example}`);
  return code;
}
