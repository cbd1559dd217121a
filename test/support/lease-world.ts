import type { Lease } from '../../src/api/generated/coordination-v1.ts';
import type { Clock, VirtualClock } from '../../src/base/clock.ts';
import { ApiError, NetworkError } from '../../src/kube/client/api-error.ts';
import type { LeaseStore } from '../../src/kube/election/lease-store.ts';

/** How a request goes wrong: it never arrives, or it has its effect and the answer never comes. */
export type Fault = 'lost-request' | 'lost-answer' | 'refused';

export interface StoredRequest {
  readonly verb: 'get' | 'create' | 'update';
  readonly by: string;
  readonly lease?: Lease;
}

/** One Lease with optimistic concurrency, as an API server keeps it; answers come on a later turn. */
export class LeaseWorld {
  readonly requests: StoredRequest[] = [];
  lease: Lease | undefined;
  #version = 0;

  /** The way of one process to it. */
  store(
    by: string,
    way: { fault?: (verb: string) => Fault | undefined; delay?: () => Promise<void> } = {},
  ): LeaseStore {
    const { fault = () => undefined, delay = async () => {} } = way;
    const call = async <T>(request: StoredRequest, act: () => T): Promise<T> => {
      const broken = fault(request.verb);
      if (broken === 'refused') throw new NetworkError('connection refused', { mayHaveHappened: false });
      await delay();
      if (broken === 'lost-request') return new Promise(() => {});
      this.requests.push(request);
      const answer = act();
      await delay();
      return broken === 'lost-answer' ? new Promise(() => {}) : answer;
    };
    return {
      get: () => call({ verb: 'get', by }, () => this.lease),
      create: (spec) =>
        call({ verb: 'create', by }, () => {
          if (this.lease !== undefined) throw conflict('AlreadyExists');
          return this.put({ ...BLANK, spec });
        }),
      update: (lease) =>
        call({ verb: 'update', by, lease }, () => {
          if (this.lease === undefined) throw new ApiError({ code: 404, reason: 'NotFound', message: 'no lease' });
          if (this.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) throw conflict('Conflict');
          return this.put(lease);
        }),
    };
  }

  put(lease: Lease): Lease {
    this.#version += 1;
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(this.#version) } };
    return this.lease;
  }

  get holder(): string | undefined {
    return this.lease?.spec?.holderIdentity;
  }

  verbs(by: string): readonly string[] {
    return this.requests.filter((request) => request.by === by).map(({ verb }) => verb);
  }
}

export const BLANK: Lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'election', namespace: 'demo' },
  spec: {},
};

const conflict = (reason: string) => new ApiError({ code: 409, reason, message: reason });

/**
 * The clock of one process in a world of several: its wall clock is off, its monotonic one started elsewhere and runs a
 * little fast or slow, and the process can be stopped: then nothing of it runs, and time goes on.
 */
export class ProcessClock implements Clock {
  readonly #world: VirtualClock;
  readonly #rate: number;
  readonly #startMs: number;
  #skewMs: number;
  #waiting: (() => void)[] | undefined;

  constructor(world: VirtualClock, { rate = 1, startMs = 0, skewMs = 0 } = {}) {
    this.#world = world;
    this.#rate = rate;
    this.#startMs = startMs;
    this.#skewMs = skewMs;
  }

  /** A step of the wall clock, as time synchronisation makes it. */
  step(ms: number): void {
    this.#skewMs += ms;
  }

  pause(): void {
    this.#waiting ??= [];
  }

  resume(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const run of waiting) run();
  }

  /** Resolves when the process runs. */
  running(): Promise<void> {
    return this.#waiting === undefined
      ? Promise.resolve()
      : new Promise((resolve) => this.#waiting?.push(resolve));
  }

  now(): Date {
    return new Date(this.#world.now().getTime() + this.#skewMs);
  }

  monotonicMs(): number {
    return this.#startMs + this.#world.monotonicMs() * this.#rate;
  }

  timer(ms: number, fire: () => void): Disposable {
    let isDisposed = false;
    const run = () => (isDisposed ? undefined : fire());
    const timer = this.#world.timer(ms / this.#rate, () => {
      if (this.#waiting === undefined) run();
      else this.#waiting.push(run);
    });
    return {
      [Symbol.dispose]: () => {
        isDisposed = true;
        timer[Symbol.dispose]();
      },
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const onAbort = () => {
        timer[Symbol.dispose]();
        reject(signal?.reason);
      };
      const timer = this.timer(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  random(): number {
    return this.#world.random();
  }

  uuid(): string {
    return this.#world.uuid();
  }
}
