import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { Kind, KubeObject } from '../../../src/api/object.ts';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isNetwork,
  isNotFound,
} from '../../../src/kube/client/api-error.ts';
import type { KubeClient } from '../../../src/kube/client/kube-client.ts';
import { Box, Disk, NAMESPACE, Tally } from './kinds.ts';

export interface Population {
  readonly boxes: number;
  readonly disks: number;
  readonly tallies: number;
}

/** So that boxes with their maps, disks and tallies are that many objects in all. */
export const populationOf = (objects: number): Population => ({
  boxes: Math.ceil(objects / 5),
  disks: Math.ceil(objects / 2),
  tallies: Math.max(5, Math.ceil(objects / 50)),
});

const AT_ONCE = 12;

/** Those who make, change and delete objects, and meddle with what is not theirs. No faults for them, but crashes. */
export class Users {
  readonly #client: KubeClient;
  readonly #random: () => number;
  readonly #population: Population;
  acts = 0;

  constructor(client: KubeClient, random: () => number, population: Population) {
    this.#client = client;
    this.#random = random;
    this.#population = population;
  }

  /** Makes everybody who is not there, so that each round begins with as many as the one before. */
  async settleIn(): Promise<void> {
    const { boxes, disks, tallies } = this.#population;
    const makers = [
      ...Array.from({ length: tallies }, (_, at) => () => this.#makeTally(at)),
      ...Array.from({ length: boxes }, (_, at) => () => this.#makeBox(at)),
      ...Array.from({ length: disks }, (_, at) => () => this.#makeDisk(at)),
    ];
    const worker = async () => {
      for (let make = makers.pop(); make !== undefined; make = makers.pop()) await make();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  /** Acts at random until the signal aborts; `perSecond` in all. */
  async live(perSecond: number, signal: AbortSignal): Promise<void> {
    const one = async () => {
      while (!signal.aborted) {
        await this.#tolerant(() => this.#act());
        await sleep((AT_ONCE * 1000 * this.#random() * 2) / perSecond);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  }

  /** Only what a crash or a colleague causes. */
  async #tolerant(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
      this.acts++;
    } catch (error) {
      const isTheirs = [isNotFound, isConflict, isAlreadyExists, isNetwork].some((is) => is(error));
      const isServers = error instanceof ApiError && error.code >= 500;
      if (!isTheirs && !isServers) throw error;
    }
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  async #act(): Promise<unknown> {
    const { boxes, disks, tallies } = this.#population;
    const [box, disk] = [this.#below(boxes), this.#below(disks)];
    const map = `box-${box}-${this.#below(2)}`;
    // A field of their own would stay theirs: apply takes back only what it names.
    const body = { data: { text: 'meddled' } };
    const acts: readonly (readonly [share: number, act: () => Promise<unknown>])[] = [
      [0.2, () => this.#change(Box, `box-${box}`, this.#boxSpec())],
      [0.1, () => this.#makeBox(box)],
      [0.1, () => this.#remove(Box, `box-${box}`)],
      [0.15, () => this.#change(Disk, `disk-${disk}`, this.#diskSpec())],
      [0.15, () => this.#makeDisk(disk)],
      [0.15, () => this.#remove(Disk, `disk-${disk}`)],
      [0.05, () => this.#change(Tally, `tally-${this.#below(tallies)}`, { note: `${this.acts}` })],
      [0.05, () => this.#remove(ConfigMap, map)],
      [0.05, () => this.#client.patch(ConfigMap, { namespace: NAMESPACE, name: map }, { type: 'merge', body })],
    ];
    let left = this.#random();
    for (const [share, act] of acts) {
      if (left < share) return await act();
      left -= share;
    }
    return undefined;
  }

  #boxSpec() {
    const tally = `tally-${this.#below(this.#population.tallies)}`;
    return { copies: this.#below(4), text: 'x'.repeat(1 + this.#below(30)), tally };
  }

  #diskSpec() {
    return { size: 1 + this.#below(1000) };
  }

  #change<T extends KubeObject, I>(kind: Kind<T, I>, name: string, spec: JsonObject): Promise<T> {
    return this.#client.patch(kind, { namespace: NAMESPACE, name }, { type: 'merge', body: { spec } });
  }

  #remove<T extends KubeObject, I>(kind: Kind<T, I>, name: string): Promise<void> {
    const propagationPolicy = this.#random() < 0.3 ? 'Foreground' : 'Background';
    return this.#client.delete(kind, { namespace: NAMESPACE, name }, { propagationPolicy });
  }

  #makeBox(at: number) {
    return this.#made(() => this.#client.create(Box, { ...metadataOf(`box-${at}`), spec: this.#boxSpec() }));
  }

  #makeDisk(at: number) {
    return this.#made(() => this.#client.create(Disk, { ...metadataOf(`disk-${at}`), spec: this.#diskSpec() }));
  }

  #makeTally(at: number) {
    return this.#made(() => this.#client.create(Tally, { ...metadataOf(`tally-${at}`), spec: { note: '' } }));
  }

  async #made(make: () => Promise<unknown>): Promise<void> {
    try {
      await make();
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

const metadataOf = (name: string) => ({ metadata: { name, namespace: NAMESPACE } });
