import type { ContractReference } from '../../../api/cluster-api/core-v1beta2.ts';
import { CustomResourceDefinition } from '../../../api/generated/apiextensions-v1.ts';
import type { Kind } from '../../../api/object.ts';
import { type Unstructured, unstructured } from '../../../api/unstructured.ts';
import { retryError } from '../../../base/errors.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';

/** How an object of a provider is spelled. */
export type Contract = 'v1beta1' | 'v1beta2';

export interface ContractKind {
  readonly kind: Kind<Unstructured>;
  readonly contract: Contract;
}

/** The newest first, as Cluster API 1.12 looks for them. */
const CONTRACTS: readonly Contract[] = ['v1beta2', 'v1beta1'];
const KEPT_MS = 60_000;
const MOST_KINDS = 1000;

/**
 * Finds the version of a kind that follows a contract: labels of its definition, such as
 * `cluster.x-k8s.io/v1beta2: v1alpha2`, say so. What was found is believed for a minute.
 */
export class ContractKinds {
  readonly #found = new Map<string, { readonly kind: ContractKind; readonly untilMs: number }>();

  /** Rejects, to be tried again, while the definition is missing or follows no contract. */
  async resolve(
    { apiGroup, kind }: Pick<ContractReference, 'apiGroup' | 'kind'>,
    { client, now, signal }: ReconcileContext,
  ): Promise<ContractKind> {
    const name = `${pluralOf(kind)}.${apiGroup}`;
    const known = this.#found.get(name);
    if (known !== undefined && known.untilMs > now().getTime()) return known.kind;
    const crd = await client.live.find(CustomResourceDefinition, { name }, { metadataOnly: true, signal });
    if (crd === undefined)
      throw retryError('ContractMissing', `there is no definition ${name} of ${kind}; install its provider`);
    const found = contractOf(crd.metadata.labels ?? {});
    if (found === undefined)
      throw retryError(
        'ContractMissing',
        `definition ${name} has no label cluster.x-k8s.io/v1beta2 or /v1beta1; core cannot tell which version to use`,
      );
    const [contract, version] = found;
    const resolved: ContractKind = {
      kind: unstructured({ group: apiGroup, version, kind, plural: pluralOf(kind), scope: 'Namespaced' }),
      contract,
    };
    if (this.#found.size >= MOST_KINDS) this.#found.clear();
    this.#found.set(name, { kind: resolved, untilMs: now().getTime() + KEPT_MS });
    return resolved;
  }
}

function contractOf(labels: Readonly<Record<string, string>>): readonly [Contract, string] | undefined {
  for (const contract of CONTRACTS) {
    const versions = (labels[`cluster.x-k8s.io/${contract}`] ?? '').split('_').filter((text) => text !== '');
    const newest = versions.toSorted((a, b) => rank(a) - rank(b)).at(-1);
    if (newest !== undefined) return [contract, newest];
  }
  return undefined;
}

const STAGES = ['alpha', 'beta', ''];
const [STAGE_WEIGHT, MAJOR_WEIGHT] = [1e6, 1e3];

/** Versions in the order of Kubernetes: v1alpha2 before v1beta1 before v1. */
function rank(version: string): number {
  const [, major = '0', stage = '', minor = '0'] = /^v(\d+)(alpha|beta)?(\d+)?$/.exec(version) ?? [];
  return STAGES.indexOf(stage) * STAGE_WEIGHT + Number(major) * MAJOR_WEIGHT + Number(minor);
}

/** The plural that generators give a kind: definitions of providers have no other name. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
}
