import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import type { Entry } from '../store/store.ts';
import type { ControllerServices } from './controllers.ts';
import { SelfRequests } from './self-requests.ts';
import { parseEntry, placeOf } from './stored-objects.ts';
import { WorkQueue } from './work-queue.ts';

const EVENTS = '/registry/core/events/';
const LIFE_MS = 3_600_000;

/** Removes events an hour after their last write (G13). */
export class EventExpiry implements AsyncDisposable {
  readonly #services: ControllerServices;
  readonly #requests: SelfRequests;
  readonly #queue: WorkQueue;
  readonly #subscription: Disposable;
  /** When each event is due. All live equally long, so the order of writes is the order of ends. */
  readonly #due = new Map<string, number>();
  #timer: Disposable | undefined;

  constructor(services: ControllerServices) {
    const { store, clock, log, transport } = services;
    this.#services = services;
    this.#requests = new SelfRequests(transport, 'kube-apiserver');
    this.#queue = new WorkQueue({ name: 'events', clock, log, work: (key) => this.#expire(key) });
    this.#subscription = store.subscribe(EVENTS, ({ key, isRemoval }) => this.#changed(key, isRemoval));
    const found = [...store.list(EVENTS)].map((entry): [string, number] => [
      entry.key,
      writtenAt(entry) + LIFE_MS,
    ]);
    for (const [key, dueMs] of found.toSorted(([, a], [, b]) => a - b)) this.#due.set(key, dueMs);
    this.#arm();
  }

  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    await this.#queue[Symbol.asyncDispose]();
  }

  #changed(key: string, isRemoval: boolean): void {
    this.#due.delete(key);
    if (!isRemoval) this.#due.set(key, this.#services.clock.now().getTime() + LIFE_MS);
    this.#arm();
  }

  /** One timer, for the event that ends first; an event that was written again only makes it fire for nothing. */
  #arm(): void {
    if (this.#timer !== undefined) return;
    const first = this.#due.values().next().value;
    if (first === undefined) return;
    const { clock } = this.#services;
    this.#timer = clock.timer(Math.max(0, first - clock.now().getTime()), () => {
      this.#timer = undefined;
      this.#fire();
    });
  }

  #fire(): void {
    const nowMs = this.#services.clock.now().getTime();
    for (const [key, dueMs] of this.#due) {
      if (dueMs > nowMs) break;
      this.#due.delete(key);
      this.#queue.add(key);
    }
    this.#arm();
  }

  async #expire(key: string): Promise<void> {
    const entry = this.#services.store.get(key);
    const place = placeOf(key);
    if (entry === undefined || place === undefined || this.#due.has(key)) return;
    const resourceVersion = String(entry.revision);
    const path = `/api/v1/namespaces/${place.namespace}/events/${encodeURIComponent(place.name)}`;
    // 409: it was written again and lives on.
    await this.#requests.delete(path, { preconditions: { resourceVersion } }, [404, 409]);
  }
}

/** When an event found at start was written last, as far as it tells. */
function writtenAt(entry: Entry): number {
  const event = parseEntry(entry);
  const series = isJsonObject(event['series']) ? event['series'] : {};
  const metadata = metadataOf(event);
  const times = [
    metadata['creationTimestamp'],
    event['lastTimestamp'],
    series['lastObservedTime'],
    ...managedTimes(metadata),
  ];
  return Math.max(0, ...times.map((time) => Date.parse(textOf(time))).filter((time) => !Number.isNaN(time)));
}

const managedTimes = ({ managedFields }: JsonObject): readonly (Json | undefined)[] =>
  Array.isArray(managedFields) ? managedFields.filter(isJsonObject).map((entry) => entry['time']) : [];
