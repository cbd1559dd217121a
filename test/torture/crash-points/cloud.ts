import { retryError } from '../../../src/base/errors.ts';
import type { ScenarioLife } from '../../../src/testing/crash-scenario.ts';

export interface Machine {
  readonly id: string;
  /** Whose it is. */
  readonly tag: string;
  readonly size: number;
  /** What is on its disk: how many machines had this tag before. Made anew, it is another one. */
  readonly disk: number;
}

export interface WantedMachine {
  readonly tag: string;
  readonly size: number;
}

/** What a provider can do. */
export interface CloudApi {
  /** The same token gives the same machine, as long as it exists. */
  create(token: string | undefined, wanted: WantedMachine): Promise<Machine>;
  change(id: string, change: Partial<WantedMachine>): Promise<void>;
  /** A machine that is gone is a success. */
  remove(id: string): Promise<void>;
  list(): Promise<readonly Machine[]>;
}

/** A provider outside of the cluster. It lives as long as a run, across the lives of the program. */
export class Cloud implements CloudApi {
  readonly #machines = new Map<string, Machine>();
  readonly #byToken = new Map<string, string>();
  readonly #made = new Map<string, number>();
  #last = 0;

  async create(token: string | undefined, { tag, size }: WantedMachine): Promise<Machine> {
    await Promise.resolve();
    const known = this.#machines.get(this.#byToken.get(token ?? '') ?? '');
    if (known !== undefined) return known;
    const disk = (this.#made.get(tag) ?? 0) + 1;
    this.#made.set(tag, disk);
    const machine = { id: `m-${++this.#last}`, tag, size, disk };
    this.#machines.set(machine.id, machine);
    if (token !== undefined) this.#byToken.set(token, machine.id);
    return machine;
  }

  async change(id: string, change: Partial<WantedMachine>): Promise<void> {
    await Promise.resolve();
    const machine = this.#machines.get(id);
    if (machine === undefined) throw retryError('NotFound', `there is no machine ${id}`);
    this.#machines.set(id, { ...machine, ...change });
  }

  async remove(id: string): Promise<void> {
    await Promise.resolve();
    this.#machines.delete(id);
  }

  async list(): Promise<readonly Machine[]> {
    await Promise.resolve();
    return [...this.#machines.values()];
  }

  /** Without the identifiers, which differ from run to run. */
  get inventory() {
    const all = [...this.#machines.values()].map(({ tag, size, disk }) => ({ tag, size, disk }));
    return all.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  }
}

/** The provider as one life of the program reaches it. */
export class CloudClient {
  readonly #cloud: CloudApi;
  readonly #life: ScenarioLife;

  constructor(cloud: CloudApi, life: ScenarioLife) {
    this.#cloud = cloud;
    this.#life = life;
  }

  create(token: string | undefined, wanted: WantedMachine): Promise<Machine> {
    return this.#effect('create', wanted.tag, () => this.#cloud.create(token, wanted));
  }

  change(machine: Machine, change: Partial<WantedMachine>): Promise<void> {
    return this.#effect('change', change.tag ?? machine.tag, () => this.#cloud.change(machine.id, change));
  }

  remove({ id, tag }: Machine): Promise<void> {
    return this.#effect('remove', tag, () => this.#cloud.remove(id));
  }

  list(): Promise<readonly Machine[]> {
    return this.#life.look(() => this.#cloud.list());
  }

  #effect<T>(verb: string, name: string, act: () => Promise<T>): Promise<T> {
    return this.#life.effect({ verb, kind: 'machine', name }, act);
  }
}
