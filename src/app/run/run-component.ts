import { usageError } from '../failures.ts';
import { suggestion } from '../nearest.ts';
import { shown } from '../settings.ts';
import type { ExitCode, VerbContext } from '../verb.ts';
import { RUN_COMPONENTS, type RunComponent } from './components.ts';

/**
 * Runs the component that the first word names, with those that the next ones name; everything after them is for them, as
 * it stands.
 */
export async function runComponent(context: VerbContext, words: readonly string[]): Promise<ExitCode> {
  const [name = '', ...others] = words;
  const component = componentNamed(name);
  const next = others.findIndex((word) => RUN_COMPONENTS.every((one) => one.name !== word));
  const companions = next < 0 ? others : others.slice(0, next);
  for (const companion of companions) requireTogether(component, componentNamed(companion));
  const names = [...new Set([name, ...companions])];
  const argv = others.slice(companions.length);
  const run = await component.load(names);
  const code = await run(context, argv);
  // Whoever gives no flags at all does not know them yet.
  if (code === 2 && argv.length === 0) context.output.hint(`Example: npx ${component.example}`);
  return code;
}

function componentNamed(name: string): RunComponent {
  const component = RUN_COMPONENTS.find((one) => one.name === name);
  if (component !== undefined) return component;
  const names = RUN_COMPONENTS.map((one) => one.name);
  throw usageError(
    `there is no component "${shown(name)}"${suggestion(name, names) || `; there are: ${names.join(', ')}`}`,
  );
}

function requireTogether(first: RunComponent, second: RunComponent): void {
  if (first.together !== undefined && first.together === second.together) return;
  const companions = RUN_COMPONENTS.filter(({ together }) => together !== undefined).map(({ name }) => name);
  throw usageError(
    `${first.name} and ${second.name} do not run in one process: start each by itself (${companions.join(' and ')} can run together)`,
  );
}
