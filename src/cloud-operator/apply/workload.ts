import type { DaemonSet, Deployment } from '../../api/generated/apps-v1.ts';
import { ConfigMap, Secret } from '../../api/generated/core-v1.ts';
import { type Kind, type KubeObject, keyOf, keyText } from '../../api/object.ts';
import { messageOf } from '../../base/errors.ts';
import { ApiError, isForbidden, isNotFound } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { type Json, jsonEqual } from '../../object/json.ts';
import { semanticEqual } from '../../object/semantic-equality.ts';
import { contentOf } from './compare.ts';
import { CONFIG_HASH_ANNOTATION, configHash, configSources } from './config-hash.ts';
import { SPEC_HASH_ANNOTATION, specHash } from './spec-hash.ts';

/** Answers that say no to the content, and not that the time is wrong. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 422]);

/** A pod template with those that run it; both kinds are applied alike. */
export type Workload = Deployment | DaemonSet;

/** On workloads: the generation that they were to have after the write, in lower-case hexadecimal (R41). */
const GENERATION_ANNOTATION = 'operator.openshift.io/generation';

export const isWorkload = (object: KubeObject): object is Workload =>
  object.kind === 'Deployment' || object.kind === 'DaemonSet';

/** The hash of what its pods read, or why there is none. */
export type ConfigCheck = { readonly hash: string } | { readonly problem: string };

/**
 * Fails with whatever keeps the server from answering: to go on without the hash would restart the pods for nothing. Only what is
 * missing, or not for our eyes, is a problem of the objects (R38).
 */
export async function checkConfig(client: KubeClient, { metadata, spec }: Workload): Promise<ConfigCheck> {
  const { namespace = '' } = metadata;
  const sources = configSources(spec.template);
  const problems: string[] = [];
  const read = async (kind: typeof ConfigMap | typeof Secret, name: string) => {
    try {
      const object = await client.get<ConfigMap | Secret, unknown>(kind, { namespace, name });
      return [name, object.data] as const;
    } catch (error) {
      if (!isNotFound(error) && !isForbidden(error)) throw error;
      problems.push(messageOf(error));
      return [name, undefined] as const;
    }
  };
  const configMaps = new Map(await Promise.all(sources.configMaps.map((name) => read(ConfigMap, name))));
  const secrets = new Map(await Promise.all(sources.secrets.map((name) => read(Secret, name))));
  if (problems.length === 0) return { hash: configHash({ configMaps, secrets }) };
  // Answers come in any order: an event that differs each time would be another event each time.
  const [first = '', ...rest] = problems.toSorted();
  const text = rest.length === 0 ? first : `[${[first, ...rest].join(', ')}]`;
  return { problem: `error calculating configuration hash: ${text}` };
}

/** As it is wanted: with the hash of its configuration in the pod template, and with that of the spec on itself. */
export function hashedWorkload(given: Workload, check: ConfigCheck): Workload {
  const spec = 'hash' in check ? withConfigHash(given.spec, check.hash) : given.spec;
  const annotations = { ...given.metadata.annotations, [SPEC_HASH_ANNOTATION]: specHash(spec as unknown as Json) };
  return { ...given, metadata: { ...given.metadata, annotations }, spec } as Workload;
}

function withConfigHash(spec: Workload['spec'], hash: string): Workload['spec'] {
  const { metadata = {} } = spec.template;
  const annotations = { ...metadata.annotations, [CONFIG_HASH_ANNOTATION]: hash };
  return { ...spec, template: { ...spec.template, metadata: { ...metadata, annotations } } };
}

/** With the generation that it will have. */
export function withGeneration<T extends KubeObject>(object: T, generation: number): T {
  const annotations = { ...object.metadata.annotations, [GENERATION_ANNOTATION]: generation.toString(16) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

export const generationOf = ({ metadata: { generation = 0 } }: KubeObject): number => generation;

/**
 * Whether the annotation is what one of our writes has left: a server counts what it takes for a change, and for a
 * DaemonSet an annotation is none (R43).
 */
function isGenerationOurs(existing: KubeObject): boolean {
  const said = existing.metadata.annotations?.[GENERATION_ANNOTATION];
  const generation = generationOf(existing);
  return said === generation.toString(16) || said === (generation + 1).toString(16);
}

export const hasOtherSelector = (required: Workload, existing: Workload): boolean =>
  !semanticEqual(required.spec.selector as Json, existing.spec.selector as Json);

/**
 * Knows what the server has made of what was wanted: defaults, and whatever admission adds. Where it does not know, it
 * asks by a dry run, which is exact where comparing is a guess: one that changes nothing proves that nobody else has
 * changed the spec, whatever annotations say. Once for each generation, as long as the process lives.
 */
export class AppliedSpecs {
  readonly #client: KubeClient;
  // One entry for each workload that was ever rendered: a handful.
  readonly #seen = new Map<string, string>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** `existing` is the answer to a write of `required`. */
  remember(kind: Kind, required: Workload, existing: KubeObject): void {
    this.#seen.set(placeOf(kind, existing), stateOf(required, existing));
  }

  /** Their metadata are equal already. */
  async isAsApplied(kind: Kind, required: Workload, existing: KubeObject): Promise<boolean> {
    if (this.#seen.get(placeOf(kind, existing)) === stateOf(required, existing)) return true;
    if (!isGenerationOurs(existing) || (await this.#wouldChange(kind, required, existing))) return false;
    this.remember(kind, required, existing);
    return true;
  }

  async #wouldChange(kind: Kind, { spec }: Workload, existing: KubeObject): Promise<boolean> {
    try {
      const after = await this.#client.update(kind, { ...existing, spec }, { dryRun: true });
      return !jsonEqual(contentOf(after)['spec'], contentOf(existing)['spec']);
    } catch (error) {
      // Refused, such as another selector, or by a webhook that takes no dry runs: the write itself will tell.
      if (error instanceof ApiError && REFUSALS.has(error.code)) return true;
      throw error;
    }
  }
}

const placeOf = ({ kind }: Kind, object: KubeObject): string => `${kind} ${keyText(keyOf(object))}`;

/** A spec cannot change without its generation. */
const stateOf = (required: KubeObject, { metadata: { uid = '', generation = 0 } }: KubeObject): string =>
  `${uid} ${generation} ${required.metadata.annotations?.[SPEC_HASH_ANNOTATION] ?? ''}`;
