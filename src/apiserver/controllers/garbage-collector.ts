import type { JsonObject } from '../../object/json.ts';
import { metadataOf } from '../request.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../rest/deletion.ts';
import { finalizersOf, textOf } from '../rest/object-meta.ts';
import type { Entry, StoreEvent } from '../store/store.ts';
import { contains } from './byte-search.ts';
import { Collection } from './collection.ts';
import type { ControllerServices } from './controllers.ts';
import { OwnerIndex, ownersIn } from './owner-index.ts';
import { placeOf, StoredObjects } from './stored-objects.ts';
import { WorkQueue } from './work-queue.ts';

// They take no part: they outlive what they tell of.
const EVENTS = '/registry/core/events/';
// Deletions are committed in groups: many at a time cost hardly more than one.
const CONCURRENCY = 64;

/** Deletes what its owners leave behind (§16.3), as soon as the store tells of it. */
export class GarbageCollector implements AsyncDisposable {
  readonly #objects: StoredObjects;
  readonly #index = new OwnerIndex();
  readonly #queue: WorkQueue;
  readonly #subscriptions = new DisposableStack();
  /** Keys of objects with an owner of a kind nobody knows (G9). */
  readonly #undecided = new Set<string>();

  constructor(services: ControllerServices) {
    const { store, registry, codec, clock, log } = services;
    this.#objects = new StoredObjects(registry, codec);
    const collection = new Collection(services, {
      index: this.#index,
      objects: this.#objects,
      undecided: this.#undecided,
      enqueue: (key) => this.#queue.add(key),
    });
    this.#queue = new WorkQueue({
      name: 'garbage collector',
      clock,
      log,
      concurrency: CONCURRENCY,
      work: (key) => collection.examine(key),
    });
    this.#subscriptions.use(store.subscribe('/registry/', (event) => this.#changed(event)));
    this.#subscriptions.use(registry.onChange(() => this.#decideAgain()));
    for (const entry of store.list('/registry/')) this.#look(entry);
  }

  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions.dispose();
    await this.#queue[Symbol.asyncDispose]();
  }

  #changed({ key, entry, isRemoval }: StoreEvent): void {
    if (isRemoval) this.#removed(key, entry);
    else this.#look(entry);
  }

  /** Most objects have no owners and are not being deleted: that is found without parsing them. */
  #look(entry: Entry): void {
    const { key, bytes } = entry;
    if (key.startsWith(EVENTS)) return;
    const isDependent = this.#index.has(key) || contains(bytes, '"ownerReferences":[');
    const isEnding =
      contains(bytes, '"deletionTimestamp":') &&
      (contains(bytes, `"${FOREGROUND_FINALIZER}"`) || contains(bytes, `"${ORPHAN_FINALIZER}"`));
    if (!isDependent && !isEnding) return;
    const metadata = metadataOf(this.#read(entry));
    if (isDependent) this.#related(key, metadata);
    if (isEnding) this.#ending(key, metadata);
  }

  #related(key: string, metadata: JsonObject): void {
    const before = this.#index.ownersOf(key);
    const isChanged = this.#index.set(key, textOf(metadata['uid']), ownersIn(metadata));
    if (!isChanged) return;
    this.#queue.add(key);
    for (const owner of this.#index.unblocked(before)) this.#queue.add(owner);
  }

  #ending(key: string, metadata: JsonObject): void {
    if (metadata['deletionTimestamp'] === undefined) return;
    const finalizers = finalizersOf(metadata);
    const uid = textOf(metadata['uid']);
    const isWaiting = finalizers.includes(FOREGROUND_FINALIZER);
    if (!isWaiting && !finalizers.includes(ORPHAN_FINALIZER)) return;
    if (isWaiting && this.#index.setWaiting(uid, key)) {
      for (const dependent of this.#index.dependentsOf(uid)) this.#queue.add(dependent);
    }
    this.#queue.add(key);
  }

  #removed(key: string, entry: Entry): void {
    this.#undecided.delete(key);
    if (this.#index.isEmpty) return;
    const uid = this.#index.uidOf(key) ?? textOf(metadataOf(this.#read(entry))['uid']);
    const owners = this.#index.ownersOf(key);
    this.#index.set(key, uid, []);
    this.#index.setGone(uid);
    this.#index.forget(uid);
    for (const owner of this.#index.unblocked(owners)) this.#queue.add(owner);
    for (const dependent of this.#index.dependentsOf(uid)) this.#queue.add(dependent);
  }

  #read(entry: Entry): JsonObject {
    return this.#objects.read(entry, this.#objects.resource(placeOf(entry.key)?.prefix ?? ''));
  }

  #decideAgain(): void {
    for (const key of this.#undecided) this.#queue.add(key);
  }
}
