import { messageOf } from '../../../base/errors.ts';
import { type Devices, healthyIds } from './device.ts';

/** Which of these the plugin would give; undefined when it has no opinion. Rejects when it cannot be asked. */
export type Preference = (request: {
  readonly available: readonly string[];
  readonly mustInclude: readonly string[];
  readonly size: number;
}) => Promise<readonly string[]> | undefined;

export interface ChoiceRequest {
  readonly resource: string;
  readonly count: number;
  readonly devices: Devices;
  /** Of other containers, whether healthy or not. */
  readonly inUse: ReadonlySet<string>;
  /** Of earlier init containers of the same pod, which do not need them any more (D13). */
  readonly reusable: ReadonlySet<string>;
  /** NUMA nodes that the container is to be near to; undefined when nobody cares. */
  readonly affinity?: ReadonlySet<bigint>;
  readonly preference: Preference;
}

/**
 * The devices for a container (D14): reusable ones first, then those near to the wanted NUMA nodes, and among them what
 * the plugin prefers. Rejects with a sentence when there are too few.
 */
export async function chosenDevices(request: ChoiceRequest): Promise<readonly string[]> {
  const { resource, count, devices, inUse, reusable, affinity, preference } = request;
  const chosen = new Set<string>();
  const take = (ids: Iterable<string>): boolean => {
    for (const id of ids) if (chosen.size < count) chosen.add(id);
    return chosen.size === count;
  };
  const healthy = healthyIds(devices);
  if (take([...reusable].filter((id) => healthy.has(id)))) return [...chosen];
  const available = [...healthy].filter((id) => !inUse.has(id) && !chosen.has(id));
  const needed = count - chosen.size;
  if (available.length < needed) {
    const counts = `Requested: ${needed}, Available: ${available.length}`;
    throw new Error(`requested number of devices unavailable for ${resource}. ${counts}`);
  }
  const { aligned, unaligned, noAffinity } = poolsOf(available, devices, affinity);
  const isEnoughAligned = needed < aligned.length;
  const offered = isEnoughAligned ? aligned : available;
  if (!isEnoughAligned && take(aligned)) return [...chosen];
  const preferred = await asked(preference, {
    available: [...new Set([...offered, ...chosen])],
    mustInclude: [...chosen],
    size: count,
  });
  const rest = isEnoughAligned ? aligned : [...unaligned, ...noAffinity];
  if (take(preferred.filter((id) => offered.includes(id))) || take(rest)) return [...chosen];
  throw new Error(`unexpectedly allocated less resources than required. Requested: ${count}, Got: ${chosen.size}`);
}

async function asked(preference: Preference, request: Parameters<Preference>[0]): Promise<readonly string[]> {
  try {
    return (await preference(request)) ?? [];
  } catch (cause) {
    throw new Error(`device plugin GetPreferredAllocation rpc failed with err: ${messageOf(cause)}`, { cause });
  }
}

interface Pools {
  /** Near to the wanted nodes. */
  readonly aligned: readonly string[];
  /** Near to others. */
  readonly unaligned: readonly string[];
  readonly noAffinity: readonly string[];
}

/** Pure: without a wish, or without a device that says where it is (D18), nothing is near to anything. */
export function poolsOf(available: readonly string[], devices: Devices, affinity?: ReadonlySet<bigint>): Pools {
  const nodesOf = (id: string) => devices.get(id)?.numaNodes ?? [];
  const isPlaced = [...devices.values()].some(({ numaNodes }) => numaNodes.length > 0);
  if (affinity === undefined || !isPlaced) return { aligned: [], unaligned: [], noAffinity: available };
  const isNear = (id: string) => nodesOf(id).some((node) => affinity.has(node));
  return {
    aligned: available.filter(isNear),
    unaligned: available.filter((id) => nodesOf(id).length > 0 && !isNear(id)),
    noAffinity: available.filter((id) => nodesOf(id).length === 0),
  };
}
