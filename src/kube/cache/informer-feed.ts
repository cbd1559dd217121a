import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ObjectEvent, ObjectHandler } from './cache.ts';
import { EventSubscriber } from './event-subscriber.ts';
import { created, updated } from './object-changes.ts';
import type { ObjectStore, Replacement } from './object-store.ts';
import type { ReflectorTarget } from './reflector.ts';

export interface FeedOptions {
  readonly store: ObjectStore;
  readonly form: (object: KubeObject) => KubeObject;
  readonly clock: Clock;
  readonly log: Log;
}

/** Puts what reflectors read into the store, and tells the handlers afterwards. */
export class InformerFeed implements ReflectorTarget {
  readonly #options: FeedOptions;
  /** Bounded by who subscribes. */
  readonly #subscribers = new Set<EventSubscriber>();
  #emptiedAt: Date | undefined;
  #histories = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** How often the versions of the server went back. */
  get histories(): number {
    return this.#histories;
  }

  /** When a list took every object away, unless objects have come since (P32). */
  get emptiedAt(): Date | undefined {
    return this.#emptiedAt;
  }

  form(object: KubeObject): KubeObject {
    return this.#options.form(object);
  }

  delivered(key: string): KubeObject | undefined {
    return this.#options.store.delivered(key);
  }

  replace(replacement: Replacement): void {
    const { store, clock, log } = this.#options;
    if (replacement.isOtherHistory === true) this.#histories++;
    const events = store.replace(replacement);
    for (const subscriber of this.#subscribers) subscriber.tellAll(events);
    if (replacement.items.size > 0) this.#emptiedAt = undefined;
    else if (events.length > 0) {
      this.#emptiedAt = clock.now();
      log.warn({ objects: events.length }, 'a list of the server is empty where there were objects');
    }
  }

  put(key: string, object: KubeObject): void {
    this.#emptiedAt = undefined;
    this.tell(this.#options.store.put(key, object));
  }

  remove(key: string, object: KubeObject): void {
    this.tell(this.#options.store.remove(key, object));
  }

  tell(events: readonly ObjectEvent[]): void {
    // Who subscribes meanwhile is told the state after these events, so not the events.
    const subscribers = events.length === 0 ? [] : [...this.#subscribers];
    for (const event of events) {
      for (const subscriber of subscribers) subscriber.tell(event);
    }
  }

  told(): Promise<void> | undefined {
    const waiting = [...this.#subscribers].map(({ told }) => told).filter((told) => told !== undefined);
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => {});
  }

  /** A handler that comes late is told the state that the others know, as creations. */
  subscribe(handler: ObjectHandler): EventSubscriber {
    const { store, clock, log } = this.#options;
    const subscriber = new EventSubscriber(handler, clock, log);
    subscriber.tellAll([...store.allDelivered().values()].map((object) => created(object, true)));
    this.#subscribers.add(subscriber);
    return subscriber;
  }

  /** False when it was unsubscribed before. */
  unsubscribe(subscriber: EventSubscriber): boolean {
    subscriber.close();
    return this.#subscribers.delete(subscriber);
  }

  /** Tells every object once more as an update without a change (I16). */
  resync(): void {
    const events = [...this.#options.store.allDelivered().values()].map((object) => updated(object, object));
    for (const subscriber of this.#subscribers) subscriber.tellAll(events);
  }
}
