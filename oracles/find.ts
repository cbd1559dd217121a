import { join } from 'node:path';
import type { Variables } from './cache.ts';
import type { Oracle } from './registry.ts';
import { isWithin, rangeText, versionIn } from './version.ts';

/** envtest's own last resort. */
const KUBEBUILDER_DIRECTORY = '/usr/local/kubebuilder/bin';

/** Everything the lookup asks of the machine. */
export interface Machine {
  readonly variables: Variables;
  /** Where the cache keeps the program, whether it is there or not; undefined when it is never cached. */
  cachedFile(oracle: Oracle): string | undefined;
  readonly cacheDirectory: string;
  isExecutable(path: string): boolean;
  /** What the program prints for its version command; undefined when it does not run. */
  versionOutput(path: string, versionArguments: readonly string[]): string | undefined;
}

export type Place = 'TEST_ASSET' | 'KUBEBUILDER_ASSETS' | 'cache' | 'kubebuilder' | 'PATH';

interface Hit {
  readonly path: string;
  readonly place: Place;
  /** Undefined: the program runs but does not say (oracles/A3). */
  readonly version: string | undefined;
}

export type Finding =
  | (Hit & { readonly state: 'supported' })
  | (Hit & { readonly state: 'unsupported'; readonly reason: string })
  | { readonly state: 'missing'; readonly lookedIn: readonly string[] };

/** The first program in the order of oracles/F1, judged by its version. Never builds or installs anything. */
export function findOracle(oracle: Oracle, machine: Machine): Finding {
  const explicit = explicitFile(oracle, machine);
  if (explicit !== undefined) return explicit;
  for (const { path, place } of candidates(oracle, machine)) {
    if (!machine.isExecutable(path)) continue;
    const finding = judge(oracle, { path, place }, machine);
    const isNamesake = place === 'PATH' && oracle.pathName !== undefined && finding.state !== 'supported';
    if (!isNamesake) return finding;
  }
  return { state: 'missing', lookedIn: placesText(oracle, machine) };
}

export const assetVariable = (name: string): string =>
  `TEST_ASSET_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`;

/** A file named by hand is never quietly replaced by another one. */
function explicitFile(oracle: Oracle, machine: Machine): Finding | undefined {
  const variable = assetVariable(oracle.name);
  const path = set(machine.variables, variable);
  if (path === undefined) return undefined;
  const place = 'TEST_ASSET';
  if (machine.isExecutable(path)) return judge(oracle, { path, place }, machine);
  const reason = `${variable} names ${path}, which is not an executable file`;
  return { state: 'unsupported', path, place, version: undefined, reason };
}

function candidates(oracle: Oracle, machine: Machine): { path: string; place: Place }[] {
  const assets = set(machine.variables, 'KUBEBUILDER_ASSETS');
  const cached = machine.cachedFile(oracle);
  return [
    ...(assets === undefined ? [] : [{ path: join(assets, oracle.name), place: 'KUBEBUILDER_ASSETS' as const }]),
    ...(cached === undefined ? [] : [{ path: cached, place: 'cache' as const }]),
    // Put there by hand: a directory prepared elsewhere, without our digests.
    { path: join(machine.cacheDirectory, oracle.name), place: 'cache' },
    { path: join(KUBEBUILDER_DIRECTORY, oracle.name), place: 'kubebuilder' },
    ...pathDirectories(machine.variables).map((directory) => ({
      path: join(directory, oracle.pathName ?? oracle.name),
      place: 'PATH' as const,
    })),
  ];
}

function judge(oracle: Oracle, { path, place }: { path: string; place: Place }, machine: Machine): Finding {
  const output = machine.versionOutput(path, oracle.versionArguments);
  if (output === undefined) {
    const reason = `${path} ${oracle.versionArguments.join(' ')} does not run`;
    return { state: 'unsupported', path, place, version: undefined, reason };
  }
  const version = versionIn(output);
  if (version === undefined || isWithin(version, oracle.supported))
    return { state: 'supported', path, place, version };
  const reason = `version ${version} is outside the supported range (${rangeText(oracle.supported)})`;
  return { state: 'unsupported', path, place, version, reason };
}

function placesText(oracle: Oracle, machine: Machine): string[] {
  const assets = set(machine.variables, 'KUBEBUILDER_ASSETS');
  return [
    `$${assetVariable(oracle.name)}`,
    assets === undefined ? '$KUBEBUILDER_ASSETS' : `$KUBEBUILDER_ASSETS=${assets}`,
    machine.cacheDirectory,
    KUBEBUILDER_DIRECTORY,
    'PATH',
  ];
}

const pathDirectories = (variables: Variables): string[] =>
  (variables['PATH'] ?? '').split(':').filter((directory) => directory !== '');

/** Empty counts as unset, as in envtest. */
function set(variables: Variables, name: string): string | undefined {
  const value = variables[name];
  return value === '' ? undefined : value;
}
