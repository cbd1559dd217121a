import type { Server } from 'node:net';
import { join } from 'node:path';
import { type Clock, SystemClock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import type { AddressPlan, Endpoint, LabAddress, NetworkMode } from './address-plan.ts';
import { LabAddressPool } from './address-pool.ts';
import {
  type AddressScheme,
  clusterApiAddress,
  isOwned,
  labAddress,
  nodeAddress,
  toApi,
  toWire,
} from './address-scheme.ts';
import { listening } from './listening.ts';
import { addLocalRoute } from './local-route.ts';
import { type NetworkHost, thisHost } from './network-host.ts';
import { decideNetwork, networkSentence } from './network-mode.ts';
import { lockOctet, octetOrder } from './octet-lock.ts';
import { PortTable } from './port-table.ts';

export interface AddressPlanOptions {
  /** Of the lab. Its children find the table of ports there, and see it as it is whatever they have mounted. */
  readonly directory: string;
  readonly network?: 'auto' | NetworkMode;
  /** Taken when it is free, for labs that kept their data. */
  readonly preferredOctet?: number;
  /** This one or none. */
  readonly octet?: number;
  /** DNS zones of the lab besides `svc.cluster.local`; asked again for each child. */
  readonly zones?: () => readonly string[];
  /** For the order in which octets and ports are tried. */
  readonly clock?: Pick<Clock, 'random'>;
  readonly host?: NetworkHost;
}

/** A plan that knows why it is as it is. */
export interface StartedAddressPlan extends AddressPlan {
  /** One sentence for `doctor`: which mode is on, and why. */
  readonly summary: string;
  /** Ports below 1024 are found so much further up (X7); 0: where they are. */
  readonly lowPortOffset: number;
}

/** The DNS server of the lab is always here; on port 53 only where that can be bound. */
const DNS_PORT = 5353;

/** Ports below 1024 are found here plus their number, where nobody may bind them (X7). */
const LOW_PORT_OFFSET = 20_000;
const FIRST_FREE_PORT = 1024;

/** No connection to it gets anywhere: it stands for places of the lab where nobody ever listened. */
const CLOSED_PORT = 1;

/** Finds out what this machine can do, takes an octet, and keeps it until disposed. */
export async function startAddressPlan(options: AddressPlanOptions): Promise<StartedAddressPlan> {
  const { directory, network = 'auto', preferredOctet, clock = new SystemClock(), host = thisHost } = options;
  await using started = new AsyncDisposableStack();
  const octets = options.octet === undefined ? octetOrder(clock.random(), preferredOctet) : [options.octet];
  const decision = decideNetwork(network, await host.bindError({ host: `127.${octets[0]}.0.2`, port: 0 }));
  const { mode } = decision;
  const { octet } = started.use(await lockOctet(octets, mode, host));
  if (mode === 'anyip') started.use(await addLocalRoute(host, octet));
  const scheme = { octet, mode };
  const lowPortOffset = mode === 'ports' ? 0 : await lowPortOffsetOf(host, scheme);
  const table = new PortTable({
    file: join(directory, 'ports.tsv'),
    random: () => clock.random(),
    isFree: async (port) => (await host.bindError({ host: '127.0.0.1', port })) === undefined,
  });
  if (mode === 'ports') {
    started.use(table);
    await table.start();
  }
  return new Plan({
    scheme,
    lowPortOffset,
    table,
    directory,
    zones: options.zones ?? (() => []),
    summary: networkSentence(decision, lowPortOffset),
    started: started.move(),
  });
}

/** Tried with one of them: whoever may bind one may bind them all. */
const lowPortOffsetOf = async (host: NetworkHost, scheme: AddressScheme): Promise<number> =>
  (await host.bindError({ host: labAddress(scheme, 0, 1).wire, port: FIRST_FREE_PORT - 1 })) === 'EACCES'
    ? LOW_PORT_OFFSET
    : 0;

interface PlanParts {
  readonly scheme: AddressScheme;
  readonly lowPortOffset: number;
  readonly table: PortTable;
  readonly directory: string;
  readonly zones: () => readonly string[];
  readonly summary: string;
  readonly started: AsyncDisposableStack;
}

class Plan implements StartedAddressPlan {
  readonly #parts: PlanParts;
  readonly hub: LabAddress;
  readonly cloud: LabAddress;
  readonly registry: LabAddress;
  readonly dns: LabAddress;
  readonly metadata: LabAddress;
  readonly pods: LabAddressPool;
  readonly balancers: LabAddressPool;
  readonly metalVips: LabAddressPool;

  constructor(parts: PlanParts) {
    this.#parts = parts;
    const { scheme } = parts;
    this.hub = labAddress(scheme, 0, 1);
    this.cloud = labAddress(scheme, 0, 2);
    this.registry = labAddress(scheme, 0, 3);
    this.dns = labAddress(scheme, 0, 53);
    this.metadata = labAddress(scheme, 0, 169);
    this.pods = new LabAddressPool(scheme, 32, 95);
    this.balancers = new LabAddressPool(scheme, 128, 159);
    this.metalVips = new LabAddressPool(scheme, 160, 175);
  }

  get octet(): number {
    return this.#parts.scheme.octet;
  }

  get mode(): NetworkMode {
    return this.#parts.scheme.mode;
  }

  get summary(): string {
    return this.#parts.summary;
  }

  get lowPortOffset(): number {
    return this.#parts.lowPortOffset;
  }

  get serviceRange(): string {
    return `10.${this.octet}.96.0/19`;
  }

  clusterApi(cluster: number): LabAddress {
    return clusterApiAddress(this.#parts.scheme, cluster);
  }

  node(cluster: number, node: number): LabAddress {
    return nodeAddress(this.#parts.scheme, cluster, node);
  }

  owns(address: string): boolean {
    return isOwned(this.#parts.scheme, address);
  }

  toWire(address: string): string {
    return toWire(this.#parts.scheme, address);
  }

  toApi(address: string): string {
    return toApi(this.#parts.scheme, address);
  }

  async place(at: Endpoint): Promise<Endpoint> {
    if (!this.owns(at.host))
      throw userError(
        'OutsideAddressPlan',
        `${at.host} is not an address of this lab, which has 10.${this.octet}.0.0/16`,
      );
    const host = this.toWire(at.host);
    if (this.mode !== 'ports' || at.port === 0) return { host, port: this.#bound(at.port) };
    return { host, port: await this.#parts.table.claim({ host: this.toApi(at.host), port: at.port }) };
  }

  async listen(server: Server, at: Endpoint): Promise<void> {
    await listening(server, await this.place(at));
    if (this.mode !== 'ports' || at.port !== 0) return;
    const told = server.address();
    // A port that the kernel chose stands for itself.
    if (told !== null && typeof told === 'object')
      this.#parts.table.add({ host: this.toApi(at.host), port: told.port }, told.port);
  }

  target(to: Endpoint): Endpoint {
    if (!this.owns(to.host)) return to;
    const host = this.toWire(to.host);
    if (this.mode !== 'ports') return { host, port: this.#bound(to.port) };
    return { host, port: this.#parts.table.find({ host: this.toApi(to.host), port: to.port }) ?? CLOSED_PORT };
  }

  get environment(): Readonly<Record<string, string>> {
    const { scheme, directory, lowPortOffset, zones } = this.#parts;
    const seen = ({ api, wire }: LabAddress) => (this.mode === 'ports' ? api : wire);
    const dns = { host: seen(this.dns), port: DNS_PORT };
    const network = { ...scheme, directory, lowPortOffset, dns, metadata: seen(this.metadata), zones: zones() };
    return { SLIPWAY_NETWORK: JSON.stringify(network) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.started.disposeAsync();
  }

  #bound(port: number): number {
    return port > 0 && port < FIRST_FREE_PORT ? port + this.#parts.lowPortOffset : port;
  }
}
