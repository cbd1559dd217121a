import type { Json, JsonObject } from '../../api/json.ts';
import type { ApplyOf, Kind, KubeObject, ObjectKey, ObjectList } from '../../api/object.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface GetOptions extends CallOptions {
  readonly resourceVersion?: string;
  /** Only apiVersion, kind and metadata are sent. */
  readonly metadataOnly?: boolean;
}

export interface ListOptions extends CallOptions {
  readonly namespace?: string;
  /** `app=web,tier in (a,b)`, or labels that must be equal. */
  readonly labels?: string | Readonly<Record<string, string>>;
  /** `metadata.name=x`. */
  readonly fields?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Only apiVersion, kind and metadata are sent. */
  readonly metadataOnly?: boolean;
}

export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean;
  /** Default: that of the client. */
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
}

export interface ApplyOptions extends WriteOptions {
  /** Takes fields from other managers (§10.2); false unless told otherwise. */
  readonly force?: boolean;
  /** Sends `metadata.resourceVersion` of the configuration: nobody may have written since. Else it is left out (A5). */
  readonly optimisticLock?: boolean;
}

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  /** Deletes only this very object, in this very state. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export type Patch =
  | { readonly type: 'merge'; readonly body: JsonObject }
  | { readonly type: 'strategic'; readonly body: JsonObject }
  | { readonly type: 'json'; readonly body: readonly JsonObject[] };

export interface WatchOptions extends CallOptions {
  readonly namespace?: string;
  readonly labels?: string | Readonly<Record<string, string>>;
  readonly fields?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly sendInitialEvents?: boolean;
  readonly allowBookmarks?: boolean;
  readonly timeoutSeconds?: number;
  /** Only apiVersion, kind and metadata are sent. */
  readonly metadataOnly?: boolean;
  /** No byte for so long: the socket is destroyed and the stream fails with NetworkError (I8). */
  readonly silenceMs?: number;
}

export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject };

/** Reading. Objects from a cache are frozen; `mutable()` copies them (A2). */
export interface Reader {
  /** Rejects with an ApiError that `isNotFound` when there is none. */
  get<T extends KubeObject, I>(kind: Kind<T, I>, key: ObjectKey, options?: GetOptions): Promise<T>;
  /** Undefined when there is none. */
  find<T extends KubeObject, I>(kind: Kind<T, I>, key: ObjectKey, options?: GetOptions): Promise<T | undefined>;
  list<T extends KubeObject, I>(kind: Kind<T, I>, options?: ListOptions): Promise<ObjectList<T>>;
}

