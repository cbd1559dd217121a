import type { Kind, KubeObject, ObjectKey } from '../../api/object.ts';
import type { WriteObserver } from '../client/kube-client.ts';

/** A change, told after the store has it. Handlers must not throw, and only enqueue keys (I10). */
export interface ObjectEvent<T extends KubeObject = KubeObject> {
  readonly type: 'create' | 'update' | 'delete';
  /** What was told before; absent for `create`. For `delete`, equal to `object`. */
  readonly old?: T;
  /** The state now; for `delete`, the last one known. */
  readonly object: T;
  readonly isInInitialList: boolean;
  /** The deletion was seen only as an absence: `object` may be older than the last state. */
  readonly isFinalStateUnknown: boolean;
}

export type ObjectHandler<T extends KubeObject = KubeObject> = (event: ObjectEvent<T>) => void;

export interface Subscription extends Disposable {
  /** Resolves when the handler has been told every object of the initial list. */
  readonly synced: Promise<void>;
}

export interface CacheListOptions {
  readonly namespace?: string;
  readonly labels?: string | Readonly<Record<string, string>>;
  readonly fields?: string;
}

export interface InformerHealth {
  readonly resource: string;
  readonly isSynced: boolean;
  readonly objects: number;
  readonly resourceVersion: string;
  readonly lastEventAt?: Date;
  readonly lastBookmarkAt?: Date;
  readonly reconnects: number;
  readonly relists: number;
  /** Differences that a comparison with the server found: events that were missed (reliability P21). */
  readonly divergences: number;
  /** Why it is not synced, or not connected. */
  readonly problem?: string;
  /** The same for programs: `NotServed` when the server does not know the kind (yet), `Forbidden`, `Network` … */
  readonly problemReason?: string;
  /**
   * A list took every object away at this time, and none has come since. The cache follows the server, which may be
   * wrong: nobody should delete anything in the world for it in one pass (reliability P32).
   */
  readonly emptiedAt?: Date;
}

export interface Informer<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly isSynced: boolean;
  /** Everything up to here has been told to the handlers. */
  readonly resourceVersion: string;
  /** Another number: versions from before say nothing any more, since the server went back or the informer began anew. */
  readonly history?: number;
  get(key: ObjectKey): T | undefined;
  list(options?: CacheListOptions): readonly T[];
  /** Objects for which the index function returned `value`. */
  byIndex(index: string, value: string): readonly T[];
  subscribe(handler: ObjectHandler<T>): Subscription;
  readonly health: InformerHealth;
}

export interface KindCacheOptions {
  readonly namespaces?: readonly string[];
  readonly labels?: string;
  readonly fields?: string;
  readonly metadataOnly?: boolean;
  readonly keepManagedFields?: boolean;
  readonly resyncMs?: number;
  /** Labels whose values are indexed: lists by them cost what they find (I12). */
  readonly indexLabels?: readonly string[];
  /** Pure; runs once per event, before the object is frozen. */
  readonly transform?: (object: KubeObject) => KubeObject;
}

export type IndexFunction<T extends KubeObject = KubeObject> = (object: T) => readonly string[];

/** The objects of some kinds as they are on the server, kept up to date by watches. */
export interface Cache extends WriteObserver {
  /** The informer of a kind; made when first asked for, started when the cache runs and somebody subscribed or read. */
  informer<T extends KubeObject, I>(kind: Kind<T, I>): Informer<T>;
  /** Whether reads of this kind come from here (A1). */
  covers(kind: Kind): boolean;
  /** Before the informer starts (I12). */
  index<T extends KubeObject, I>(kind: Kind<T, I>, name: string, values: IndexFunction<T>): void;
  /** Rejects with the kinds that are not synced and the last problem of each (I15). */
  waitForSync(options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number }): Promise<void>;
  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  readonly health: readonly InformerHealth[];
}
