import type { Lease } from '../../../api/generated/coordination-v1-types.ts';
import type { Node, NodeCondition } from '../../../api/generated/core-v1-types.ts';
import { time } from '../../../api/time.ts';

/** A node that reported once has so long until its next sign of life; a new one a little longer (W35). */
const GRACE_MS = 50_000;
const STARTUP_GRACE_MS = 60_000;

const NEVER_UPDATED = 'NodeStatusNeverUpdated';

/** The last sign of life of a node, by our own clock: those of nodes may be wrong. */
export interface Sign {
  readonly uid: string;
  /** `lastHeartbeatTime` of its readiness; undefined when it never reported. */
  readonly heartbeat: string | undefined;
  /** `renewTime` of its Lease; undefined when there never was one. */
  readonly renewal: string | undefined;
  readonly atMs: number;
}

export const readyOf = ({ status }: Node): NodeCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready');

/** What its kubelet said, not what we said about one that never did. */
const heartbeatOf = (node: Node): string | undefined => {
  const ready = readyOf(node);
  return ready === undefined || ready.reason === NEVER_UPDATED ? undefined : (ready.lastHeartbeatTime ?? '');
};

/** Pure: the last sign of life, given the one before and what is there now. Whoever is seen first is alive now. */
export function signOf(last: Sign | undefined, node: Node, lease: Lease | undefined, now: Date): Sign {
  const { uid = '' } = node.metadata;
  const before = last?.uid === uid ? last : firstSign(node, now);
  const heartbeat = heartbeatOf(node);
  // Taking a Lease away is nothing that a node does.
  const renewal = lease?.spec?.renewTime ?? before.renewal;
  const isNews = before.heartbeat !== heartbeat || before.renewal !== renewal;
  return { uid, heartbeat, renewal, atMs: isNews ? now.getTime() : before.atMs };
}

/** A node that never said anything counts from when it was made. */
const firstSign = ({ metadata }: Node, now: Date) => ({
  heartbeat: undefined,
  renewal: undefined,
  atMs: Date.parse(metadata.creationTimestamp ?? '') || now.getTime(),
});

/** Pure: how long until a node without a further sign of life is taken for lost; not above zero: it is. */
export const lostInMs = ({ heartbeat, atMs }: Sign, now: Date): number =>
  atMs + (heartbeat === undefined ? STARTUP_GRACE_MS : GRACE_MS) - now.getTime();

const WATCHED = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Pure: the conditions of a node of which nobody heard; undefined when they say so already. */
export function unknownConditions(node: Node, now: Date): readonly NodeCondition[] | undefined {
  const conditions = node.status?.conditions ?? [];
  const known = conditions.map((condition) =>
    WATCHED.includes(condition.type) && condition.status !== 'Unknown' ? lost(condition, now) : condition,
  );
  const missing = WATCHED.filter((type) => conditions.every((condition) => condition.type !== type));
  const isNews = missing.length > 0 || known.some((condition, at) => condition !== conditions[at]);
  return isNews ? [...known, ...missing.map((type) => neverSaid(type, node, now))] : undefined;
}

const lost = (condition: NodeCondition, now: Date): NodeCondition => ({
  ...condition,
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
  lastTransitionTime: time(now),
});

function neverSaid(type: string, { metadata }: Node, now: Date): NodeCondition {
  const lastHeartbeatTime = metadata.creationTimestamp ?? time(now);
  return {
    type,
    status: 'Unknown',
    reason: NEVER_UPDATED,
    message: 'Kubelet never posted node status.',
    lastHeartbeatTime,
    lastTransitionTime: time(now),
  };
}
