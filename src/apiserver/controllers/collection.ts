import type { Json, JsonObject } from '../../object/json.ts';
import { isJsonObject, jsonEqual } from '../../object/json.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER, type Propagation } from '../rest/deletion.ts';
import { finalizersOf, textOf, timestamp } from '../rest/object-meta.ts';
import type { ControllerServices } from './controllers.ts';
import { invalidOwnerEvent } from './invalid-owner-event.ts';
import { type OwnerIndex, type OwnerReference, ownersIn } from './owner-index.ts';
import { isWaiting, lookUpOwner, type OwnerState } from './owner-lookup.ts';
import { objectPath, RequestFailed, SelfRequests } from './self-requests.ts';
import { type Place, placeOf, type StoredObjects } from './stored-objects.ts';
import { LostRace } from './work-queue.ts';

export interface CollectionParts {
  readonly index: OwnerIndex;
  readonly objects: StoredObjects;
  /** Keys to look at again when other kinds are served. */
  readonly undecided: Set<string>;
  readonly enqueue: (key: string) => void;
}

/** One object as it is stored now. */
interface Item {
  readonly key: string;
  readonly place: Place;
  readonly resource: Resource;
  readonly metadata: JsonObject;
  readonly object: JsonObject;
}

type Judged = readonly (readonly [OwnerReference, OwnerState])[];

const AT_ONCE = 50;

/** Decides what becomes of one object (G5–G9) from its state and that of its owners, whatever led here. */
export class Collection {
  readonly #services: ControllerServices;
  readonly #parts: CollectionParts;
  readonly #requests: SelfRequests;

  constructor(services: ControllerServices, parts: CollectionParts) {
    this.#services = services;
    this.#parts = parts;
    this.#requests = new SelfRequests(services.transport, 'kube-controller-manager');
  }

  async examine(key: string): Promise<void> {
    const item = this.#item(key);
    if (item === undefined) return;
    if (item.metadata['deletionTimestamp'] === undefined) return this.#examineLiving(item);
    const finalizers = finalizersOf(item.metadata);
    if (finalizers.includes(ORPHAN_FINALIZER)) return this.#orphan(item);
    if (finalizers.includes(FOREGROUND_FINALIZER)) return this.#finishForeground(item);
  }

