import type { Container, Node, Pod } from '../../../api/generated/core-v1-types.ts';
import { parseQuantity, quantityInteger } from '../../../object/quantity.ts';
import { isSidecar } from '../kubelet/container-seen.ts';

/** Pure: what a container asks for, by resource. Limits say it: a device is never shared, so requests are the same (D12). */
export const deviceRequests = (
  { resources }: Container,
  isDevice: (resource: string) => boolean,
): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(resources?.limits ?? {})
      .filter(([resource]) => isDevice(resource))
      .map(([resource, text]) => [resource, Number(quantityInteger(parseQuantity(text)))] as const)
      .filter(([, count]) => count > 0)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

/** Pure: the containers of a pod in the order in which they get devices, and whether others may have them afterwards. */
export const containersInOrder = ({ spec }: Pod) => [
  ...(spec.initContainers ?? []).map((container) => ({
    container,
    // A sidecar keeps what it has (D13).
    isPassedOn: !isSidecar(container),
  })),
  ...spec.containers.map((container) => ({ container, isPassedOn: false })),
];

export interface DeviceCounts {
  /** A plugin of it is connected. */
  readonly isServed: boolean;
  readonly inUse: number;
}

/**
 * Pure: a node as admission is to see it. It has at least what its containers have already, whatever became of the
 * plugin (D10); of a resource without a plugin nothing is said, so that the answer is left to the devices (D11).
 */
export function nodeForAdmission(node: Node, counts: ReadonlyMap<string, DeviceCounts>): Node {
  const allocatable: Record<string, string> = { ...node.status?.allocatable };
  for (const [resource, { isServed, inUse }] of counts) {
    const has = Number(quantityInteger(parseQuantity(allocatable[resource] ?? '0')));
    if (!isServed) delete allocatable[resource];
    else if (has < inUse) allocatable[resource] = String(inUse);
  }
  return { ...node, status: { ...node.status, allocatable } };
}
