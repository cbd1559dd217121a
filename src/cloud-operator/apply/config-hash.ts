import { createHash } from 'node:crypto';
import type { PodTemplateSpec } from '../../api/generated/core-v1-types.ts';
import type { Json, JsonObject } from '../../object/json.ts';
import { setKey } from '../../object/json.ts';
import { canonicalJson } from './canonical-json.ts';

/** On pod templates: pods start anew when what they read has changed. */
export const CONFIG_HASH_ANNOTATION = 'operator.openshift.io/config-hash';

/** Names, each once. */
export interface ConfigSources {
  readonly configMaps: readonly string[];
  readonly secrets: readonly string[];
}

/** `data` by the name of its object, as the API server writes it: that of Secrets in base64. */
export interface ConfigContents {
  readonly configMaps: ReadonlyMap<string, ConfigData | undefined>;
  readonly secrets: ReadonlyMap<string, ConfigData | undefined>;
}

type ConfigData = Readonly<Record<string, string>>;

/** What upstream looks at, and nothing else, such as projected volumes: else the hashes would differ (R38). */
export function configSources({ spec }: PodTemplateSpec): ConfigSources {
  const { volumes = [], containers = [], initContainers = [] } = spec ?? {};
  const all = [...initContainers, ...containers];
  const fromAll = all.flatMap(({ envFrom = [] }) => envFrom);
  const values = all.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom));
  return {
    configMaps: distinct([
      ...volumes.map(({ configMap }) => configMap?.name),
      ...fromAll.map(({ configMapRef }) => configMapRef?.name),
      ...values.map((value) => value?.configMapKeyRef?.name),
    ]),
    secrets: distinct([
      ...volumes.map(({ secret }) => secret?.secretName),
      ...fromAll.map(({ secretRef }) => secretRef?.name),
      ...values.map((value) => value?.secretKeyRef?.name),
    ]),
  };
}

const distinct = (names: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(names.filter((name): name is string => name !== undefined && name !== '')),
];

/** The same as upstream to the bit: a cluster that is taken over keeps its pods (R38). */
export const configHash = ({ configMaps, secrets }: ConfigContents): string =>
  createHash('sha256')
    .update(canonicalJson({ configMaps: byName(configMaps), secrets: byName(secrets) }))
    .digest('hex');

function byName(contents: ReadonlyMap<string, ConfigData | undefined>): JsonObject {
  const result: JsonObject = {};
  for (const [name, data] of contents) setKey(result, name, (data as Json | undefined) ?? null);
  return result;
}
