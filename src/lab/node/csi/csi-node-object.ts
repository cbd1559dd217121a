import type { Node } from '../../../api/generated/core-v1-types.ts';
import type { CSINode, CSINodeDriver } from '../../../api/generated/storage-v1-types.ts';
import type { JsonObject } from '../../../api/json.ts';
import { isRecord } from '../../../object/record.ts';
import type { RegisteredDriver } from './driver-store.ts';

const NODE_IDS = 'csi.volume.kubernetes.io/nodeid';
const MOST_VOLUMES = 2n ** 31n - 1n;

/** What is known of the drivers of a node. */
export interface KnownDrivers {
  readonly registered: readonly RegisteredDriver[];
  readonly gone: ReadonlySet<string>;
}

/** Pure: whether a CSINode is that of a Node, and not of another one that had its name. */
export const isOfNode = ({ metadata }: CSINode, { metadata: { uid } }: Node): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.kind === 'Node' && owner.uid === uid);

/**
 * Pure: the drivers that a CSINode is to have next; undefined when they are right. Drivers of which nobody knows whether
 * they are there stay. What a driver calls the node cannot be changed: such an entry goes first, and comes anew then.
 */
export function nextDrivers(
  drivers: readonly CSINodeDriver[] | null,
  { registered, gone }: KnownDrivers,
): readonly CSINodeDriver[] | undefined {
  // The server shows an empty list as null.
  const existing = drivers ?? [];
  const wanted = new Map(registered.map((driver) => [driver.name, driverEntry(driver)]));
  const kept = existing.filter(({ name }) => !gone.has(name));
  const fixed = kept.filter((entry) => isSameDriver(entry, wanted.get(entry.name) ?? entry));
  if (fixed.length < kept.length) return fixed;
  const known = new Set(kept.map(({ name }) => name));
  const next = [
    ...kept.map((entry) => wanted.get(entry.name) ?? entry),
    ...[...wanted.values()].filter(({ name }) => !known.has(name)),
  ];
  const isRight = next.length === existing.length && next.every((entry, at) => isSameEntry(entry, existing[at]));
  return isRight ? undefined : next;
}

const driverEntry = ({ name, nodeId, topology, maxVolumes }: RegisteredDriver): CSINodeDriver => ({
  name,
  nodeID: nodeId,
  topologyKeys: Object.keys(topology).sort(),
  ...(maxVolumes > 0n && {
    allocatable: { count: Number(maxVolumes > MOST_VOLUMES ? MOST_VOLUMES : maxVolumes) },
  }),
});

const isSameDriver = (a: CSINodeDriver, b: CSINodeDriver): boolean =>
  a.nodeID === b.nodeID && (a.topologyKeys ?? []).toSorted().join() === (b.topologyKeys ?? []).toSorted().join();

const isSameEntry = (a: CSINodeDriver, b: CSINodeDriver | undefined): boolean =>
  b !== undefined && a.name === b.name && isSameDriver(a, b) && a.allocatable?.count === b.allocatable?.count;

export interface NodeMarks {
  /** The merge patch for the Node; undefined when there is nothing to change. */
  readonly patch?: JsonObject;
  /** Topology that contradicts labels which are there already. */
  readonly conflicts: readonly string[];
}

/** Pure: annotation and labels of a Node that tell of its drivers. A label that says something else stays. */
export function nodeMarks(node: Node, { registered, gone }: KnownDrivers): NodeMarks {
  const { labels = {}, annotations = {} } = node.metadata;
  const topology = registered.flatMap(({ name, topology: segments }) =>
    Object.entries(segments).map(([key, value]) => ({ name, key, value })),
  );
  const conflicts = topology
    .filter(({ key, value }) => labels[key] !== undefined && labels[key] !== value)
    .map(
      ({ name, key, value }) =>
        `detected topology value collision: driver ${name} reported "${key}":"${value}" but existing label is "${key}":"${labels[key]}"`,
    );
  const missing = topology.filter(({ key }) => labels[key] === undefined);
  const ids = nodeIds(annotations[NODE_IDS]);
  const nextIds = Object.fromEntries([
    ...Object.entries(ids).filter(([name]) => !gone.has(name)),
    ...registered.map(({ name, nodeId }) => [name, nodeId] as const),
  ]);
  const text = Object.keys(nextIds).length === 0 ? null : JSON.stringify(nextIds);
  const isRight = text === (annotations[NODE_IDS] ?? null);
  if (missing.length === 0 && isRight) return { conflicts };
  const metadata = {
    ...(missing.length > 0 && { labels: Object.fromEntries(missing.map(({ key, value }) => [key, value])) }),
    ...(!isRight && { annotations: { [NODE_IDS]: text } }),
  };
  return { conflicts, patch: { metadata } };
}

/** What cannot be read says nothing. */
function nodeIds(text = '{}'): Readonly<Record<string, string>> {
  try {
    const parsed: unknown = JSON.parse(text);
    const entries = isRecord(parsed) ? Object.entries(parsed) : [];
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    return {};
  }
}
