import type { Node } from '../../api/generated/core-v1.ts';
import type { Absent, CallContext } from './call.ts';

/** What the cloud can tell about its machines, and what it cannot. */
export interface InstancesFacts {
  /** How long after its creation an instance may still be answered with "not found". */
  readonly consistencyMs?: number;
  /** Most instances per call of `describeMany`; as many as there are unless told otherwise. */
  readonly maxBatch?: number;
}

/** What an address of a machine is good for, in the words of Kubernetes. */
export type NodeAddressType = 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS';

/** One address of a machine. */
export interface NodeAddress {
  readonly type: NodeAddressType;
  readonly address: string;
}

/** Which machine is asked for: the one behind a Node. */
export interface InstanceRef {
  readonly nodeName: string;
  /** Of the Node; absent until something has set it. */
  readonly providerID?: string;
  /** The whole Node, frozen, for clouds that find their machines by something else. */
  readonly node: Node;
}

/** A machine that is there, on or off. */
export interface PresentInstance {
  readonly state: 'present';
  /** A machine that is off exists: it keeps its Node and gets a taint. */
  readonly power: 'on' | 'off' | 'unknown';
  /** Must match the pattern of the definition and never change while the machine lives. */
  readonly providerID: string;
  readonly instanceType?: string;
  /**
   * All of them, in the order in which they are to be shown. The address that the kubelet uses (`--node-ip`) must be
   * among them: without it the Node stays uninitialised (ccm/O16).
   */
  readonly addresses: readonly NodeAddress[];
  readonly zone?: string;
  readonly region?: string;
  /** More labels for the Node; keys of `kubernetes.io` and `k8s.io` are left out. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** "Not mine": the Node is neither initialised nor deleted. */
export interface UnmanagedInstance {
  readonly state: 'unmanaged';
}

/** Existence, power and metadata in one answer, so that they cannot disagree. */
export type InstanceObservation = PresentInstance | Absent | UnmanagedInstance;

/** The machines behind Nodes. Anything that is thrown means "unknown" and never deletes anything. */
export interface Instances<C extends CallContext = CallContext> {
  declare(): InstancesFacts;
  describe(ref: InstanceRef, call: C): Promise<InstanceObservation>;
  /** Answers by `nodeName`, in as few requests as the cloud allows; a name without an answer is unknown. */
  describeMany?(refs: readonly InstanceRef[], call: C): Promise<ReadonlyMap<string, InstanceObservation>>;
}
