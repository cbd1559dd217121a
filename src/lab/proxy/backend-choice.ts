import type { Clock } from '../../base/clock.ts';
import { type Backend, type Frontend, usableBackends } from './service-frontends.ts';

/** Clients that are remembered; the one that was silent longest goes first. */
const MOST_CLIENTS = 10_000;

export interface Client {
  readonly address: string;
  /** Undefined: it is on no node. */
  readonly node: string | undefined;
}

interface Stay {
  readonly place: string;
  readonly untilMs: number;
}

/** Chooses among the backends of one place, one after the other; clients may stay with theirs (X11). */
export class BackendChoice {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** In the order of the last connection. */
  readonly #stays = new Map<string, Stay>();
  #turn = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Undefined when there is none for this client. */
  choose(frontend: Frontend, { address, node }: Client): Backend | undefined {
    const usable = usableBackends(frontend, frontend.node?.name ?? node);
    if (frontend.affinitySeconds === 0) return this.#next(usable);
    const known = this.#known(address);
    const backend = usable.find((one) => placeOf(one) === known) ?? this.#next(usable);
    if (backend !== undefined) this.#keep(address, backend, frontend.affinitySeconds);
    return backend;
  }

  #next(usable: readonly Backend[]): Backend | undefined {
    return usable[this.#turn++ % Math.max(1, usable.length)];
  }

  #known(address: string): string | undefined {
    const stay = this.#stays.get(address);
    return stay !== undefined && stay.untilMs > this.#clock.monotonicMs() ? stay.place : undefined;
  }

  /** From now on: a client that comes again and again never changes. */
  #keep(address: string, backend: Backend, seconds: number): void {
    this.#stays.delete(address);
    this.#stays.set(address, { place: placeOf(backend), untilMs: this.#clock.monotonicMs() + seconds * 1000 });
    const [oldest] = this.#stays.keys();
    if (this.#stays.size > MOST_CLIENTS && oldest !== undefined) this.#stays.delete(oldest);
  }
}

const placeOf = ({ host, port }: Backend): string => `${host}:${port}`;
