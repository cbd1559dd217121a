import { isIPv4 } from 'node:net';

/** Hands out values of a pool. Synchronous: the server has one process and no await between asking and storing. */
export interface Allocator<T> {
  /** The wanted value, or a free one. Throws AllocationError when it is taken, outside, or the pool is empty. */
  allocate(wanted?: T): T;
  /** Gives a value back; one that was never taken is ignored. */
  release(value: T): void;
}

/** Why a value could not be had, in upstream's words. */
export class AllocationError extends Error {
  override readonly name = 'AllocationError';
}

/** Where the search for a free value begins; the lower part of a range is left to those who choose themselves. */
export interface Picker {
  /** A whole number below `count`. */
  pick(count: number): number;
}

/** Addresses of services inside one IPv4 range. The first address behind the network is that of `kubernetes`. */
export class ClusterIpAllocator implements Allocator<string> {
  readonly #base: number;
  readonly #size: number;
  readonly #range: string;
  readonly #taken = new Set<string>();
  readonly #picker: Picker;

  constructor(range = '10.0.0.0/24', picker: Picker = { pick: () => 0 }) {
    const [address = '', bits = ''] = range.split('/');
    if (!isIPv4(address)) throw new Error(`${range} is no IPv4 range`);
    this.#range = range;
    this.#size = 2 ** (32 - Number(bits));
    this.#base = numberOf(address) - (numberOf(address) % this.#size);
    this.#picker = picker;
  }

  /** The address of the service `default/kubernetes`: nobody gets it without asking for it. */
  get kubernetesAddress(): string {
    return textOf(this.#base + 1);
  }

  allocate(wanted?: string): string {
    if (wanted !== undefined) return this.#take(wanted);
    // Upstream takes dynamic addresses from the upper part first; the lower is for those who ask by name.
    const lower = Math.min(Math.max(16, Math.floor(this.#size / 16)), 256);
    const free = this.#free(lower, this.#size - 2) ?? this.#free(2, lower - 1);
    if (free === undefined) throw new AllocationError('range is full');
    this.#taken.add(free);
    return free;
  }

  release(address: string): void {
    this.#taken.delete(address);
  }

  #take(address: string): string {
    const offset = isIPv4(address) ? numberOf(address) - this.#base : -1;
    if (offset < 1 || offset > this.#size - 2) {
      throw new AllocationError(
        `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${this.#range}`,
      );
    }
    if (this.#taken.has(address)) throw new AllocationError('provided IP is already allocated');
    this.#taken.add(address);
    return address;
  }

  #free(first: number, last: number): string | undefined {
    const count = last - first + 1;
    if (count <= 0) return undefined;
    const start = this.#picker.pick(count);
    for (let step = 0; step < count; step++) {
      const address = textOf(this.#base + first + ((start + step) % count));
      if (!this.#taken.has(address)) return address;
    }
    return undefined;
  }
}

const numberOf = (address: string): number =>
  address.split('.').reduce((value, part) => value * 256 + Number(part), 0);

const textOf = (value: number): string =>
  [2 ** 24, 2 ** 16, 2 ** 8, 1].map((unit) => Math.floor(value / unit) % 256).join('.');

/** Ports that services open on every node. */
export class NodePortAllocator implements Allocator<number> {
  readonly #first: number;
  readonly #last: number;
  readonly #taken = new Set<number>();
  readonly #picker: Picker;

  constructor(first = 30_000, last = 32_767, picker: Picker = { pick: () => 0 }) {
    this.#first = first;
    this.#last = last;
    this.#picker = picker;
  }

  allocate(wanted?: number): number {
    if (wanted !== undefined) return this.#take(wanted);
    const count = this.#last - this.#first + 1;
    const start = this.#picker.pick(count);
    for (let step = 0; step < count; step++) {
      const port = this.#first + ((start + step) % count);
      if (!this.#taken.has(port)) return this.#take(port);
    }
    throw new AllocationError('range is full');
  }

  release(port: number): void {
    this.#taken.delete(port);
  }

  #take(port: number): number {
    if (port < this.#first || port > this.#last) {
      throw new AllocationError(
        `provided port is not in the valid range. The range of valid ports is ${this.#first}-${this.#last}`,
      );
    }
    if (this.#taken.has(port)) throw new AllocationError('provided port is already allocated');
    this.#taken.add(port);
    return port;
  }
}