/** Always the server, never a cache. */
export interface LiveReader extends Reader {
  /** Every object, in pages of 500; starts over when the pages expire (410). */
  listAll<T extends KubeObject, I>(kind: Kind<T, I>, options?: ListOptions): AsyncIterable<T>;
  /** Events until the server ends the stream. An ERROR event becomes an ApiError. */
  watch<T extends KubeObject, I>(kind: Kind<T, I>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /**
   * The same, all events that arrived together at once: one promise per chunk instead of one per event. A batch has at
   * least one event and at most 500; batches follow each other without a turn of the event loop where much has arrived,
   * so whoever reads an initial list gives others their turn (I10). Objects are fresh and belong to the caller.
   */
  watchBatches<T extends KubeObject, I>(
    kind: Kind<T, I>,
    options?: WatchOptions,
  ): AsyncIterable<readonly WatchEvent<T>[]>;
}

export interface Writer {
  create<T extends KubeObject, I>(kind: Kind<T, I>, object: I, options?: WriteOptions): Promise<T>;
  update<T extends KubeObject, I>(kind: Kind<T, I>, object: I | T, options?: WriteOptions): Promise<T>;
  updateStatus<T extends KubeObject, I>(kind: Kind<T, I>, object: I | T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject, I>(
    kind: Kind<T, I>,
    key: ObjectKey,
    patch: Patch,
    options?: ApplyOptions & { readonly subresource?: string },
  ): Promise<T>;
  /** Server-side apply: says what this manager wants and nothing else (A5). */
  apply<T extends KubeObject, I>(kind: Kind<T, I>, config: ApplyOf<T>, options?: ApplyOptions): Promise<T>;
  applyStatus<T extends KubeObject, I>(kind: Kind<T, I>, config: ApplyOf<T>, options?: ApplyOptions): Promise<T>;
  /** Succeeds also when the object is gone already. */
  delete<T extends KubeObject, I>(kind: Kind<T, I>, key: ObjectKey, options?: DeleteOptions): Promise<void>;
  deleteAllOf<T extends KubeObject, I>(kind: Kind<T, I>, options: ListOptions & DeleteOptions): Promise<void>;
  /** No write when it is there already; never on an object that is being deleted (H2). Resolves to the newest state. */
  addFinalizer<T extends KubeObject, I>(kind: Kind<T, I>, object: T, finalizer: string): Promise<T>;
  /** No write when it is not there; an object that is gone is a success. */
  removeFinalizer<T extends KubeObject, I>(kind: Kind<T, I>, object: T, finalizer: string): Promise<void>;
}

/** How many replicas an object wants and has, whatever its kind (autoscaling/v1). */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

/** One subresource of any kind. What it answers with need not be the object: `A` says what it is. */
export interface SubresourceClient {
  get<A extends KubeObject = KubeObject>(kind: Kind, key: ObjectKey, options?: GetOptions): Promise<A>;
  create<A extends KubeObject = KubeObject>(
    kind: Kind,
    key: ObjectKey,
    body: KubeObject | JsonObject,
    options?: WriteOptions,
  ): Promise<A>;
  update<A extends KubeObject = KubeObject>(
    kind: Kind,
    key: ObjectKey,
    body: KubeObject | JsonObject,
    options?: WriteOptions,
  ): Promise<A>;
  patch<A extends KubeObject = KubeObject>(
    kind: Kind,
    key: ObjectKey,
    patch: Patch,
    options?: ApplyOptions,
  ): Promise<A>;
}

export interface TokenOptions extends CallOptions {
  readonly audiences?: readonly string[];
  readonly expirationSeconds?: number;
  /** The token ends with this object. */
  readonly boundObject?: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid?: string;
  };
}

export interface ServiceAccountToken {
  readonly token: string;
  readonly expirationTimestamp: string;
}

export interface RawOptions extends CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless `headers` say otherwise. */
  readonly body?: Json;
}

/** Verbs beyond those of every object. */
export interface SpecialVerbs {
  readonly subresource: (name: string) => SubresourceClient;
  /** Sets the number of replicas through the scale subresource; reads it with `subresource('scale').get`. */
  scale(kind: Kind, key: ObjectKey, replicas: number, options?: WriteOptions): Promise<Scale>;
  /**
   * Asks for a pod to be deleted where budgets allow it. A pod that is gone is a success; 429 (`isTooManyRequests`)
   * means that a budget does not allow it now.
   */
  evict(key: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** A token of a ServiceAccount; never logged, never told to observers. */
  createToken(key: ObjectKey, options?: TokenOptions): Promise<ServiceAccountToken>;
  /** Any path of the server, such as `/version`; the decoded JSON, undefined for an empty body. */
  raw(path: string, options?: RawOptions): Promise<Json | undefined>;
}

/** What a controller talks to. Reads come from the cache where there is one (A1), writes are seen by later reads (I20). */
export interface KubeClient extends Reader, Writer, SpecialVerbs {
  readonly fieldManager: string;
  readonly live: LiveReader;
  /** The same client under another field manager. */
  as(fieldManager: string): KubeClient;
}

/**
 * Told of every successful write, so that a cache can show it before the watch does (I20); never of dry runs. The
 * object is the one the writer gets: whoever keeps it copies it, or freezes it and with it the writer's.
 */
export interface WriteObserver {
  wrote(kind: Kind, object: KubeObject): void;
  /**
   * `object` is the last state the server returned, if it returned one; else only the key is known, and mostly the uid.
   * Told only when the object is gone: one that waits for finalizers is told with `wrote`.
   */
  deleted(kind: Kind, key: ObjectKey, object: KubeObject | undefined, uid?: string): void;
}
