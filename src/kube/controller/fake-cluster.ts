import {
  apiVersionOf,
  type Condition,
  type Kind,
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  resourceOf,
} from '../../api/object.ts';
import { conditionsOf, sameCondition } from '../../object/conditions.ts';
import type { Cache, Informer, ObjectEvent, ObjectHandler, Subscription } from '../cache/cache.ts';
import { ApiError } from '../client/api-error.ts';
import type { ApplyOptions, KubeClient } from '../client/kube-client.ts';

/** An object as a test gives it. */
export interface Given {
  readonly metadata: Partial<KubeObject['metadata']> & { readonly name: string };
  readonly [field: string]: unknown;
}

interface Stored {
  object: KubeObject;
  /** Types of conditions by the manager that applied them. */
  readonly owned: Map<string, readonly string[]>;
}

/** Answers on a later tick, as servers do. */
const later = async (): Promise<void> => {
  for (let tick = 0; tick < 3; tick++) await Promise.resolve();
};

/**
 * One kind of objects with informer, client and managers of conditions, in memory: enough of a cluster for the loop.
 * Watch events come after the answers of writes, or before when `isWatchFirst`.
 */
export class FakeCluster {
  readonly kind: Kind;
  /** What was asked of the server, such as `applyStatus slipway/test/widget/outcome`. */
  readonly requests: string[] = [];
  readonly #objects = new Map<string, Stored>();
  readonly #handlers = new Set<ObjectHandler>();
  /** Thrown by the next request that starts so. */
  readonly failures = new Map<string, unknown>();
  isWatchFirst = false;
  problem: string | undefined;
  problemReason: string | undefined;
  #version = 0;

  constructor(kind: Kind) {
    this.kind = kind;
  }

  /** Creates or replaces an object, as another program does it. */
  put({ metadata, ...rest }: Given): KubeObject {
    const text = `${metadata.namespace ?? 'default'}/${metadata.name}`;
    const before = this.#objects.get(text);
    const { uid = `uid-${text}-${this.#version}`, generation = 1 } = before?.object.metadata ?? {};
    const object = {
      apiVersion: apiVersionOf(this.kind),
      kind: this.kind.kind,
      ...rest,
      metadata: { uid, namespace: 'default', generation, ...metadata },
    };
    return this.#store(object, before?.owned ?? new Map());
  }

