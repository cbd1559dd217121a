import type { PodSpec } from '../../../api/generated/core-v1-types.ts';
import { matchesTerms } from '../placement/node-affinity.ts';
import { tolerates } from '../placement/taints.ts';
import type { ClusterView } from './cluster-view.ts';
import { affinityScore } from './inter-pod-affinity.ts';
import type { NodeView } from './node-view.ts';
import type { PodFacts } from './pod-facts.ts';
import { spreadScore } from './spread.ts';

const MOST = 100;

/** Scores of the same nodes, in the same order; between 0 and 100 each. */
type Scores = readonly number[];

/**
 * The node that suits a pod best, of those that it can go to: the sum of what each plugin says, weighted as upstream
 * does it; of equals the one with the fewest pods, then the first by name (K6).
 */
export function bestOf(
  facts: PodFacts,
  view: ClusterView,
  feasible: readonly [NodeView, ...NodeView[]],
): NodeView {
  const [only, ...others] = feasible;
  if (others.length === 0) return only;
  const totals = totalScores(facts, view, feasible);
  let best = { node: only, score: totals[0] ?? 0 };
  for (const [at, node] of feasible.entries()) {
    const score = totals[at] ?? 0;
    if (score > best.score || (score === best.score && isLess(node, best.node))) best = { node, score };
  }
  return best.node;
}

const isLess = (one: NodeView, other: NodeView): boolean =>
  one.pods.size === other.pods.size ? one.name < other.name : one.pods.size < other.pods.size;

/** What all plugins say together of each node. */
export function totalScores(facts: PodFacts, view: ClusterView, nodes: readonly NodeView[]): Scores {
  const plugins: readonly (readonly [weight: number, scores: Scores | undefined])[] = [
    [3, taintScores(facts, nodes)],
    [2, nodeAffinityScores(facts, nodes)],
    [2, affinityScores(facts, view, nodes)],
    [2, spreadScores(facts, view, nodes)],
    [1, nodes.map((node) => leastAllocated(facts, node))],
  ];
  return nodes.map((_, at) => plugins.reduce((sum, [weight, scores]) => sum + weight * (scores?.[at] ?? 0), 0));
}

/** Fewer taints that ask for other pods are better. */
function taintScores({ pod: { spec } }: PodFacts, nodes: readonly NodeView[]): Scores {
  const counts = nodes.map((node) => softTaints(spec, node));
  const most = Math.max(...counts);
  return counts.map((count) => (most === 0 ? MOST : MOST - Math.trunc((MOST * count) / most)));
}

const softTaints = ({ tolerations = [] }: PodSpec, { node }: NodeView): number =>
  (node?.spec.taints ?? []).filter(
    (taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint)),
  ).length;

function nodeAffinityScores({ pod: { spec } }: PodFacts, nodes: readonly NodeView[]): Scores | undefined {
  const terms = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length === 0) return undefined;
  const sums = nodes.map(({ node }) =>
    terms.reduce(
      (sum, { preference, weight }) =>
        node !== undefined && matchesTerms([preference], node) ? sum + weight : sum,
      0,
    ),
  );
  const most = Math.max(...sums);
  return most === 0 ? sums : sums.map((sum) => Math.trunc((MOST * sum) / most));
}

function affinityScores(facts: PodFacts, view: ClusterView, nodes: readonly NodeView[]): Scores | undefined {
  const scoreOf = affinityScore(facts, view);
  if (scoreOf === undefined) return undefined;
  const scores = nodes.map(scoreOf);
  const least = Math.min(...scores);
  const range = Math.max(...scores) - least;
  return scores.map((score) => (range > 0 ? Math.trunc(MOST * ((score - least) / range)) : 0));
}

function spreadScores(facts: PodFacts, view: ClusterView, nodes: readonly NodeView[]): Scores | undefined {
  const crowdOf = spreadScore(facts, view, nodes);
  if (crowdOf === undefined) return undefined;
  const crowds = nodes.map(crowdOf);
  const known = crowds.filter((crowd) => crowd !== undefined);
  const [least, most] = [Math.min(...known), Math.max(0, ...known)];
  return crowds.map((crowd) => {
    if (crowd === undefined) return 0;
    return most === 0 ? MOST : Math.trunc((MOST * (most + least - crowd)) / most);
  });
}

/** The part of processors and memory that would stay free. What a node does not say it has does not count. */
function leastAllocated({ scored }: PodFacts, { allocatable, scored: taken }: NodeView): number {
  const free = ['cpu', 'memory'].flatMap((name) => {
    const all = allocatable.get(name) ?? 0;
    if (all === 0) return [];
    const used = (taken.get(name) ?? 0) + (scored.get(name) ?? 0);
    return [used > all ? 0 : Math.trunc(((all - used) * MOST) / all)];
  });
  return free.length === 0 ? 0 : Math.trunc(free.reduce((sum, part) => sum + part, 0) / free.length);
}
