import { setTimeout as sleep } from 'node:timers/promises';
import { retryError } from '../../../src/base/errors.ts';

interface Stored {
  readonly owner: string;
  readonly size: number;
}

/** A system outside the cluster: slow, and not always at home. Same token, same thing. */
export class Provider {
  readonly #things = new Map<string, Stored>();
  readonly #random: () => number;
  #failureRate = 0;
  repetitions = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  set failureRate(rate: number) {
    this.#failureRate = rate;
  }

  get things(): ReadonlyMap<string, Stored> {
    return this.#things;
  }

  async ensure(token: string, thing: Stored): Promise<void> {
    await this.#trouble('ensure');
    if (this.#things.has(token)) this.repetitions++;
    this.#things.set(token, thing);
    await this.#trouble('ensure');
  }

  async remove(token: string): Promise<void> {
    await this.#trouble('remove');
    this.#things.delete(token);
    await this.#trouble('remove');
  }

  async #trouble(what: string): Promise<void> {
    if (this.#random() < 0.2) await sleep(this.#random() * 10);
    if (this.#random() < this.#failureRate) throw retryError('ProviderDown', `no answer to ${what}`);
  }
}
