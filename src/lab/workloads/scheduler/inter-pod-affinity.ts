import { type AffinityTerm, matchesAll, matchesTerm } from './affinity-terms.ts';
import type { ClusterView, Placed } from './cluster-view.ts';
import type { NodeView } from './node-view.ts';
import type { PodFacts } from './pod-facts.ts';
import { TopologyCounts } from './topology-counts.ts';

const AFFINITY = ["node(s) didn't match pod affinity rules"] as const;
const ANTI_AFFINITY = ["node(s) didn't match pod anti-affinity rules"] as const;
const EXISTING = ["node(s) didn't satisfy existing pods anti-affinity rules"] as const;
const FITS: readonly string[] = [];
/** Of the required affinity of pods that are there, when nodes are compared. */
const REQUIRED_WEIGHT = 1;

/** Why other pods keep a pod from a node; undefined when no pod says anything about others. */
export function affinityFilter(
  facts: PodFacts,
  view: ClusterView,
): ((node: NodeView) => readonly string[]) | undefined {
  const { required, requiredAnti } = facts.affinities;
  const existing = refusalsOf(facts, view);
  if (existing.isEmpty && required.length === 0 && requiredAnti.length === 0) return undefined;
  const { wanted, unwanted } = companyOf(facts, view);
  // The first pod of those that want to be together: nobody is there whom it could follow.
  const isFirst = wanted.isEmpty && matchesAll(required, facts, view.labelsOfNamespace);
  return (node) => {
    if (!isAmongWanted(required, node, { wanted, isFirst })) return AFFINITY;
    if (requiredAnti.some(({ topologyKey }) => unwanted.at(node, topologyKey) > 0)) return ANTI_AFFINITY;
    return existing.sumAt(node) > 0 ? EXISTING : FITS;
  };
}

interface Wanted {
  readonly wanted: TopologyCounts;
  readonly isFirst: boolean;
}

const isAmongWanted = (terms: readonly AffinityTerm[], node: NodeView, { wanted, isFirst }: Wanted): boolean =>
  terms.every(({ topologyKey }) => node.label(topologyKey) !== undefined) &&
  (isFirst || terms.every(({ topologyKey }) => wanted.at(node, topologyKey) > 0));

/** Where pods are that do not want this one near them. */
function refusalsOf(facts: PodFacts, view: ClusterView): TopologyCounts {
  const counts = new TopologyCounts();
  for (const { facts: other, node } of view.antiAffine.values())
    for (const term of other.affinities.requiredAnti)
      if (matchesTerm(term, facts, view.labelsOfNamespace)) counts.add(node, term.topologyKey, 1);
  return counts;
}

/** Where pods are that this one wants near it, each of which meets all terms, and where those that it does not want. */
function companyOf(
  { affinities: { required, requiredAnti } }: PodFacts,
  view: ClusterView,
): { readonly wanted: TopologyCounts; readonly unwanted: TopologyCounts } {
  const wanted = new TopologyCounts();
  const unwanted = new TopologyCounts();
  if (required.length + requiredAnti.length === 0) return { wanted, unwanted };
  for (const { facts: other, node } of view.placed.values()) {
    if (matchesAll(required, other, view.labelsOfNamespace))
      for (const { topologyKey } of required) wanted.add(node, topologyKey, 1);
    for (const term of requiredAnti)
      if (matchesTerm(term, other, view.labelsOfNamespace)) unwanted.add(node, term.topologyKey, 1);
  }
  return { wanted, unwanted };
}

/** How much a pod and the pods that are there would like it on a node; undefined when nobody cares (K6). */
export function affinityScore(facts: PodFacts, view: ClusterView): ((node: NodeView) => number) | undefined {
  const { preferred, preferredAnti } = facts.affinities;
  const isChoosy = preferred.length + preferredAnti.length > 0;
  const counts = new TopologyCounts();
  for (const placed of (isChoosy ? view.placed : view.affine).values()) addWishes(counts, facts, placed, view);
  return counts.isEmpty ? undefined : (node) => counts.sumAt(node);
}

function addWishes(
  counts: TopologyCounts,
  facts: PodFacts,
  { facts: other, node }: Placed,
  { labelsOfNamespace }: ClusterView,
): void {
  const add = (terms: readonly AffinityTerm[], about: PodFacts, weightOf: (term: AffinityTerm) => number) => {
    for (const term of terms)
      if (matchesTerm(term, about, labelsOfNamespace)) counts.add(node, term.topologyKey, weightOf(term));
  };
  const towards = ({ weight }: AffinityTerm) => weight;
  const away = ({ weight }: AffinityTerm) => -weight;
  add(facts.affinities.preferred, other, towards);
  add(facts.affinities.preferredAnti, other, away);
  add(other.affinities.required, facts, () => REQUIRED_WEIGHT);
  add(other.affinities.preferred, facts, towards);
  add(other.affinities.preferredAnti, facts, away);
}
