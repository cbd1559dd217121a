import type { Node, Taint } from '../../../api/generated/core-v1-types.ts';
import { time } from '../../../api/time.ts';
import { readyOf } from './node-health.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const READINESS: readonly string[] = [NOT_READY, UNREACHABLE];
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';
const PROBLEMS: Readonly<Record<string, string>> = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
  NetworkUnavailable: 'node.kubernetes.io/network-unavailable',
};

type Mark = Pick<Taint, 'key' | 'effect'>;

/** Pure: the taint that says why a node is not ready; undefined when it is, or has not said anything yet. */
function readinessKey(node: Node): string | undefined {
  const status = readyOf(node)?.status;
  if (status === 'False') return NOT_READY;
  return status === 'Unknown' ? UNREACHABLE : undefined;
}

/** Whether a taint is for this controller to add and to take away. */
function isOurs(node: Node, { key, effect }: Mark): boolean {
  // A node that has not said anything is tainted by admission, until it does.
  if (READINESS.includes(key)) return readyOf(node) !== undefined && effect !== 'PreferNoSchedule';
  return effect === 'NoSchedule' && (key === UNSCHEDULABLE || Object.values(PROBLEMS).includes(key));
}

/** Pure: what a node should be tainted with, by its conditions (W36). */
function wantedTaints(node: Node): readonly Mark[] {
  const unready = readinessKey(node);
  const problems = (node.status?.conditions ?? []).flatMap(({ type, status }) => {
    const key = PROBLEMS[type];
    return key !== undefined && status === 'True' ? [key] : [];
  });
  const keys = [
    ...(unready === undefined ? [] : [unready]),
    ...problems,
    ...(node.spec.unschedulable === true ? [UNSCHEDULABLE] : []),
  ];
  return [
    ...keys.map((key) => ({ key, effect: 'NoSchedule' as const })),
    ...(unready === undefined ? [] : [{ key: unready, effect: 'NoExecute' as const }]),
  ];
}

const isSame = (one: Mark, other: Mark): boolean => one.key === other.key && one.effect === other.effect;

/** Whether pods would begin to leave a node that they may stay on now: that may be limited (W36). */
export const beginsToEvict = (node: Node): boolean =>
  readinessKey(node) !== undefined &&
  (node.spec.taints ?? []).every(({ key, effect }) => effect !== 'NoExecute' || !READINESS.includes(key));

export interface TaintOptions {
  readonly now: Date;
  /** False: pods stay for now. */
  readonly mayEvict: boolean;
}

/** Pure: the taints of a node as they should be, those of others as they are; undefined when they are (W36). */
export function conditionTaints(node: Node, { now, mayEvict }: TaintOptions): readonly Taint[] | undefined {
  const taints = node.spec.taints ?? [];
  const wanted = wantedTaints(node).filter(({ effect }) => mayEvict || effect !== 'NoExecute');
  const kept = taints.filter((taint) => !isOurs(node, taint) || wanted.some((one) => isSame(one, taint)));
  const missing = wanted.filter((one) => !taints.some((taint) => isSame(one, taint)));
  if (missing.length === 0 && kept.length === taints.length) return undefined;
  return [...kept, ...missing.map((one) => ({ ...one, timeAdded: time(now) }))];
}
