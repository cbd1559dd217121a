import { retryError } from '../../base/errors.ts';
import type { AddressPool, LabAddress } from './address-plan.ts';
import { type AddressScheme, labAddress, toApi, toWire } from './address-scheme.ts';

/** So many others are given out, and given back, before an address comes again: who still knows it meets nobody (X1). */
const REST = 64;

/** Without `.0` and `.255`, which people take for networks and broadcasts. */
const PER_NETWORK = 254;

/** The networks `10.L.<first>` to `10.L.<last>`, one address after the other. */
export class LabAddressPool implements AddressPool {
  readonly #scheme: AddressScheme;
  readonly #first: number;
  readonly #size: number;
  /** With their owners. */
  readonly #used = new Map<string, string>();
  /** Given back, with how many had been taken then; the oldest first. No more than the pool has. */
  readonly #resting = new Map<string, number>();
  #next = 0;
  #taken = 0;

  constructor(scheme: AddressScheme, first: number, last: number) {
    this.#scheme = scheme;
    this.#first = first;
    this.#size = (last - first + 1) * PER_NETWORK;
  }

  take(owner = ''): LabAddress {
    this.#wake();
    const address = this.#unused() ?? this.#rested();
    if (address === undefined) {
      const text = `all addresses from ${this.#at(0).api} to ${this.#at(this.#size - 1).api} are in use or were just now`;
      throw retryError('AddressPoolEmpty', `${text} (${this.#used.size} in use): remove what you do not need`);
    }
    this.#resting.delete(address.api);
    this.#used.set(address.api, owner);
    this.#taken++;
    return address;
  }

  keep(address: string, owner = ''): boolean {
    const api = toApi(this.#scheme, address);
    if (!this.#has(api) || (this.#used.get(api) ?? owner) !== owner) return false;
    this.#resting.delete(api);
    this.#used.set(api, owner);
    return true;
  }

  release(address: string): void {
    const api = toApi(this.#scheme, address);
    if (this.#used.delete(api)) this.#resting.set(api, this.#taken);
  }

  #wake(): void {
    for (const [address, takenBefore] of this.#resting) {
      if (this.#resting.size <= REST || this.#taken < takenBefore + REST) return;
      this.#resting.delete(address);
    }
  }

  #unused(): LabAddress | undefined {
    for (let tries = 0; tries < this.#size; tries++) {
      const address = this.#at(this.#next);
      this.#next = (this.#next + 1) % this.#size;
      if (!this.#used.has(address.api) && !this.#resting.has(address.api)) return address;
    }
    return undefined;
  }

  /** Of a pool that is used up: with nothing to take, nothing would ever have rested long enough. */
  #rested(): LabAddress | undefined {
    const [longest] = this.#resting.keys();
    return longest === undefined || this.#resting.size <= REST
      ? undefined
      : { api: longest, wire: toWire(this.#scheme, longest) };
  }

  #at(index: number): LabAddress {
    const network = this.#first + Math.floor(index / PER_NETWORK);
    return labAddress(this.#scheme, network, 1 + (index % PER_NETWORK));
  }

  #has(api: string): boolean {
    const [ten, octet, network, host] = api.split('.').map(Number);
    if (ten !== 10 || octet !== this.#scheme.octet || network === undefined || host === undefined) return false;
    const index = (network - this.#first) * PER_NETWORK + host - 1;
    return index >= 0 && index < this.#size && this.#at(index).api === api;
  }
}
