import { nodeMatches } from '../placement/node-affinity.ts';
import { untolerated } from '../placement/taints.ts';
import type { ClusterView } from './cluster-view.ts';
import type { NodeView } from './node-view.ts';
import type { PodFacts } from './pod-facts.ts';
import type { SpreadConstraint } from './spread-constraints.ts';

const UNEVEN = ["node(s) didn't match pod topology spread constraints"] as const;
const NO_LABEL = ["node(s) didn't match pod topology spread constraints (missing required label)"] as const;
const FITS: readonly string[] = [];
const HOSTNAME = 'kubernetes.io/hostname';

/** Why a node would have too many of the pods that are to be spread; undefined when the pod asks for no spread. */
export function spreadFilter(
  facts: PodFacts,
  view: ClusterView,
): ((node: NodeView) => readonly string[]) | undefined {
  const { hard } = facts.spread;
  if (hard.length === 0) return undefined;
  const nodes = view.candidates.filter((node) => hasAllLabels(node, hard));
  const measured = hard.map((constraint) => measure(constraint, facts, nodes));
  return (node) => {
    for (const { constraint, counts, least } of measured) {
      const value = node.label(constraint.topologyKey);
      if (value === undefined) return NO_LABEL;
      const skew = (counts.get(value) ?? 0) + (constraint.countsSelf ? 1 : 0) - least;
      if (skew > constraint.maxSkew) return UNEVEN;
    }
    return FITS;
  };
}

const hasAllLabels = (node: NodeView, constraints: readonly SpreadConstraint[]): boolean =>
  constraints.every(({ topologyKey }) => node.label(topologyKey) !== undefined);

interface Measured {
  readonly constraint: SpreadConstraint;
  /** By value of the label. */
  readonly counts: ReadonlyMap<string, number>;
  readonly least: number;
}

function measure(constraint: SpreadConstraint, facts: PodFacts, nodes: readonly NodeView[]): Measured {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    const value = node.label(constraint.topologyKey);
    if (value === undefined || !isIncluded(constraint, facts, node)) continue;
    counts.set(value, (counts.get(value) ?? 0) + countOn(node, constraint));
  }
  const least = counts.size < Math.max(1, constraint.minDomains) ? 0 : Math.min(...counts.values());
  return { constraint, counts, least };
}

function isIncluded(
  { honorsAffinity, honorsTaints }: SpreadConstraint,
  { pod }: PodFacts,
  view: NodeView,
): boolean {
  const { node } = view;
  if (node === undefined) return false;
  if (honorsAffinity && !nodeMatches(pod.spec, node)) return false;
  return (
    !honorsTaints || untolerated(node.spec.taints, pod.spec.tolerations, ['NoSchedule', 'NoExecute']) === undefined
  );
}

function countOn({ pods }: NodeView, { counts }: SpreadConstraint): number {
  let count = 0;
  for (const pod of pods.values()) if (counts(pod)) count++;
  return count;
}

/** How crowded nodes are with pods like this one, less being better; undefined for nodes that are not compared (K6). */
export function spreadScore(
  facts: PodFacts,
  view: ClusterView,
  feasible: readonly NodeView[],
): ((node: NodeView) => number | undefined) | undefined {
  const { soft, isDefault } = facts.spread;
  if (soft.length === 0) return undefined;
  const isCompared = (node: NodeView) => isDefault || hasAllLabels(node, soft);
  const compared = feasible.filter(isCompared);
  const crowds = soft.map((constraint) =>
    crowdOf(constraint, facts, { compared, all: view.candidates, isCompared }),
  );
  return (node) => {
    if (!isCompared(node)) return undefined;
    let score = 0;
    for (const crowd of crowds) score += crowd(node);
    return Math.round(score);
  };
}

interface Nodes {
  readonly compared: readonly NodeView[];
  readonly all: readonly NodeView[];
  readonly isCompared: (node: NodeView) => boolean;
}

/** Topologies of few parts weigh less: else the zones would drown the hosts. */
const weightOf = (parts: number): number => Math.log(parts + 2);

function crowdOf(constraint: SpreadConstraint, facts: PodFacts, nodes: Nodes): (node: NodeView) => number {
  const { topologyKey, maxSkew } = constraint;
  const isHost = topologyKey === HOSTNAME;
  const counts = new Map(nodes.compared.map((node) => [node.label(topologyKey) ?? '', 0]));
  if (!isHost) {
    for (const node of nodes.all) {
      const value = node.label(topologyKey) ?? '';
      const count = counts.get(value);
      if (count === undefined || !nodes.isCompared(node) || !isIncluded(constraint, facts, node)) continue;
      counts.set(value, count + countOn(node, constraint));
    }
  }
  const weight = weightOf(isHost ? nodes.compared.length : counts.size);
  return (node) => {
    const value = node.label(topologyKey);
    if (value === undefined) return 0;
    const count = isHost ? countOn(node, constraint) : (counts.get(value) ?? 0);
    return count * weight + maxSkew - 1;
  };
}
