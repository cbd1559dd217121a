import type { CallContext, Tags } from './call.ts';
import type { NodeAddress } from './instances.ts';

/** How routes of the cloud behave. */
export interface RoutesFacts {
  /** Routes hold the addresses of their nodes, so they are made again when those change. */
  readonly tracksNodeAddresses: boolean;
  /** Most calls at once; 200 unless told otherwise. */
  readonly maxConcurrent?: number;
}

/** Where packets for the pods of a node go. */
export interface CloudRoute {
  /** As the cloud calls it; absent in a route that is to be created. */
  readonly name?: string;
  /** Node that gets the packets; empty when the cloud does not know it. */
  readonly targetNode: string;
  readonly targetNodeAddresses?: readonly NodeAddress[];
  readonly destinationCIDR: string;
  /** It leads nowhere: its machine is gone. */
  readonly blackhole?: boolean;
}

/** What a new route belongs to. */
export interface RouteCreation {
  readonly cluster: string;
  /** Stable; two routes of one node share it, so add the destination to make a name of it (ccm/T11). */
  readonly nameHint: string;
  /** The machine behind the node. */
  readonly providerID?: string;
  readonly tags: Tags;
}

/** Routes from the network of the cloud to the pods of nodes. */
export interface Routes<C extends CallContext = CallContext> {
  declare(): RoutesFacts;
  /** All of the cluster; foreign ones may be among them. */
  list(query: { readonly cluster: string; readonly tags: Tags }, call: C): Promise<readonly CloudRoute[]>;
  /** A second call for the same destination and node changes nothing. */
  create(route: CloudRoute, creation: RouteCreation, call: C): Promise<void>;
  /** Succeeds when it is not there. */
  remove(route: CloudRoute, query: { readonly cluster: string; readonly tags: Tags }, call: C): Promise<void>;
}
