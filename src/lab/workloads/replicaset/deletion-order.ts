import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { isActive, isReady, readySince } from '../pods/pod-state.ts';

/** What decides which pods go first, besides the pods themselves. */
export interface DeletionFacts {
  /** Pods of all ReplicaSets of the same owner: who shares a node with many of them goes first. */
  readonly related: readonly Pod[];
  readonly now: Date;
}

interface Ranked {
  readonly pod: Pod;
  /** Active pods of the same owner on its node. */
  readonly neighbours: number;
}

/** Below zero: `a` goes before `b`; 0: this rule does not tell. */
type Rule = (a: Ranked, b: Ranked, now: Date) => number;

const COST = 'controller.kubernetes.io/pod-deletion-cost';
/** What has no phase yet is as good as pending. */
const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const NANOSECONDS = 1e6;
const LARGEST_COST = 2 ** 31 - 1;

/** Pure: the `count` pods whose loss hurts least (W17). Everybody goes when all have to. */
export function podsToDelete(active: readonly Pod[], count: number, facts: DeletionFacts): readonly Pod[] {
  if (count >= active.length) return active;
  return deletionOrder(active, facts).slice(0, count);
}

/** Pure: who goes first stands first (W17). */
export function deletionOrder(pods: readonly Pod[], { related, now }: DeletionFacts): readonly Pod[] {
  const byNode = new Map<string, number>();
  for (const pod of related.filter(isActive)) byNode.set(nodeOf(pod), (byNode.get(nodeOf(pod)) ?? 0) + 1);
  const ranked = pods.map((pod) => ({ pod, neighbours: byNode.get(nodeOf(pod)) ?? 0 }));
  return ranked.toSorted((a, b) => compare(a, b, now)).map(({ pod }) => pod);
}

function compare(a: Ranked, b: Ranked, now: Date): number {
  for (const rule of RULES) {
    const order = rule(a, b, now);
    if (order !== 0) return order;
  }
  return byUid(a, b);
}

const RULES: readonly Rule[] = [
  (a, b) => Number(nodeOf(a.pod) !== '') - Number(nodeOf(b.pod) !== ''),
  (a, b) => phaseOf(a.pod) - phaseOf(b.pod),
  (a, b) => Number(isReady(a.pod)) - Number(isReady(b.pod)),
  (a, b) => deletionCost(a.pod) - deletionCost(b.pod),
  (a, b) => b.neighbours - a.neighbours,
  byReadiness,
  (a, b) => restartsOf(b.pod).regular - restartsOf(a.pod).regular,
  (a, b) => restartsOf(b.pod).sidecars - restartsOf(a.pod).sidecars,
  byCreation,
];

function nodeOf({ spec }: Pod): string {
  return spec.nodeName ?? '';
}

const phaseOf = ({ status }: Pod): number => PHASES[status?.phase ?? ''] ?? 0;

function byReadiness(a: Ranked, b: Ranked, now: Date): number {
  const [one, other] = [readySince(a.pod), readySince(b.pod)];
  return one === undefined || other === undefined ? 0 : byTime([a, one], [b, other], now);
}

function byCreation(a: Ranked, b: Ranked, now: Date): number {
  return byTime([a, createdAt(a.pod)], [b, createdAt(b.pod)], now);
}

const createdAt = ({ metadata }: Pod): Date => new Date(metadata.creationTimestamp ?? 0);

/**
 * The younger goes first, but ages count only by their power of two: pods of about the same age go in the order of their
 * uids, which is as good as random, so that a failure domain that came up last is not the one that is emptied.
 */
function byTime([a, since]: [Ranked, Date], [b, otherSince]: [Ranked, Date], now: Date): number {
  const [one, other] = [since.getTime(), otherSince.getTime()];
  if (one === other) return 0;
  // Nobody knows since when: as good as just now.
  if (one === 0 || other === 0) return one === 0 ? -1 : 1;
  return magnitude(now.getTime() - one) - magnitude(now.getTime() - other) || byUid(a, b);
}

/** Of an age, in nanoseconds as upstream counts them: the buckets are the same. */
const magnitude = (ageMs: number): number => (ageMs > 0 ? Math.floor(Math.log2(ageMs * NANOSECONDS)) : -1);

function byUid({ pod: a }: Ranked, { pod: b }: Ranked): number {
  const [one, other] = [a.metadata.uid ?? '', b.metadata.uid ?? ''];
  return one < other ? -1 : Number(one > other);
}

/** What is no 32-bit integer counts as 0, as does one with a plus or a leading zero. */
function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[COST] ?? '';
  const cost = /^(0|[1-9]\d*|-\d+)$/.test(text) ? Number(text) : 0;
  return cost > LARGEST_COST || cost < -LARGEST_COST - 1 ? 0 : cost;
}

/** The most of any container, apart for init containers that keep running beside them. */
function restartsOf({ spec, status }: Pod): { readonly regular: number; readonly sidecars: number } {
  const sidecars = new Set(
    (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const most = (restarts: readonly number[]): number => Math.max(0, ...restarts);
  return {
    regular: most((status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    sidecars: most(
      (status?.initContainerStatuses ?? [])
        .filter(({ name }) => sidecars.has(name))
        .map(({ restartCount }) => restartCount),
    ),
  };
}