  remove(key: string): void {
    const stored = this.#objects.get(key);
    this.#objects.delete(key);
    if (stored !== undefined) this.#tell({ type: 'delete', old: stored.object, object: stored.object });
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key)?.object;
  }

  conditions(key: string): readonly string[] {
    const conditions = conditionsOf(this.get(key));
    return conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);
  }

  /** Every handler is told that nothing changed (I16). */
  resync(): void {
    for (const { object } of this.#objects.values()) this.#tell({ type: 'update', old: object, object });
  }

  get cache(): Cache {
    const partial: Partial<Cache> = {
      informer: <T extends KubeObject>() => this.#informer() as unknown as Informer<T>,
    };
    return partial as Cache;
  }

  client(fieldManager = 'slipway/test'): KubeClient {
    const find = async (key: ObjectKey) => {
      await this.#request(`live.find ${keyText(key)}`);
      return this.#withManagers(keyText(key));
    };
    const partial = {
      fieldManager,
      as: (other: string) => this.client(other),
      find: async (_: Kind, key: ObjectKey) => {
        await later();
        this.#throwGiven(`find ${keyText(key)}`);
        return this.get(keyText(key));
      },
      live: { find: (_: Kind, key: ObjectKey) => find(key) },
      applyStatus: (_: Kind, config: KubeObject, options: ApplyOptions = {}) =>
        this.#apply(config, { fieldManager, ...options }),
    };
    return partial as unknown as KubeClient;
  }

  #informer(): Partial<Informer> {
    const { kind, problem, problemReason } = this;
    const isSynced = problem === undefined;
    const health = { resource: resourceOf(kind), isSynced, problem, problemReason };
    return {
      kind,
      isSynced,
      health: health as Informer['health'],
      subscribe: (handler) => this.#subscribe(handler),
    };
  }

  #subscribe(handler: ObjectHandler): Subscription {
    this.#handlers.add(handler);
    const first = [...this.#objects.values()];
    const tellAll = async () => {
      await later();
      for (const { object } of first)
        handler({ type: 'create', object, isInInitialList: true, isFinalStateUnknown: false });
    };
    const synced = this.problem === undefined ? tellAll() : new Promise<void>(() => undefined);
    return { synced, [Symbol.dispose]: () => void this.#handlers.delete(handler) };
  }

  async #request(name: string): Promise<void> {
    await later();
    this.requests.push(name);
    this.#throwGiven(name);
  }

  #throwGiven(name: string): void {
    for (const [start, error] of this.failures) {
      if (!name.startsWith(start)) continue;
      this.failures.delete(start);
      throw error;
    }
  }

  #withManagers(key: string): KubeObject | undefined {
    const stored = this.#objects.get(key);
    if (stored === undefined) return undefined;
    const managedFields = [...stored.owned]
      .filter(([, types]) => types.length > 0)
      .map(([manager]) => ({
        manager,
        operation: 'Apply' as const,
        subresource: 'status',
        fieldsV1: { 'f:status': { 'f:conditions': {} } },
      }));
    return { ...stored.object, metadata: { ...stored.object.metadata, managedFields } };
  }

  async #apply(config: KubeObject, { fieldManager = '', force = false }: ApplyOptions): Promise<KubeObject> {
    await this.#request(`applyStatus ${fieldManager}`);
    const stored = this.#objects.get(keyText(keyOf(config)));
    if (stored === undefined) throw new ApiError({ code: 404, reason: 'NotFound', message: 'there is none' });
    const wanted = conditionsOf(config);
    const conditions = conditionsOf(stored.object);
    const rivals = [...stored.owned].filter(([manager]) => manager !== fieldManager);
    const changed = wanted.filter((want) => !conditions.some((have) => sameCondition(have, want)));
    for (const [manager, types] of rivals) {
      const taken = changed.filter(({ type }) => types.includes(type));
      if (taken.length > 0 && !force) throw conflict(manager, taken);
      stored.owned.set(
        manager,
        types.filter((type) => !taken.some((condition) => condition.type === type)),
      );
    }
    const dropped = (stored.owned.get(fieldManager) ?? []).filter(
      (type) => ![...stored.owned].some(([manager, types]) => manager !== fieldManager && types.includes(type)),
    );
    stored.owned.set(
      fieldManager,
      wanted.map(({ type }) => type),
    );
    const kept = conditions.filter(
      ({ type }) => !dropped.includes(type) && !wanted.some((want) => want.type === type),
    );
    const next = { ...stored.object, status: { conditions: [...kept, ...wanted] } };
    // As on a server: what changes nothing makes no new version.
    const isChanged = changed.length > 0 || dropped.some((type) => !wanted.some((want) => want.type === type));
    const object = isChanged ? this.#store(next, stored.owned) : stored.object;
    if (this.isWatchFirst) await later();
    return object;
  }

  #store(object: KubeObject, owned: Stored['owned']): KubeObject {
    const text = keyText(keyOf(object));
    const old = this.#objects.get(text)?.object;
    const next = { ...object, metadata: { ...object.metadata, resourceVersion: `${++this.#version}` } };
    this.#objects.set(text, { object: next, owned });
    this.#tell(old === undefined ? { type: 'create', object: next } : { type: 'update', old, object: next });
    return next;
  }

  #tell(event: Pick<ObjectEvent, 'type' | 'old' | 'object'>): void {
    // Later subscribers have this state in their initial list.
    const handlers = [...this.#handlers];
    const tell = () => {
      for (const handler of handlers.filter((each) => this.#handlers.has(each)))
        handler({ ...event, isInInitialList: false, isFinalStateUnknown: false });
    };
    if (this.isWatchFirst) tell();
    else setImmediate(tell);
  }
}

const conflict = (manager: string, taken: readonly Condition[]) =>
  new ApiError({
    code: 409,
    reason: 'Conflict',
    message: 'Apply failed with conflicts',
    details: {
      causes: taken.map(({ type }) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with "${manager}" with subresource "status" using v1`,
        field: `.status.conditions[type="${type}"].status`,
      })),
    },
  });
