import type { Pod, TopologySpreadConstraint } from '../../../api/generated/core-v1-types.ts';
import { type LabelSelector, matchesLabels } from '../../../object/label-selector.ts';
import { controllerReferenceOf } from '../../../object/owner-references.ts';
import { type Labelled, selectorFrom, withLabelKeys } from './affinity-terms.ts';

/** How evenly pods are to be spread over the values of a label of nodes, read once. */
export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** Whether nodes that the pod may not run on, by its affinity or their taints, are left out. */
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
  /** Which pods are counted. */
  readonly counts: (pod: Countable) => boolean;
  /** Whether the pod itself would be counted. */
  readonly countsSelf: boolean;
}

export interface Countable extends Labelled {
  readonly isTerminating: boolean;
  readonly setUid: string | undefined;
}

export interface SpreadConstraints {
  /** Nodes that violate them are out of question. */
  readonly hard: readonly SpreadConstraint[];
  readonly soft: readonly SpreadConstraint[];
  /** The soft ones are not said by the pod: nodes without a zone are compared all the same. */
  readonly isDefault: boolean;
}

const HOSTNAME = 'kubernetes.io/hostname';
/** What every pod of a set gets that says nothing itself (K6). */
const DEFAULTS = [
  { topologyKey: HOSTNAME, maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5 },
];
/** Only their pods are spread when nobody says so: upstream knows the selectors of these. */
const SETS: readonly string[] = ['ReplicaSet', 'ReplicationController', 'StatefulSet'];

/** The controller whose pods a pod is one of many of. */
export function setUidOf(pod: Pod): string | undefined {
  const owner = controllerReferenceOf(pod);
  return owner !== undefined && SETS.includes(owner.kind) ? owner.uid : undefined;
}

export function spreadConstraintsOf(pod: Pod): SpreadConstraints {
  const said = pod.spec.topologySpreadConstraints ?? [];
  if (said.length === 0) return { hard: [], soft: defaultConstraints(pod), isDefault: true };
  const those = (action: TopologySpreadConstraint['whenUnsatisfiable']) =>
    said.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action).map((one) => constraintOf(one, pod));
  return { hard: those('DoNotSchedule'), soft: those('ScheduleAnyway'), isDefault: false };
}

function defaultConstraints(pod: Pod): readonly SpreadConstraint[] {
  const setUid = setUidOf(pod);
  if (setUid === undefined) return [];
  return DEFAULTS.map((one) => ({
    ...one,
    minDomains: 1,
    honorsAffinity: true,
    honorsTaints: false,
    counts: (other) => !other.isTerminating && other.setUid === setUid,
    countsSelf: true,
  }));
}

function constraintOf(constraint: TopologySpreadConstraint, { metadata }: Pod): SpreadConstraint {
  const { topologyKey, maxSkew, minDomains = 1, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
  const { labels = {}, namespace = '' } = metadata;
  const selector = withLabelKeys(selectorFrom(constraint.labelSelector), labels, {
    ...(constraint.matchLabelKeys !== undefined && { same: constraint.matchLabelKeys }),
  });
  return {
    topologyKey,
    maxSkew,
    minDomains,
    honorsAffinity: nodeAffinityPolicy !== 'Ignore',
    honorsTaints: nodeTaintsPolicy === 'Honor',
    counts: (other) => !other.isTerminating && other.namespace === namespace && isCounted(selector, other),
    countsSelf: matchesLabels(selector, { ...labels }),
  };
}

/** As upstream: an empty selector selects every pod, and counts none. */
const isCounted = (selector: LabelSelector, { labels }: Labelled): boolean =>
  selector.requirements.length > 0 && matchesLabels(selector, labels);
