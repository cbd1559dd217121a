import type { Node, NodeSystemInfo, Taint } from '../../../api/generated/core-v1-types.ts';
import type { JsonObject } from '../../../api/json.ts';
import type { LabAddress } from '../../address/address-plan.ts';
import type { SystemFacts } from './node-facts.ts';

/** What a node is told before it starts. */
export interface NodeSettings {
  readonly name: string;
  /** The name unless told otherwise. */
  readonly hostname?: string;
  /** Win over what the node would say of itself. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Only of a new Node. */
  readonly taints?: readonly Taint[];
  /** `external`: somebody else finds out where the node is, and lets pods on it then. */
  readonly cloudProvider?: 'external';
  readonly address?: LabAddress;
  /** The address that the node was told to have, as by `--node-ip`: what a cloud finds must agree with it. */
  readonly forcedAddress?: string;
  /** Only what a machine was booted with, as by `--provider-id`; else left to the cloud. */
  readonly providerId?: string;
  /** What `status.nodeInfo` says instead of what is true here, for a node that stands for another machine. */
  readonly info?: Partial<NodeSystemInfo>;
}

const ATTACH_DETACH = 'volumes.kubernetes.io/controller-managed-attach-detach';
const PROVIDED_ADDRESS = 'alpha.kubernetes.io/provided-node-ip';
const UNINITIALIZED: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};
const OWN_LABELS = ['kubernetes.io/hostname', 'kubernetes.io/os', 'kubernetes.io/arch'] as const;
const BETA_LABELS = ['beta.kubernetes.io/os', 'beta.kubernetes.io/arch'] as const;
/** Labels that a node keeps up to date on a Node that is there already; others are set once and then anybody's. */
const KEPT_LABELS: readonly string[] = [
  ...OWN_LABELS,
  ...BETA_LABELS,
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
];

export const hostnameOf = ({ hostname, name }: NodeSettings): string => hostname ?? name;

export const isExternal = ({ cloudProvider }: NodeSettings): boolean => cloudProvider === 'external';

/** Pure: the Node that a node creates of itself, without its status (N2). */
export function newNode(settings: NodeSettings, system: SystemFacts): Pick<Node, 'metadata' | 'spec'> {
  const { name, taints = [], providerId } = settings;
  const all = [...taints, ...(isExternal(settings) ? [UNINITIALIZED] : [])];
  return {
    metadata: { name, labels: labelsOf(settings, system), annotations: annotationsOf(settings) },
    spec: { ...(all.length > 0 && { taints: all }), ...(providerId !== undefined && { providerID: providerId }) },
  };
}

function labelsOf(settings: NodeSettings, system: SystemFacts): Record<string, string> {
  const { operatingSystem, architecture } = { ...system, ...settings.info };
  return {
    'kubernetes.io/hostname': hostnameOf(settings),
    'kubernetes.io/os': operatingSystem,
    'kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': operatingSystem,
    'beta.kubernetes.io/arch': architecture,
    ...settings.labels,
  };
}

const annotationsOf = (settings: NodeSettings): Record<string, string> => ({
  [ATTACH_DETACH]: 'true',
  ...(isExternal(settings) &&
    settings.forcedAddress !== undefined && { [PROVIDED_ADDRESS]: settings.forcedAddress }),
});

/**
 * Pure: the merge patch by which a node adopts a Node with its name (N5), undefined when there is nothing to change.
 * Labels that say what the node is are corrected, everything else stays: its taints, and what others wrote.
 */
export function adoptionPatch(existing: Node, desired: Pick<Node, 'metadata'>): JsonObject | undefined {
  const labels = differing(existing.metadata.labels, desired.metadata.labels, KEPT_LABELS);
  const annotations = differing(existing.metadata.annotations, desired.metadata.annotations, [ATTACH_DETACH]);
  const told = desired.metadata.annotations?.[PROVIDED_ADDRESS];
  if (existing.metadata.annotations?.[PROVIDED_ADDRESS] !== told) annotations[PROVIDED_ADDRESS] = told ?? null;
  const changes = [
    ...(Object.keys(labels).length > 0 ? [['labels', labels] as const] : []),
    ...(Object.keys(annotations).length > 0 ? [['annotations', annotations] as const] : []),
  ];
  return changes.length === 0 ? undefined : { metadata: Object.fromEntries(changes) };
}

type Texts = Readonly<Record<string, string>>;

function differing(has: Texts = {}, wants: Texts = {}, keys: readonly string[]): Record<string, string | null> {
  const wrong = keys.filter((key) => wants[key] !== undefined && has[key] !== wants[key]);
  return Object.fromEntries(wrong.map((key) => [key, wants[key] ?? null]));
}
