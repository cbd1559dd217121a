import type { Node } from '../../../api/generated/core-v1-types.ts';
import { namedNodes, nodeMatches } from '../placement/node-affinity.ts';
import { tolerates, untolerated } from '../placement/taints.ts';
import type { ClusterView } from './cluster-view.ts';
import type { FilterName } from './filter-names.ts';
import { affinityFilter } from './inter-pod-affinity.ts';
import type { NodeView } from './node-view.ts';
import type { PodFacts } from './pod-facts.ts';
import { spreadFilter } from './spread.ts';
import { hasRoomForVolumes } from './volume-limits.ts';
import { type PodClaims, volumeReasons } from './volumes.ts';

/** Says why a pod cannot go to a node: one reason, or all shortages of resources; none when it can. */
export interface NodeFilter {
  readonly name: FilterName;
  readonly reasons: (node: NodeView) => readonly string[];
}

type Reasons = NodeFilter['reasons'];

const FITS: readonly string[] = [];
const REFUSALS = {
  name: ["node(s) didn't match the requested node name"],
  unschedulable: ['node(s) were unschedulable'],
  taints: ['node(s) had untolerated taint(s)'],
  affinity: ["node(s) didn't match Pod's node affinity/selector"],
  narrowed: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"],
  ports: ["node(s) didn't have free ports for the requested pod ports"],
  volumes: ['node(s) exceed max volume count'],
} as const;
const CORDONED = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;
/** Taints that keep pods away, whether or not they also drive them out. */
export const REPELLING = ['NoSchedule', 'NoExecute'] as const;

/** The filters that have something to say about a pod, in their order (K2). What they need of other pods is read here. */
export function filtersFor(facts: PodFacts, view: ClusterView, claims: PodClaims): readonly NodeFilter[] {
  const filters: readonly (readonly [FilterName, Reasons | undefined])[] = [
    ['NodeAffinity', narrowingFilter(facts)],
    ['NodeName', nameFilter(facts)],
    ['NodeUnschedulable', unschedulableFilter(facts)],
    ['TaintToleration', taintFilter(facts)],
    ['NodeAffinity', nodeAffinityFilter(facts)],
    ['NodePorts', portFilter(facts)],
    ['NodeResourcesFit', (node) => shortages(facts, node)],
    ['NodeVolumeLimits', limitFilter(facts, view)],
    ['VolumeBinding', volumeFilter(facts, view, claims)],
    ['PodTopologySpread', spreadFilter(facts, view)],
    ['InterPodAffinity', affinityFilter(facts, view)],
  ];
  return filters.flatMap(([name, reasons]) => (reasons === undefined ? [] : [{ name, reasons }]));
}

/** Pods that ask for nodes by name, as those of DaemonSets do, look at no others: these say nothing else. */
function narrowingFilter({ pod: { spec } }: PodFacts): Reasons | undefined {
  const names = namedNodes(spec);
  return names === undefined ? undefined : onNode(({ metadata }) => !names.has(metadata.name), REFUSALS.narrowed);
}

/** A rule about the Node alone. */
const onNode =
  (isRefused: (node: Node) => boolean, reasons: readonly string[]): Reasons =>
  ({ node }) =>
    node !== undefined && isRefused(node) ? reasons : FITS;

/** Pods that name their node are nobody's to place (K8); who asks all the same gets the right answer. */
function nameFilter({ pod }: PodFacts): Reasons | undefined {
  const { nodeName = '' } = pod.spec;
  return nodeName === '' ? undefined : onNode(({ metadata }) => metadata.name !== nodeName, REFUSALS.name);
}

function unschedulableFilter({ pod: { spec } }: PodFacts): Reasons | undefined {
  if (spec.tolerations?.some((toleration) => tolerates(toleration, CORDONED)) === true) return undefined;
  return onNode((node) => node.spec.unschedulable === true, REFUSALS.unschedulable);
}

const taintFilter = ({ pod: { spec } }: PodFacts): Reasons =>
  onNode((node) => untolerated(node.spec.taints, spec.tolerations, REPELLING) !== undefined, REFUSALS.taints);

function nodeAffinityFilter({ pod: { spec } }: PodFacts): Reasons | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (spec.nodeSelector === undefined && required === undefined) return undefined;
  return onNode((node) => !nodeMatches(spec, node), REFUSALS.affinity);
}

const portFilter = ({ hostPorts }: PodFacts): Reasons | undefined =>
  hostPorts.length === 0 ? undefined : ({ ports }) => (ports.clashesWith(hostPorts) ? REFUSALS.ports : FITS);

/** Every resource of which a node has too little left. */
function shortages({ requests }: PodFacts, { allocatable, requested, pods }: NodeView): readonly string[] {
  let found = FITS;
  if (pods.size + 1 > (allocatable.get('pods') ?? 0)) found = ['Too many pods'];
  for (const [name, amount] of requests) {
    const left = (allocatable.get(name) ?? 0) - (requested.get(name) ?? 0);
    if (amount > left) found = [...found, `Insufficient ${name}`];
  }
  return found;
}

const limitFilter = (facts: PodFacts, { storage }: ClusterView): Reasons | undefined =>
  facts.claims.length === 0
    ? undefined
    : (node) => (hasRoomForVolumes(facts, node, storage.objects) ? FITS : REFUSALS.volumes);

const volumeFilter = (
  { claims: uses }: PodFacts,
  { storage }: ClusterView,
  claims: PodClaims,
): Reasons | undefined =>
  uses.length === 0 ? undefined : ({ node }) => (node === undefined ? FITS : volumeReasons(claims, node, storage));
