import type { NodeAddress, NodeCondition, NodeStatus } from '../../../api/generated/core-v1-types.ts';
import type { JsonObject } from '../../../api/json.ts';
import { time } from '../../../api/time.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';
import type { NodeFacts, Resources } from './node-facts.ts';
import { hostnameOf, isExternal, type NodeSettings } from './node-object.ts';
import { kubeletVersion, type ServerVersion } from './server-version.ts';

/** As many as a kubelet names. */
const MOST_IMAGES = 50;

export interface StatusInput {
  readonly settings: NodeSettings;
  readonly facts: NodeFacts;
  readonly version: ServerVersion;
  /** What the server has: what others wrote there stays. */
  readonly existing?: NodeStatus;
  readonly now: Date;
}

/** Pure: the whole status of a node (N3). */
export function nodeStatus({ settings, facts, version, existing = {}, now }: StatusInput): NodeStatus {
  const { system, kubeletPort, images, volumesInUse, volumesAttached = existing.volumesAttached } = facts;
  const capacity = capacityOf(facts, existing);
  return {
    ...existing,
    capacity,
    allocatable: Object.fromEntries(
      Object.entries(capacity).map(([resource, amount]) => [resource, facts.allocatable[resource] ?? amount]),
    ),
    addresses: addressesOf(settings, existing),
    conditions: conditionsOf(facts, existing.conditions ?? [], time(now)),
    nodeInfo: {
      ...existing.nodeInfo,
      ...system,
      osImage: 'Slipway lab',
      containerRuntimeVersion: 'slipway://lab',
      kubeletVersion: kubeletVersion(version),
      kubeProxyVersion: '',
      ...settings.info,
    },
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
    images: images.slice(0, MOST_IMAGES).map((name) => ({ names: [name] })),
    volumesInUse,
    ...(volumesAttached !== undefined && { volumesAttached }),
  };
}

/** Resources that others announced, by a patch of the status, are not for the node to take away. */
function capacityOf({ capacity, removedResources }: NodeFacts, existing: NodeStatus): Resources {
  const foreign = Object.entries(existing.capacity ?? {}).filter(
    ([resource]) => !removedResources.includes(resource),
  );
  return { ...Object.fromEntries(foreign), ...capacity };
}

/** Where the node is, a cloud knows better: what it wrote once is left to it (N2). */
function addressesOf(settings: NodeSettings, { addresses = [] }: NodeStatus): readonly NodeAddress[] {
  const hostname = { type: 'Hostname', address: hostnameOf(settings) };
  if (isExternal(settings)) return addresses.length > 0 ? addresses : [hostname];
  const { address } = settings;
  if (address === undefined) return [hostname];
  return [{ type: 'InternalIP', address: address.api }, { type: 'ExternalIP', address: address.wire }, hostname];
}

type Said = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

const WELL: readonly Said[] = [
  {
    type: 'MemoryPressure',
    status: 'False',
    reason: 'KubeletHasSufficientMemory',
    message: 'kubelet has sufficient memory available',
  },
  {
    type: 'DiskPressure',
    status: 'False',
    reason: 'KubeletHasNoDiskPressure',
    message: 'kubelet has no disk pressure',
  },
  {
    type: 'PIDPressure',
    status: 'False',
    reason: 'KubeletHasSufficientPID',
    message: 'kubelet has sufficient PID available',
  },
];

function readiness(problems: readonly string[]): Said {
  const [first] = problems;
  if (first === undefined) {
    return { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
  }
  const message = problems.length === 1 ? first : `[${problems.join(', ')}]`;
  return { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message };
}

/** Each in its place, new ones behind, `Ready` last of these; those of others as they are. */
function conditionsOf(
  { problems }: NodeFacts,
  old: readonly NodeCondition[],
  now: string,
): readonly NodeCondition[] {
  const own = [...WELL, readiness(problems)].map((said) => {
    const before = old.find(({ type }) => type === said.type);
    const since = before?.status === said.status ? before.lastTransitionTime : undefined;
    return { ...said, lastHeartbeatTime: now, lastTransitionTime: since ?? now };
  });
  const known = old.map((condition) => own.find(({ type }) => type === condition.type) ?? condition);
  return [...known, ...own.filter(({ type }) => !old.some((condition) => condition.type === type))];
}

/** Pure: whether two statuses differ in more than when they were reported (N4). */
export const hasChanged = (old: NodeStatus | undefined, now: NodeStatus): boolean =>
  !semanticEqual(comparable(old ?? {}), comparable(now));

function comparable(status: NodeStatus): JsonObject {
  const conditions = (status.conditions ?? [])
    .map(({ lastHeartbeatTime: _when, ...said }) => said)
    .toSorted((a, b) => (a.type < b.type ? -1 : 1));
  return { status: plain({ ...status, conditions }) };
}

const OWN_CONDITIONS: ReadonlySet<string> = new Set([...WELL.map(({ type }) => type), 'Ready']);
/** Parts that are said as a whole. */
const WHOLE_PARTS = ['nodeInfo', 'daemonEndpoints', 'images', 'volumesInUse', 'volumesAttached'] as const;

/**
 * Pure: the strategic merge patch that makes `now` of the status that the server has. It says only what is the node's
 * and is another than before, so that nothing is lost which somebody else writes at the same moment.
 */
export function statusPatch(old: NodeStatus, now: NodeStatus): JsonObject {
  const parts = WHOLE_PARTS.filter((part) => !semanticEqual(plain(old[part]), plain(now[part])));
  return {
    status: {
      conditions: plain(now.conditions?.filter(({ type }) => OWN_CONDITIONS.has(type))),
      ...Object.fromEntries(parts.map((part) => [part, plain(now[part])])),
      ...resourceChanges('capacity', old, now),
      ...resourceChanges('allocatable', old, now),
      // Two addresses may be of one type, by which they would merge.
      ...(!semanticEqual(plain(old.addresses), plain(now.addresses)) && {
        addresses: [...(now.addresses ?? []).map((address) => ({ ...address })), { $patch: 'replace' }],
      }),
    },
  };
}

/** What it is made of came from JSON, or goes there. */
const plain = (value: unknown): JsonObject[string] => (value ?? null) as JsonObject[string];

function resourceChanges(part: 'capacity' | 'allocatable', old: NodeStatus, now: NodeStatus): JsonObject {
  const [before = {}, after = {}] = [old[part], now[part]];
  const resources = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...resources].filter((resource) => before[resource] !== after[resource]);
  if (changed.length === 0) return {};
  return { [part]: Object.fromEntries(changed.map((resource) => [resource, after[resource] ?? null])) };
}
