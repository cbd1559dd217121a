import { Balancer, type BalancerStatus } from './balancer.ts';
import type { BalancerConfig } from './balancer-config.ts';
import type { BalancerSurroundings } from './balancer-surroundings.ts';

/** All load balancers of a cloud. */
export interface Balancers extends AsyncDisposable {
  /** From now on there is a balancer of that name that does this. Rejects when it cannot listen; then all is as before. */
  apply(name: string, config: BalancerConfig): Promise<void>;
  /** Its connections are cut. Nothing happens when it is not there. */
  remove(name: string): Promise<void>;
  /** Undefined when it is not there. */
  status(name: string): BalancerStatus | undefined;
}

/** Balancers without configuration: they do nothing until told to. */
export async function startBalancers(surroundings: BalancerSurroundings): Promise<Balancers> {
  return new RunningBalancers(surroundings);
}

/** The same, for whoever cannot wait. */
export class RunningBalancers implements Balancers {
  readonly #surroundings: BalancerSurroundings;
  /** Those that have been applied and not removed. */
  readonly #balancers = new Map<string, Balancer>();
  /** The last thing that is done with each name: one after the other; each leaves when it is done. */
  readonly #doings = new Map<string, Promise<void>>();

  constructor(surroundings: BalancerSurroundings) {
    this.#surroundings = surroundings;
  }

  apply(name: string, config: BalancerConfig): Promise<void> {
    return this.#next(name, async () => {
      const known = this.#balancers.get(name);
      const balancer = known ?? new Balancer(this.#surroundings);
      await balancer.apply(config);
      this.#balancers.set(name, balancer);
    });
  }

  remove(name: string): Promise<void> {
    return this.#next(name, async () => {
      const balancer = this.#balancers.get(name);
      this.#balancers.delete(name);
      await balancer?.[Symbol.asyncDispose]();
    });
  }

  status(name: string): BalancerStatus | undefined {
    return this.#balancers.get(name)?.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#doings.values());
    await Promise.all([...this.#balancers.keys()].map((name) => this.remove(name)));
  }

  #next(name: string, work: () => Promise<void>): Promise<void> {
    const earlier = this.#doings.get(name) ?? Promise.resolve();
    // How the last one ended is its caller's business.
    const doing = earlier.then(work, work);
    this.#doings.set(name, doing);
    const forget = () => {
      if (this.#doings.get(name) === doing) this.#doings.delete(name);
    };
    doing.then(forget, forget);
    return doing;
  }
}
