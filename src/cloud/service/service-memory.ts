import type { Service } from '../../api/generated/core-v1.ts';
import type { BalancerRef } from '../../sdk/capabilities/load-balancers.ts';
import { mayBeUnfinished } from './triggers.ts';

/** How an ensure ended that did not fail, and for which state of the Service. */
export interface LastOutcome {
  readonly service: Service;
  readonly kind: 'ready' | 'pending' | 'elsewhere';
  /** Why it is pending; empty otherwise. */
  readonly why: string;
}

/** A Service for which this process may have a balancer in the cloud. */
export interface KnownService {
  /** As it was last seen; what is told about it when it is gone is told about this. */
  readonly service: Service;
  readonly ref: BalancerRef;
  /** Provider IDs of the backends that the balancer was last given, by the names of their nodes (S24). */
  readonly machines?: ReadonlyMap<string, string>;
  /** Absent after a failure: then everything is said again. */
  readonly last?: LastOutcome;
  /** An ensure began, maybe in another process, and has not come to an end: there may be parts that are not found. */
  readonly isUnfinished: boolean;
}

/**
 * What this process did for Services, by their key. Nothing depends on it after a restart: the finalizer and the cloud
 * say the rest. Bounded by the Services that want a balancer: each is forgotten when its balancer is gone (B13).
 */
export class ServiceMemory {
  readonly #known = new Map<string, KnownService>();

  get size(): number {
    return this.#known.size;
  }

  get(key: string): KnownService | undefined {
    return this.#known.get(key);
  }

  /** A state of a Service that is about to be acted on (S8). One with another uid is another Service. */
  saw(key: string, service: Service, ref: BalancerRef): void {
    const before = this.#known.get(key);
    const isSame = before?.ref.service.uid === ref.service.uid;
    this.#known.set(key, { ...(isSame ? before : { isUnfinished: mayBeUnfinished(service) }), service, ref });
  }

  /** Nothing happens when it is not known. */
  note(key: string, facts: Partial<Pick<KnownService, 'machines' | 'isUnfinished' | 'last'>>): void {
    const known = this.#known.get(key);
    if (known !== undefined) this.#known.set(key, { ...known, ...facts });
  }

  /** The last attempt failed: what comes next is no repetition. */
  failed(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    const { last: _over, ...rest } = known;
    this.#known.set(key, rest);
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
