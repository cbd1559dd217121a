import type { Node } from '../../api/generated/core-v1.ts';
import type { NodeAddress, NodeAddressType } from '../../sdk/capabilities/instances.ts';
import type { Backend } from '../../sdk/capabilities/load-balancers.ts';
import { UNINITIALIZED_TAINT } from '../node/desired.ts';

export const EXCLUSION_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';
/** Of the cluster autoscaler: the machine is about to go. */
export const LEAVING_TAINT = 'ToBeDeletedByClusterAutoscaler';
const ZONE_LABEL = 'topology.kubernetes.io/zone';

const NO: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);
const ADDRESS_TYPES: ReadonlySet<string> = new Set<NodeAddressType>([
  'Hostname',
  'InternalIP',
  'ExternalIP',
  'InternalDNS',
  'ExternalDNS',
]);

/** Which nodes count, besides what always counts. */
export interface Eligibility {
  /** Nodes that the cloud has not described yet are no backends (B4). */
  readonly holdBack: boolean;
}

/** Somebody does not want the node behind load balancers. A value that is no boolean means that too (S21). */
export function isExcluded({ metadata }: Node): boolean {
  const value = metadata.labels?.[EXCLUSION_LABEL];
  return value !== undefined && !NO.has(value);
}

/**
 * The cloud has not said yet which machine it is and where: a balancer could not reach it (B4). Addresses come after the
 * provider ID, by a write of their own.
 */
const isUninitialized = ({ spec, status }: Node): boolean =>
  (spec.providerID ?? '') === '' ||
  hasTaint(spec, UNINITIALIZED_TAINT) ||
  !(status?.addresses ?? []).some(({ type }) => type.endsWith('IP'));

/** A node may be a backend (S20). Whether it is ready is for the health check of the balancer to find out. */
export const isEligible = (node: Node, { holdBack }: Eligibility): boolean =>
  node.metadata.deletionTimestamp === undefined &&
  !isExcluded(node) &&
  !hasTaint(node.spec, LEAVING_TAINT) &&
  !(holdBack && isUninitialized(node));

/** A new state of a node may change backends (S22); nodes that come and go always do. */
export const concernsBackends = (old: Node, now: Node, { holdBack }: Eligibility): boolean =>
  isExcluded(old) !== isExcluded(now) ||
  (old.spec.providerID ?? '') !== (now.spec.providerID ?? '') ||
  (holdBack && isUninitialized(old) !== isUninitialized(now));

/** What a balancer is told of the nodes that it may use, in the order of their names. */
export const backendsOf = (nodes: readonly Node[], eligibility: Eligibility): readonly Backend[] =>
  nodes
    .filter((node) => isEligible(node, eligibility))
    .map(backendOf)
    .toSorted((a, b) => (a.nodeName < b.nodeName ? -1 : 1));

/** Which machines they are: backends differ when this does (S24). */
export const machinesOf = (backends: readonly Backend[]): ReadonlyMap<string, string> =>
  new Map(backends.map(({ nodeName, providerID = '' }) => [nodeName, providerID]));

export const areSameMachines = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...one].every(([name, id]) => other.get(name) === id);

function backendOf({ metadata, spec, status }: Node): Backend {
  const zone = metadata.labels?.[ZONE_LABEL] ?? '';
  const { providerID = '' } = spec;
  return {
    nodeName: metadata.name,
    ...(providerID !== '' && { providerID }),
    addresses: (status?.addresses ?? []).flatMap(knownAddress),
    ...(zone !== '' && { zone }),
  };
}

const knownAddress = ({ type, address }: { readonly type: string; readonly address: string }): NodeAddress[] =>
  isAddressType(type) ? [{ type, address }] : [];

const isAddressType = (type: string): type is NodeAddressType => ADDRESS_TYPES.has(type);

const hasTaint = ({ taints = [] }: Node['spec'], key: string): boolean =>
  taints.some((taint) => taint.key === key);
