import type { Pod, PodAffinityTerm, WeightedPodAffinityTerm } from '../../../api/generated/core-v1-types.ts';
import type { LabelSelector as SelectorObject } from '../../../api/generated/meta-v1-types.ts';
import type { JsonObject } from '../../../object/json.ts';
import { type LabelRequirement, SelectorProblem } from '../../../object/label-requirement.ts';
import { type LabelSelector, labelSelectorOf, matchesLabels, NOTHING } from '../../../object/label-selector.ts';

/** A term of (anti-)affinity between pods, read once. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly selector: LabelSelector;
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: LabelSelector;
  /** 0 for required terms. */
  readonly weight: number;
}

/** What a pod says about the company it keeps. */
export interface Affinities {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly AffinityTerm[];
  readonly preferredAnti: readonly AffinityTerm[];
}

/** The labels of a namespace; none when it is not known. */
export type NamespaceLabels = (namespace: string) => JsonObject;

export interface Labelled {
  readonly namespace: string;
  readonly labels: JsonObject;
}

const NONE: Affinities = { required: [], requiredAnti: [], preferred: [], preferredAnti: [] };

export function affinitiesOf(pod: Pick<Pod, 'metadata' | 'spec'>): Affinities {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  if (podAffinity === undefined && podAntiAffinity === undefined) return NONE;
  const required = (terms: readonly PodAffinityTerm[] = []) => terms.map((term) => termOf(term, pod, 0));
  const weighted = (terms: readonly WeightedPodAffinityTerm[] = []) =>
    terms.map(({ podAffinityTerm, weight }) => termOf(podAffinityTerm, pod, weight));
  return {
    required: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAnti: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: weighted(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAnti: weighted(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  };
}

export const hasAffinity = ({ required, requiredAnti, preferred, preferredAnti }: Affinities): boolean =>
  required.length + requiredAnti.length + preferred.length + preferredAnti.length > 0;

export const matchesTerm = (term: AffinityTerm, pod: Labelled, labelsOf: NamespaceLabels): boolean =>
  (term.namespaces.has(pod.namespace) || matchesLabels(term.namespaceSelector, labelsOf(pod.namespace))) &&
  matchesLabels(term.selector, pod.labels);

/** Whether there are terms and a pod matches each of them. */
export const matchesAll = (terms: readonly AffinityTerm[], pod: Labelled, labelsOf: NamespaceLabels): boolean =>
  terms.length > 0 && terms.every((term) => matchesTerm(term, pod, labelsOf));

/** A selector that cannot be understood selects nothing: no server lets one through. */
export function selectorFrom(selector: SelectorObject | undefined): LabelSelector {
  try {
    // Plain JSON that came from the server.
    return labelSelectorOf(selector as unknown as JsonObject | undefined);
  } catch (error) {
    if (error instanceof SelectorProblem) return NOTHING;
    throw error;
  }
}

/** The same with what the labels of the pod itself ask for. A server may have written it into the selector already. */
export function withLabelKeys(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
  { same = [], other = [] }: { readonly same?: readonly string[]; readonly other?: readonly string[] },
): LabelSelector {
  const requirements = (keys: readonly string[], operator: 'in' | 'notin'): readonly LabelRequirement[] =>
    keys.flatMap((key) => {
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  const more = [...requirements(same, 'in'), ...requirements(other, 'notin')];
  return more.length === 0 ? selector : { ...selector, requirements: [...selector.requirements, ...more] };
}

function termOf(term: PodAffinityTerm, { metadata }: Pick<Pod, 'metadata'>, weight: number): AffinityTerm {
  const { namespaces = [], namespaceSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const isOwn = namespaces.length === 0 && namespaceSelector === undefined;
  return {
    topologyKey: term.topologyKey,
    selector: withLabelKeys(selectorFrom(term.labelSelector), metadata.labels, {
      same: matchLabelKeys,
      other: mismatchLabelKeys,
    }),
    namespaces: new Set(isOwn ? [metadata.namespace ?? ''] : namespaces),
    namespaceSelector: selectorFrom(namespaceSelector),
    weight,
  };
}
