import type { ContractReference } from '../../api/cluster-api/core-v1beta2.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import type { Kind } from '../../api/object.ts';
import { type Unstructured, unstructured } from '../../api/unstructured.ts';
import type { Clock } from '../../base/clock.ts';
import { retryError } from '../../base/errors.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { machineKindOf } from './machine-objects.ts';

/** Contracts of Cluster API, the newest first: the labels of definitions name the versions that follow them. */
const CONTRACTS = ['cluster.x-k8s.io/v1beta2', 'cluster.x-k8s.io/v1beta1'];
const LASTS_MS = 600_000;

/** A template and what is made from it. */
export interface InfrastructureKinds {
  readonly template: Kind<Unstructured>;
  readonly machine: Kind<Unstructured>;
}

/** The plural by which definitions are named, as Cluster API guesses it. Pure. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/** The newest version that a definition has for the newest contract that it follows; undefined when none. Pure. */
export function contractVersion(labels: Readonly<Record<string, string>>): string | undefined {
  const versions = CONTRACTS.map((contract) => labels[contract] ?? '').find((value) => value !== '');
  return versions?.split('_').toSorted(byMaturity).at(-1);
}

/** `v1alpha1` before `v1beta1` before `v1`, then by number, as the API server ranks versions. */
function byMaturity(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  const at = left.findIndex((number, index) => number !== right[index]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

function rankOf(version: string): readonly number[] {
  const [, major = '0', stage = '', minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return [['alpha', 'beta', ''].indexOf(stage), Number(major), Number(minor)];
}

/** Finds the version of infrastructure kinds, which references do not say. Definitions seldom change: it remembers. */
export class ContractKinds {
  readonly #clock: Clock;
  /** Bounded by the kinds of infrastructure that the cluster has. */
  readonly #known = new Map<string, { readonly kinds: InfrastructureKinds; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async of(client: Pick<KubeClient, 'live'>, reference: ContractReference): Promise<InfrastructureKinds> {
    const { apiGroup: group, kind } = reference;
    const definition = `${pluralOf(kind)}.${group}`;
    const nowMs = this.#clock.monotonicMs();
    const known = this.#known.get(definition);
    if (known !== undefined && known.untilMs > nowMs) return known.kinds;
    const version = await this.#version(client, definition);
    const kindOf = (name: string) =>
      unstructured({ group, version, kind: name, plural: pluralOf(name), scope: 'Namespaced' });
    const kinds = { template: kindOf(kind), machine: kindOf(machineKindOf(kind)) };
    this.#known.set(definition, { kinds, untilMs: nowMs + LASTS_MS });
    return kinds;
  }

  async #version(client: Pick<KubeClient, 'live'>, name: string): Promise<string> {
    const found = await client.live.find(CustomResourceDefinition, { name }, { metadataOnly: true });
    if (found === undefined)
      throw cloningError(`CustomResourceDefinition ${name} does not exist; install the infrastructure provider`);
    const version = contractVersion(found.metadata.labels ?? {});
    if (version !== undefined) return version;
    const what = `CustomResourceDefinition ${name} has neither label ${CONTRACTS.join(' nor ')}`;
    throw cloningError(`${what}; a provider that follows a contract of Cluster API has one`);
  }
}

const cloningError = (message: string) => retryError('InfrastructureTemplateCloningFailed', message);