  #item(key: string): Item | undefined {
    const entry = this.#services.store.get(key);
    const place = placeOf(key);
    if (entry === undefined || place === undefined) return undefined;
    const resource = this.#parts.objects.resource(place.prefix);
    if (resource === undefined) {
      // Its own kind is not served now; nothing can be done to it until it is.
      this.#parts.undecided.add(key);
      return undefined;
    }
    const object = this.#parts.objects.read(entry, resource);
    return { key, place, resource, object, metadata: metadataOf(object) };
  }

  /** G5: an object stays while one of its owners does. */
  async #examineLiving(item: Item): Promise<void> {
    const owners = ownersIn(item.metadata);
    if (owners.length === 0) return;
    const judged = this.#judge(item, owners);
    await this.#reportMisplaced(item, judged);
    const has = (type: OwnerState['type']) => judged.some(([, state]) => state.type === type);
    if (has('unknown-kind')) {
      this.#parts.undecided.add(item.key);
      return;
    }
    this.#parts.undecided.delete(item.key);
    if (has('impossible')) return;
    if (!has('solid')) return this.#collect(item, has('waiting'));
    // References to what waits go too: it would wait for ever for an object that stays.
    const lost = judged.filter(([, { type }]) => type !== 'solid').map(([{ uid }]) => uid);
    if (lost.length > 0) await this.#dropReferences(item, new Set(lost));
  }

  #judge({ place }: Item, owners: readonly OwnerReference[]): Judged {
    const services = { ...this.#services, ...this.#parts };
    return owners.map((owner) => {
      const state = lookUpOwner(services, owner, place.namespace);
      if (state.type === 'waiting') this.#parts.index.setWaiting(owner.uid, state.key);
      return [owner, state];
    });
  }

  async #collect(item: Item, isOwnerWaiting: boolean): Promise<void> {
    const dependents = this.#parts.index.dependentsOf(textOf(item.metadata['uid']));
    if (!isOwnerWaiting || dependents.length === 0) return this.#delete(item, ownPolicy(item.metadata));
    // A ring of owners that all wait for each other would wait for ever.
    if (!dependents.some((key) => this.#isWaiting(key))) return this.#delete(item, 'Foreground');
    await this.#unblock(item);
    const unblocked = this.#item(item.key);
    if (unblocked !== undefined) await this.#delete(unblocked, 'Foreground');
  }

  #isWaiting(key: string): boolean {
    const item = this.#item(key);
    return item !== undefined && isWaiting(item.object);
  }

  /** Deletes exactly the state that was judged; a change that left the owners alone does not save an object. */
  async #delete(item: Item, propagationPolicy: Propagation): Promise<void> {
    const { uid, resourceVersion } = preconditionsOf(item.metadata);
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy };
    const path = pathOf(item);
    const strict = { ...options, preconditions: { uid, resourceVersion } };
    const { status } = await this.#requests.delete(path, strict, [404, 409]);
    if (status !== 409) return;
    const now = this.#item(item.key);
    if (now === undefined) return;
    const isSame =
      now.metadata['uid'] === uid && jsonEqual(now.metadata['ownerReferences'], item.metadata['ownerReferences']);
    if (!isSame) throw new LostRace();
    await this.#requests.delete(path, { ...options, preconditions: { uid } });
  }

  /** G6: the owner goes when nothing blocks it; until then what blocks it is looked at. */
  async #finishForeground(item: Item): Promise<void> {
    const { index, enqueue } = this.#parts;
    const uid = textOf(item.metadata['uid']);
    index.setWaiting(uid, item.key);
    if (!index.isBlocked(uid)) return this.#removeFinalizer(item, FOREGROUND_FINALIZER);
    for (const dependent of index.dependentsOf(uid)) if (!this.#isWaiting(dependent)) enqueue(dependent);
  }

  /** G7: the dependents lose their owner, then the owner goes. */
  async #orphan(item: Item): Promise<void> {
    const uid = textOf(item.metadata['uid']);
    const keys = this.#parts.index.dependentsOf(uid);
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      await Promise.all(keys.slice(at, at + AT_ONCE).map((key) => this.#dropOwner(key, uid)));
    }
    await this.#removeFinalizer(item, ORPHAN_FINALIZER);
  }

  async #dropOwner(key: string, ownerUid: string): Promise<void> {
    const item = this.#item(key);
    if (item !== undefined) await this.#dropReferences(item, new Set([ownerUid]));
  }

  #dropReferences(item: Item, uids: ReadonlySet<string>): Promise<void> {
    return this.#patchOwners(item, (references) =>
      references.filter((reference) => !uids.has(textOf(reference['uid']))),
    );
  }

  #unblock(item: Item): Promise<void> {
    return this.#patchOwners(item, (references) =>
      references.map((reference) => ({ ...reference, blockOwnerDeletion: false })),
    );
  }

  async #patchOwners(item: Item, change: (references: readonly JsonObject[]) => Json[]): Promise<void> {
    const { ownerReferences } = item.metadata;
    const references = Array.isArray(ownerReferences) ? ownerReferences.filter(isJsonObject) : [];
    const changed = change(references);
    const metadata = { ...preconditionsOf(item.metadata), ownerReferences: changed.length === 0 ? null : changed };
    await this.#requests.merge(pathOf(item), { metadata });
  }

  async #removeFinalizer(item: Item, finalizer: string): Promise<void> {
    const finalizers = finalizersOf(item.metadata).filter((name) => name !== finalizer);
    const metadata = {
      ...preconditionsOf(item.metadata),
      finalizers: finalizers.length === 0 ? null : finalizers,
    };
    await this.#requests.merge(pathOf(item), { metadata });
    this.#parts.index.forget(textOf(item.metadata['uid']));
  }

  async #reportMisplaced(item: Item, judged: Judged): Promise<void> {
    const { place, resource, metadata } = item;
    for (const [owner, state] of judged) {
      if (!('isMisplaced' in state) || !state.isMisplaced) continue;
      const subject = {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        namespace: place.namespace,
        name: place.name,
        uid: textOf(metadata['uid']),
      };
      const event = invalidOwnerEvent(subject, owner, timestamp(this.#services.clock.now()));
      await this.#record(event);
    }
  }

  /** An event that cannot be stored must not keep an object from being collected. */
  async #record(event: JsonObject): Promise<void> {
    const { namespace } = metadataOf(event);
    try {
      await this.#requests.post(`/api/v1/namespaces/${textOf(namespace)}/events`, event);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      this.#services.log.warn({ err: error }, 'An event could not be recorded');
    }
  }
}

/** What the object itself asks for when it goes (G5). */
function ownPolicy(metadata: JsonObject): Propagation {
  const finalizers = finalizersOf(metadata);
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}

const preconditionsOf = (metadata: JsonObject) => ({
  uid: textOf(metadata['uid']),
  resourceVersion: textOf(metadata['resourceVersion']),
});

const pathOf = ({ resource, place }: Item): string => objectPath(resource, place.namespace, place.name);
