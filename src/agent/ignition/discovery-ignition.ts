import type { OpenshiftAssistedConfigSpec } from '../../api/agent/bootstrap-v1alpha2.ts';
import { retryError, type SlipwayError } from '../../base/errors.ts';
import { parseExact } from '../../object/exact-json.ts';
import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';
import { nameVariable } from './node-labels.ts';
import { discoverySteps } from './node-steps.ts';

/**
 * The config that a host is discovered with: the downloaded one, byte for byte, unless the spec names the host. Then
 * what does so is appended, and everything else stays, whatever its version; so does a file or unit that the download
 * already has under the same name.
 */
export function discoveryIgnition(downloaded: string, spec: OpenshiftAssistedConfigSpec): string {
  const variable = nameVariable(spec.nodeRegistration?.name ?? '');
  if (variable === undefined) return downloaded;
  const steps = discoverySteps(variable);
  const config = downloadedConfig(downloaded);
  const storage = sectionOf(config, 'storage');
  const systemd = sectionOf(config, 'systemd');
  return stringifyJson({
    ...config,
    storage: {
      ...storage,
      files: appended(
        storage,
        'files',
        'path',
        steps.map(({ file }) => file),
      ),
    },
    systemd: {
      ...systemd,
      units: appended(
        systemd,
        'units',
        'name',
        steps.map(({ unit }) => unit),
      ),
    },
  });
}

function downloadedConfig(text: string): JsonObject {
  try {
    const config = parseExact(text);
    if (isJsonObject(config)) return config;
  } catch (error) {
    throw unusable('it is no JSON', error);
  }
  throw unusable('it is no object');
}

function sectionOf(config: JsonObject, name: string): JsonObject {
  const section = getKey(config, name) ?? {};
  if (isJsonObject(section)) return section;
  throw unusable(`${name} is no object`);
}

function appended(section: JsonObject, list: string, key: string, additions: readonly JsonObject[]): Json[] {
  const found = getKey(section, list) ?? [];
  if (!Array.isArray(found)) throw unusable(`${list} is no list`);
  const names = new Set(found.map((entry) => (isJsonObject(entry) ? getKey(entry, key) : undefined)));
  return [...found, ...additions.filter((addition) => !names.has(getKey(addition, key)))];
}

/** A proxy or a service that is just starting answers such things: later there may be a config. */
const unusable = (found: string, cause?: unknown): SlipwayError =>
  retryError(
    'InvalidDiscoveryIgnition',
    `the discovery ignition of assisted-service cannot be used: ${found}. It is downloaded again; ` +
      'if this stays, look at what answers at the address of the service',
    { cause },
  );
