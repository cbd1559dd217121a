import { CloudError } from '../cloud-error.ts';

/** More than any pool has. */
const MOST_TRIES = 10_000;

/**
 * Takes addresses for transactions that may fail afterwards: what was taken and not used is the next one to be given, so
 * that refusals cost no addresses.
 */
export class AddressReserve<Address> {
  readonly #takeNew: () => Address;
  #spare: Address | undefined;

  constructor(takeNew: () => Address) {
    this.#takeNew = takeNew;
  }

  /** One that `isUsed` says nobody has: after a restart the source may not know all that are in use. */
  take(isUsed: (address: Address) => boolean): Address {
    let address = this.#spare ?? this.#takeNew();
    for (let tries = 0; isUsed(address); address = this.#takeNew()) {
      if (tries++ > MOST_TRIES) throw new CloudError('InsufficientCapacity', 'all addresses are in use');
    }
    this.#spare = address;
    return address;
  }

  /** The address is in use for good. */
  settle(isIt: (address: Address) => boolean): void {
    if (this.#spare !== undefined && isIt(this.#spare)) this.#spare = undefined;
  }
}
