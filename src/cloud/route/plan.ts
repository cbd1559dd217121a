import { isDeepStrictEqual } from 'node:util';
import type { Node, NodeCondition } from '../../api/generated/core-v1-types.ts';
import { time } from '../../api/time.ts';
import type { NodeAddress } from '../../sdk/capabilities/instances.ts';
import type { CloudRoute } from '../../sdk/capabilities/routes.ts';
import { type CidrRange, cidrText, isWithin } from './cidr-range.ts';

export interface RouteFacts {
  readonly routes: readonly CloudRoute[];
  readonly nodes: readonly Node[];
  readonly clusters: readonly CidrRange[];
  readonly tracksNodeAddresses: boolean;
}

/** A Node whose network condition is ours to write. */
export interface RoutedNode {
  readonly node: Node;
  /** Without one it has a route, and no right to any. */
  readonly hasCidrs: boolean;
  readonly create: readonly CloudRoute[];
}

export interface RoutePlan {
  readonly remove: readonly CloudRoute[];
  readonly nodes: readonly RoutedNode[];
}

const NODE_ADDRESS_TYPES: ReadonlySet<string> = new Set([
  'Hostname',
  'InternalIP',
  'ExternalIP',
  'InternalDNS',
  'ExternalDNS',
] satisfies NodeAddress['type'][]);

const isNodeAddress = (address: { readonly type: string; readonly address: string }): address is NodeAddress =>
  NODE_ADDRESS_TYPES.has(address.type);

const addressesOf = ({ status }: Node): readonly NodeAddress[] => (status?.addresses ?? []).filter(isNodeAddress);

const addressTexts = (addresses: readonly NodeAddress[]): readonly string[] =>
  addresses.map(({ type, address }) => `${type} ${address}`).toSorted();

/** In any order. */
const sameAddresses = (one: readonly NodeAddress[], other: readonly NodeAddress[]): boolean =>
  isDeepStrictEqual(addressTexts(one), addressTexts(other));

const pairOf = (nodeName: string, cidr: string): string => `${nodeName}\n${cidrText(cidr)}`;

const cidrsOf = ({ spec }: Node): readonly string[] => spec.podCIDRs ?? [];

/**
 * Which routes to remove and which to create, so that packets for the pods of each Node find it (T4–T6, T11). Pure.
 * A blackhole is no route: where a Node needs one, it is removed and another one made.
 */
export function planRoutes({ routes, nodes, clusters, tracksNodeAddresses }: RouteFacts): RoutePlan {
  const isOurs = ({ destinationCIDR }: CloudRoute): boolean => isWithin(destinationCIDR, clusters);
  const usable = routes.filter(({ blackhole = false }) => !blackhole);
  const byPair = Map.groupBy(usable, ({ targetNode, destinationCIDR }) => pairOf(targetNode, destinationCIDR));
  const targets = new Set(routes.map(({ targetNode }) => targetNode));
  const kept = new Set<string>();
  const routed = nodes.flatMap((node): readonly RoutedNode[] => {
    const { name } = node.metadata;
    const cidrs = cidrsOf(node);
    if (cidrs.length === 0) return targets.has(name) ? [{ node, hasCidrs: false, create: [] }] : [];
    const addresses = addressesOf(node);
    // Addresses that the cloud does not tell cannot be compared; a route that is not ours cannot be replaced.
    const isStale = (route: CloudRoute): boolean =>
      tracksNodeAddresses && isOurs(route) && !sameAddresses(route.targetNodeAddresses ?? addresses, addresses);
    const missing = cidrs.filter((cidr) => (byPair.get(pairOf(name, cidr)) ?? []).every(isStale));
    for (const cidr of cidrs) if (!missing.includes(cidr)) kept.add(pairOf(name, cidr));
    const create = missing.map((destinationCIDR) => ({
      targetNode: name,
      targetNodeAddresses: addresses,
      destinationCIDR,
    }));
    return [{ node, hasCidrs: true, create }];
  });
  const isUnwanted = ({ targetNode, destinationCIDR, blackhole = false }: CloudRoute): boolean =>
    blackhole || !kept.has(pairOf(targetNode, destinationCIDR));
  return { remove: routes.filter((route) => isOurs(route) && isUnwanted(route)), nodes: routed };
}

const CREATED = { status: 'False', reason: 'RouteCreated', message: 'RouteController created a route' } as const;
const MISSING = {
  status: 'True',
  reason: 'NoRouteCreated',
  message: 'RouteController failed to create a route',
} as const;

/** What a Node is to say of its network; undefined when it says so already, in these words (T9). Pure. */
export function networkCondition(node: Node, hasRoutes: boolean, now: Date): NodeCondition | undefined {
  const wanted = hasRoutes ? CREATED : MISSING;
  const said = node.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
  if (said?.status === wanted.status && said.reason === wanted.reason) return undefined;
  return { type: 'NetworkUnavailable', ...wanted, lastHeartbeatTime: time(now), lastTransitionTime: time(now) };
}
