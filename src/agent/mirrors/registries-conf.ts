import { userError } from '../../base/errors.ts';
import type { MirrorLocation, RegistryMirror } from '../../oci/registry-mirrors.ts';
import { parseToml } from './toml-document.ts';
import { isTomlTable, type TomlTable, type TomlValue } from './toml-values.ts';

/** What `pull-from-mirror` may say (containers-registries.conf); anything else is `all`, as upstream has it. */
const PULL_FROM = ['all', 'digest-only', 'tag-only'] as const;

/**
 * The mirrors in the text of a `registries.conf` (M1). Throws `InvalidMirrorConfig` when it has none, or one that says not
 * of what or where.
 */
export function parseRegistriesConf(text: string): readonly RegistryMirror[] {
  const registries = tablesIn(parseToml(text)['registry']);
  if (registries === undefined)
    throw invalid('there is no [[registry]] in it', 'add one with location and [[registry.mirror]]');
  return registries.map(registryMirror);
}

function registryMirror(registry: TomlTable): RegistryMirror {
  const { location: source, mirror } = registry;
  if (typeof source !== 'string') throw invalid('a [[registry]] has no location', 'give it one as text in quotes');
  const mirrors = tablesIn(mirror);
  if (mirrors === undefined)
    throw invalid(`the [[registry]] ${source} has no [[registry.mirror]]`, 'add one with a location');
  return { source, mirrors: mirrors.map((table) => mirrorLocation(source, table)) };
}

function mirrorLocation(source: string, table: TomlTable): MirrorLocation {
  const { location, insecure } = table;
  if (typeof location !== 'string')
    throw invalid(`a [[registry.mirror]] of ${source} has no location`, 'give it one as text in quotes');
  const pullFrom = PULL_FROM.find((known) => known === table['pull-from-mirror']);
  return {
    location,
    ...(insecure === true && { isInsecure: true }),
    ...(pullFrom !== undefined && { pullFrom }),
  };
}

/** Undefined for what is no list of tables; an empty list is none either. */
function tablesIn(value: TomlValue | undefined): readonly TomlTable[] | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.every(isTomlTable);
  return isList ? value : undefined;
}

const invalid = (found: string, way: string) =>
  userError('InvalidMirrorConfig', `registries.conf names no mirrors: ${found}; ${way}`);
