import type { Taint } from '../../../api/generated/core-v1-types.ts';
import { untolerated } from '../placement/taints.ts';
import type { ClusterView } from './cluster-view.ts';
import type { FilterName } from './filter-names.ts';
import { filtersFor, type NodeFilter, REPELLING } from './filters.ts';
import type { NodeView } from './node-view.ts';
import type { PodFacts } from './pod-facts.ts';
import { bestOf } from './scores.ts';
import { podClaims } from './volumes.ts';

export interface Placement {
  readonly type: 'placed';
  readonly node: string;
  /** Names of claims whose volumes are made for this node. */
  readonly claims: readonly string[];
}

export interface Refusal {
  readonly type: 'unschedulable';
  /** For the condition and the event (K3). */
  readonly message: string;
  /** Whoever refused a node; empty when there was none to refuse. */
  readonly refusedBy: ReadonlySet<FilterName>;
  /** Keys of taints that kept the pod away, which the message does not name (K4). */
  readonly taints: readonly string[];
}

export type Decision = Placement | Refusal;

const NO_NODES: Refusal = {
  type: 'unschedulable',
  message: 'no nodes available to schedule pods',
  refusedBy: new Set(),
  taints: [],
};
/** Upstream tells here whom it would have to evict. */
const NO_PREEMPTION = 'preemption: not simulated by the lab.';

/** Pure: where a pod goes, or why nowhere (K2, K3, K6). */
export function decide(facts: PodFacts, view: ClusterView): Decision {
  const nodes = view.candidates;
  if (nodes.length === 0) return NO_NODES;
  const claims = podClaims(facts, view.storage);
  if ('problem' in claims) {
    const message = `0/${nodes.length} nodes are available: ${claims.problem}. ${NO_PREEMPTION}`;
    return { type: 'unschedulable', message, refusedBy: new Set(['VolumeBinding']), taints: [] };
  }
  const survey = surveyOf(nodes, filtersFor(facts, view, claims));
  const [first, ...more] = survey.feasible;
  if (first === undefined) return refusal(facts, nodes, survey);
  const { name } = bestOf(facts, view, [first, ...more]);
  return { type: 'placed', node: name, claims: claims.delayed.map(({ metadata }) => metadata.name) };
}

interface Survey {
  readonly feasible: readonly NodeView[];
  /** How many nodes each reason speaks against. */
  readonly reasons: ReadonlyMap<string, number>;
  readonly refusedBy: ReadonlySet<FilterName>;
}

function surveyOf(nodes: readonly NodeView[], filters: readonly NodeFilter[]): Survey {
  const feasible: NodeView[] = [];
  const reasons = new Map<string, number>();
  const refusedBy = new Set<FilterName>();
  for (const node of nodes) {
    const refused = firstRefusal(node, filters);
    if (refused === undefined) feasible.push(node);
    else {
      refusedBy.add(refused.name);
      for (const reason of refused.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  }
  return { feasible, reasons, refusedBy };
}

function firstRefusal(
  node: NodeView,
  filters: readonly NodeFilter[],
): { readonly name: FilterName; readonly reasons: readonly string[] } | undefined {
  for (const { name, reasons } of filters) {
    const found = reasons(node);
    if (found.length > 0) return { name, reasons: found };
  }
  return undefined;
}

function refusal(facts: PodFacts, nodes: readonly NodeView[], { reasons, refusedBy }: Survey): Refusal {
  const message = `${unavailable(nodes.length, reasons)} ${NO_PREEMPTION}`;
  const isTainted = refusedBy.has('TaintToleration');
  return { type: 'unschedulable', message, refusedBy, taints: isTainted ? untoleratedKeys(facts, nodes) : [] };
}

/** Sorted as texts, as upstream does: 10 comes before 2 (K3). */
export function unavailable(nodes: number, reasons: ReadonlyMap<string, number>): string {
  const counts = [...reasons].map(([reason, count]) => `${count} ${reason}`);
  return `0/${nodes} nodes are available: ${counts.toSorted().join(', ')}.`;
}

function untoleratedKeys({ pod: { spec } }: PodFacts, nodes: readonly NodeView[]): readonly string[] {
  const taints = nodes
    .map(({ node }) => untolerated(node?.spec.taints, spec.tolerations, REPELLING))
    .filter((taint): taint is Taint => taint !== undefined);
  return [...new Set(taints.map(({ key, effect }) => `${key}:${effect}`))].toSorted();
}
