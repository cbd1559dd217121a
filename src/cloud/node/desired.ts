import type { Node, NodeSpec } from '../../api/generated/core-v1.ts';
import type { PresentInstance } from '../../sdk/capabilities/instances.ts';
import { orderedAddresses } from './addresses.ts';
import { NodeProblem } from './node-problem.ts';

/** The kubelet sets it, with the value `true`, when it is told that somebody else knows the cloud. */
export const UNINITIALIZED_TAINT = 'node.cloudprovider.kubernetes.io/uninitialized';

/** Each with the deprecated key that says the same. */
const STABLE_TO_DEPRECATED = {
  'node.kubernetes.io/instance-type': 'beta.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone': 'failure-domain.beta.kubernetes.io/zone',
  'topology.kubernetes.io/region': 'failure-domain.beta.kubernetes.io/region',
} as const;

const RESERVED = /(^|\.)(kubernetes|k8s)\.io\//;

export type Labels = Readonly<Record<string, string>>;

/** Pure: by the key alone, whatever value and effect somebody gave it (N3). */
export const isUninitialized = ({ spec }: Node): boolean =>
  spec.taints?.some(({ key }) => key === UNINITIALIZED_TAINT) === true;

/** Pure: type, zone and region under both keys; what the provider does not know is left out (N9). */
export function wellKnownLabels({ instanceType, zone, region }: PresentInstance): Labels {
  const values = {
    'node.kubernetes.io/instance-type': instanceType,
    'topology.kubernetes.io/zone': zone,
    'topology.kubernetes.io/region': region,
  };
  const entries = Object.entries(values).flatMap(([key, value = '']) =>
    value === ''
      ? []
      : [[key, value] as const, [STABLE_TO_DEPRECATED[key as keyof typeof values], value] as const],
  );
  return Object.fromEntries(entries);
}

/** Pure: the labels that a provider adds of its own; keys of Kubernetes are not for it to set (N10). */
export const additionalLabels = ({ labels = {} }: PresentInstance): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !RESERVED.test(key)));

export interface InitializedNode {
  readonly node: Node;
  /** Labels of the provider that the Node does not get: reserved ones, and those that it has with another value. */
  readonly refusedLabels: readonly string[];
}

/**
 * Pure: a Node with everything that its machine tells, and without the taint (N5, N7, N9 to N11). Throws a NodeProblem
 * when it must stay as it is: without a provider ID, and while the kubelet uses an address that the cloud does not know
 * (N8).
 */
export function initializedNode(node: Node, instance: PresentInstance): InitializedNode {
  const { name, labels: old = {} } = node.metadata;
  const providerID = node.spec.providerID || instance.providerID;
  if (providerID === '')
    throw new NodeProblem('NoProviderID', `cloud provider does not set node provider ID for node ${name}`);
  orderedAddresses(node, instance.addresses);
  const more = additionalLabels(instance);
  const labels = { ...more, ...old, ...wellKnownLabels(instance) };
  const refusedLabels = Object.entries(instance.labels ?? {})
    .filter(([key, value]) => labels[key] !== value)
    .map(([key]) => key);
  // Neither can be changed by an update of the Node itself: what is left out is not sent, read and thrown away.
  const { status: _status, ...rest } = node;
  const { managedFields: _managed, ...metadata } = rest.metadata;
  return {
    node: { ...rest, metadata: { ...metadata, labels }, spec: initializedSpec(node, providerID) },
    refusedLabels,
  };
}

function initializedSpec({ spec }: Node, providerID: string): NodeSpec {
  const { taints = [], ...rest } = spec;
  const others = taints.filter(({ key }) => key !== UNINITIALIZED_TAINT);
  return { ...rest, providerID, ...(others.length > 0 && { taints: others }) };
}

/** Pure: the labels that an initialised Node lacks or has with another value than their source (N15, B14). */
export function mirroredLabels({ metadata: { labels = {} } }: Node, source: 'deprecated' | 'stable'): Labels {
  const pairs = Object.entries(STABLE_TO_DEPRECATED).map(([stable, deprecated]) =>
    source === 'deprecated' ? ([deprecated, stable] as const) : ([stable, deprecated] as const),
  );
  return Object.fromEntries(
    pairs.flatMap(([from, to]) => {
      const value = labels[from];
      return value === undefined || labels[to] === value ? [] : [[to, value] as const];
    }),
  );
}
