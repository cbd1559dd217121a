import type { Resource } from '../registry/resource.ts';

export interface ServedVersion {
  readonly version: string;
  readonly resources: readonly Resource[];
}

export interface ServedGroup {
  readonly name: string;
  /** The first is the preferred one. */
  readonly versions: readonly ServedVersion[];
}

/** The groups of what is served, core first: built-in groups in the order given, then custom groups by name. */
export function servedGroups(resources: readonly Resource[]): readonly ServedGroup[] {
  const groups = Map.groupBy(resources, ({ group }) => group);
  const builtIn = new Set(resources.filter(({ isCustom }) => !isCustom).map(({ group }) => group));
  const custom = [...groups.keys()].filter((name) => !builtIn.has(name)).sort();
  return [...builtIn, ...custom].map((name) => ({ name, versions: versionsOf(groups.get(name) ?? []) }));
}

/** The resources of one group version, in the order of discovery: built-ins as given, custom ones by name. */
export function resourcesOf(resources: readonly Resource[], group: string, version: string): readonly Resource[] {
  const own = resources.filter((resource) => resource.group === group && resource.version === version);
  return [...own.filter(({ isCustom }) => !isCustom), ...own.filter(({ isCustom }) => isCustom).sort(byPlural)];
}

const byPlural = (a: Resource, b: Resource): number => (a.plural < b.plural ? -1 : 1);

function versionsOf(resources: readonly Resource[]): readonly ServedVersion[] {
  const names = [...new Set(resources.map(({ version }) => version))].sort(compareVersions);
  return names.map((version) => ({
    version,
    resources: resourcesOf(resources, resources[0]?.group ?? '', version),
  }));
}

const STAGES = ['alpha', 'beta', ''];

/**
 * Kubernetes version priority, best first: stable before beta before alpha, then by number; names of another form come last, in
 * the order of the alphabet (D3).
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionParts(a), versionParts(b)];
  if (left !== undefined && right !== undefined) {
    const different = left.findIndex((part, at) => part !== right[at]);
    return different < 0 ? 0 : (right[different] ?? 0) - (left[different] ?? 0);
  }
  if (left !== undefined) return -1;
  if (right !== undefined) return 1;
  return a < b ? -1 : Number(a > b);
}

/** `v1beta2` → stage, major, minor. */
function versionParts(version: string): readonly number[] | undefined {
  const parts = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  return parts === null ? undefined : [STAGES.indexOf(parts[2] ?? ''), Number(parts[1]), Number(parts[3] ?? 0)];
}
