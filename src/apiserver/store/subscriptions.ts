import type { StoreEvent } from './store.ts';

type Listener = (event: StoreEvent) => void;

interface Subscription {
  readonly prefix: string;
  readonly listener: Listener;
  isActive: boolean;
}

interface Waiter {
  readonly revision: number;
  readonly resolve: () => void;
}

/**
 * Who wants to know of changes. Lists are replaced, never changed: a listener that comes or goes while an event is
 * handed out must neither get that event twice nor make another one miss it.
 */
export class Subscriptions {
  /** By resource prefix; `undefined` holds those above all resources. */
  readonly #byResource = new Map<string | undefined, readonly Subscription[]>();
  readonly #onThrow: (thrown: unknown) => void;
  #waiters: readonly Waiter[] = [];

  constructor(onThrow: (thrown: unknown) => void) {
    this.#onThrow = onThrow;
  }

  add(resource: string | undefined, prefix: string, listener: Listener): Disposable {
    const subscription: Subscription = { prefix, listener, isActive: true };
    this.#byResource.set(resource, [...(this.#byResource.get(resource) ?? []), subscription]);
    return {
      [Symbol.dispose]: () => {
        subscription.isActive = false;
        const others = (this.#byResource.get(resource) ?? []).filter((other) => other !== subscription);
        if (others.length > 0) this.#byResource.set(resource, others);
        else this.#byResource.delete(resource);
      },
    };
  }

  notify(resource: string, event: StoreEvent): void {
    this.#call(this.#byResource.get(resource), event);
    this.#call(this.#byResource.get(undefined), event);
    if (this.#waiters.length > 0) this.#wake(event.revision);
  }

  reached(revision: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        revision,
        resolve: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters = [...this.#waiters, waiter];
    });
  }

  #call(subscriptions: readonly Subscription[] | undefined, event: StoreEvent): void {
    if (subscriptions === undefined) return;
    for (const subscription of subscriptions) {
      if (!subscription.isActive || !event.key.startsWith(subscription.prefix)) continue;
      try {
        subscription.listener(event);
      } catch (thrown) {
        this.#onThrow(thrown);
      }
    }
  }

  #wake(revision: number): void {
    const due = this.#waiters.filter((waiter) => waiter.revision <= revision);
    if (due.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
    for (const waiter of due) waiter.resolve();
  }
}
