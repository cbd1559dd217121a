import type { AttachedVolume } from '../../../api/generated/core-v1-types.ts';

/** Quantities by resource. */
export type Resources = Readonly<Record<string, string>>;

/** The machine, as `status.nodeInfo` shows it. */
export interface SystemFacts {
  /** As Go spells it: `amd64`. */
  readonly architecture: string;
  /** `linux`. */
  readonly operatingSystem: string;
  readonly kernelVersion: string;
  /** Another one after the next boot. */
  readonly bootID: string;
  readonly machineID: string;
  readonly systemUUID: string;
}

/** What is true of a node now (N3). Parts that the node does not know of, such as devices, add to it. */
export interface NodeFacts {
  readonly system: SystemFacts;
  /** Everything, extended resources too. */
  readonly capacity: Resources;
  /** Where pods get less than all of it. */
  readonly allocatable: Resources;
  /** Resources of others that were there and are no more: they leave the status. */
  readonly removedResources: readonly string[];
  /** Names of images that are on the node. */
  readonly images: readonly string[];
  readonly volumesInUse: readonly string[];
  /** Undefined when somebody else writes them, as an attacher does. */
  readonly volumesAttached?: readonly AttachedVolume[];
  /** Port of the node's own server. */
  readonly kubeletPort: number;
  /** Why the node is not ready; empty when it is. */
  readonly problems: readonly string[];
}

/** Asked whenever the status is computed; must not throw. */
export type NodeFactsProvider = () => NodeFacts;

/** What a part of the node has to add. */
export type FactsAddition = Partial<Omit<NodeFacts, 'system' | 'kubeletPort'>>;

/** Pure: facts with additions, the later one of two that say the same wins. */
export const factsWith = (base: NodeFacts, additions: readonly FactsAddition[]): NodeFacts =>
  additions.reduce<NodeFacts>((facts, added) => {
    const volumesAttached = added.volumesAttached ?? facts.volumesAttached;
    return {
      ...facts,
      capacity: { ...facts.capacity, ...added.capacity },
      allocatable: { ...facts.allocatable, ...added.allocatable },
      removedResources: [...facts.removedResources, ...(added.removedResources ?? [])],
      images: [...facts.images, ...(added.images ?? [])],
      volumesInUse: [...facts.volumesInUse, ...(added.volumesInUse ?? [])],
      problems: [...facts.problems, ...(added.problems ?? [])],
      ...(volumesAttached !== undefined && { volumesAttached }),
    };
  }, base);

const CAPACITY: Resources = { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' };
const KUBELET_PORT = 10_250;

export interface BasicFactsOptions {
  readonly system: SystemFacts;
  /** Instead of 4 processors, 16 GiB, 100 GiB of disk and 110 pods; more resources too. */
  readonly capacity?: Resources;
  readonly images?: readonly string[];
  readonly kubeletPort?: number;
}

/** Pure: the facts of a node that has nothing special. */
export const basicFacts = ({ system, capacity, images, kubeletPort }: BasicFactsOptions): NodeFacts => ({
  system,
  capacity: { ...CAPACITY, ...capacity },
  allocatable: {},
  removedResources: [],
  images: images ?? [],
  volumesInUse: [],
  kubeletPort: kubeletPort ?? KUBELET_PORT,
  problems: [],
});
