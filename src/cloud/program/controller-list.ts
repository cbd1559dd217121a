import type { ControllerAlias } from '../../sdk/provider/provider-definition.ts';

/** What a controller is called in `--controllers`. */
export interface ControllerName {
  readonly name: string;
  readonly alias: ControllerAlias;
}

/** Every controller by its canonical name and by the one that users write (ccm §2.1). */
export const CONTROLLER_NAMES: readonly ControllerName[] = [
  { name: 'cloud-node-controller', alias: 'cloud-node' },
  { name: 'cloud-node-lifecycle-controller', alias: 'cloud-node-lifecycle' },
  { name: 'service-lb-controller', alias: 'service' },
  { name: 'node-route-controller', alias: 'route' },
];

/** Aliases become names, also behind a dash; the order stays (P1). */
export const canonicalControllers = (entries: readonly string[]): readonly string[] =>
  entries.map((entry) => {
    const bare = bareName(entry);
    const known = CONTROLLER_NAMES.find(({ alias }) => alias === bare);
    return known === undefined ? entry : `${entry === bare ? '' : '-'}${known.name}`;
  });

/** The first entry about a controller decides; without one, it runs where all do (P1, P2). */
export function isControllerEnabled(name: string, entries: readonly string[]): boolean {
  const first = entries.find((entry) => bareName(entry) === name);
  return first === undefined ? entries.includes('*') : first === name;
}

/** One problem per entry that means nobody, by the name that was written (P1); then, once, those that there are. */
export function controllerProblems(entries: readonly string[]): readonly string[] {
  const known = new Set(CONTROLLER_NAMES.flatMap(({ name, alias }) => [name, alias]));
  const problems = entries
    .filter((entry) => entry !== '*' && !known.has(bareName(entry)))
    .map((entry) => `"${bareName(entry)}" is not in the list of known controllers`);
  return problems.length === 0 ? [] : [...problems, `known controllers: ${KNOWN}`];
}

const KNOWN = `${CONTROLLER_NAMES.map(({ alias }) => alias).join(', ')}, and * for all`;

const bareName = (entry: string): string => entry.replace(/^-/, '');
