import type { Server } from 'node:net';

/** One place in the lab: what the API shows, and what can be dialled on this machine (X1). */
export interface LabAddress {
  /** `10.L.a.b` */
  readonly api: string;
  /** `127.L.a.b`; the same as `api` in mode `anyip`, 127.0.0.1 in mode `ports`. */
  readonly wire: string;
}

/** `loopback`: 127/8 is bound freely (Linux). `anyip`: a local route. `ports`: one address, many ports (macOS). */
export type NetworkMode = 'loopback' | 'anyip' | 'ports';

/** A host and a port of this machine. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Addresses that come and go, such as those of pods. */
export interface AddressPool {
  /** Throws when all are in use. Never one of the last 64 that were given back. */
  take(owner?: string): LabAddress;
  /** A known one again, after a restart. False when it is outside the pool, or somebody else has it by now. */
  keep(api: string, owner?: string): boolean;
  release(api: string): void;
}

/** Who has which address in one lab (X1–X3, X7, X10). Disposing it gives the octet free. */
export interface AddressPlan extends AsyncDisposable {
  /** L, unique on this machine while the plan lives. */
  readonly octet: number;
  readonly mode: NetworkMode;
  readonly hub: LabAddress;
  readonly cloud: LabAddress;
  readonly registry: LabAddress;
  readonly dns: LabAddress;
  readonly metadata: LabAddress;
  /** The API server of cluster `k` (1–31). */
  clusterApi(cluster: number): LabAddress;
  /** Node `n` (1–253) of cluster `k`. */
  node(cluster: number, node: number): LabAddress;
  readonly pods: AddressPool;
  readonly balancers: AddressPool;
  readonly metalVips: AddressPool;
  /** For the API server: ClusterIPs come from here. */
  readonly serviceRange: string;
  /** Whether an API or wire address belongs to this lab. */
  owns(address: string): boolean;
  toWire(address: string): string;
  toApi(address: string): string;
  /** Listens at `port` of a lab address, API or wire; ports that cannot be bound are mapped (X7, X10). */
  listen(server: Server, at: Endpoint): Promise<void>;
  /** Where somebody who listens on his own has to, to be found at `at`; ports that cannot be bound are mapped. */
  place(at: Endpoint): Promise<Endpoint>;
  /** Where a connection to a lab address goes on this machine; other hosts as they are. */
  target(to: Endpoint): Endpoint;
  /** What children need to know of all this, for the preload (X6). */
  readonly environment: Readonly<Record<string, string>>;
}
