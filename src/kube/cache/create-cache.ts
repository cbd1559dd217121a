import { type Kind, type KubeObject, resourceOf } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { retryError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { aborted } from '../aborted.ts';
import type { LiveReader } from '../client/kube-client.ts';
import { withDeadline } from '../deadline.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Cache, IndexFunction, Informer, InformerHealth, KindCacheOptions } from './cache.ts';
import { CacheMetrics } from './cache-metrics.ts';
import { KindInformer } from './informer.ts';
import type { Verification } from './informer-options.ts';
import { labelIndex } from './object-selection.ts';
import { NAMESPACE_INDEX } from './object-store.ts';

const SYNC_TIMEOUT_MS = 120_000;
/** Large, secret, and seldom all of them needed: cached only when somebody says so (A1). */
const NOT_BY_DEFAULT = new Set(['secrets', 'configmaps']);

export interface CacheOptions {
  /** By resource: `deployments.apps`, `secrets`. Naming a kind here lets reads of it come from the cache. */
  readonly byKind?: Readonly<Record<string, KindCacheOptions>>;
  /** Of namespaced kinds; all unless told otherwise. */
  readonly namespaces?: readonly string[];
  /** Tells every object again from time to time (I16); never unless told otherwise. */
  readonly resyncMs?: number;
  readonly keepManagedFields?: boolean;
  /** `own-writes`: what this process wrote is seen by its next read (I20); `eventual`: when the watch shows it. */
  readonly consistency?: 'own-writes' | 'eventual';
  /** The server said 401. */
  readonly refreshCredentials?: () => void;
  /** `throw`: reads come from here only for kinds that are named in `byKind` or subscribed to. */
  readonly notCached?: 'start' | 'throw';
  readonly verification?: Verification;
}

export interface CacheParts {
  readonly live: LiveReader;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics;
  readonly options?: CacheOptions;
}

/** A cache over a live reader. Nothing is read before it runs. */
export const createCache = (parts: CacheParts): Cache => new KindCache(parts);

class KindCache implements Cache {
  readonly #parts: CacheParts;
  readonly #options: CacheOptions;
  /** Bounded by the kinds that the program knows. */
  readonly #informers = new Map<string, KindInformer>();
  readonly #withoutWatchList = new Set<string>();
  readonly #metrics: CacheMetrics | undefined;
  #signal: AbortSignal | undefined;

  constructor(parts: CacheParts) {
    this.#parts = parts;
    this.#options = parts.options ?? {};
    this.#metrics = parts.metrics === undefined ? undefined : new CacheMetrics(parts.metrics);
  }

  informer<T extends KubeObject, I>(kind: Kind<T, I>): Informer<T> {
    // The server decides what the objects of a kind look like (K8).
    return this.#informer(kind) as unknown as Informer<T>;
  }

  covers(kind: Kind): boolean {
    const resource = resourceOf(kind);
    const isWanted = this.#informers.get(idOf(kind))?.isWanted === true;
    const settings = this.#settingsOf(kind);
    // Metadata alone is not the object that was asked for.
    if (settings.metadataOnly === true) return false;
    if (isWanted || Object.hasOwn(this.#options.byKind ?? {}, resource)) return true;
    return this.#options.notCached !== 'throw' && !NOT_BY_DEFAULT.has(resource);
  }

  index<T extends KubeObject, I>(kind: Kind<T, I>, name: string, values: IndexFunction<T>): void {
    this.#informer(kind).addIndex(name, values as IndexFunction);
  }

  async waitForSync(options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {}): Promise<void> {
    const { signal, timeoutMs = SYNC_TIMEOUT_MS } = options;
    const { clock } = this.#parts;
    const wanted = [...this.#informers.values()].filter(({ isWanted }) => isWanted);
    const onTimeout = () => notSynced(wanted, timeoutMs);
    await withDeadline({ clock, timeoutMs, onTimeout, ...(signal !== undefined && { signal }) }, () =>
      Promise.all(wanted.map(({ synced }) => synced)),
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal !== undefined) throw new Error('the cache runs already');
    this.#signal = signal;
    using _scrape = this.#metrics?.observe(() => this.health);
    for (const informer of this.#informers.values()) informer.attach(signal);
    await aborted(signal);
    await Promise.all([...this.#informers.values()].map((informer) => informer.ended()));
  }

  get health(): readonly InformerHealth[] {
    return [...this.#informers.values()]
      .filter(({ isWanted, hasStarted }) => isWanted || hasStarted)
      .map(({ health }) => health);
  }

  wrote(kind: Kind, object: KubeObject): void {
    if (this.#options.consistency !== 'eventual') this.#informers.get(idOf(kind))?.wrote(object);
  }

  deleted(
    kind: Kind,
    key: { namespace?: string; name: string },
    object: KubeObject | undefined,
    uid?: string,
  ): void {
    if (this.#options.consistency !== 'eventual') this.#informers.get(idOf(kind))?.deleted(key, object, uid);
  }

  #informer(kind: Kind): KindInformer {
    return this.#informers.get(idOf(kind)) ?? this.#made(kind);
  }

  #made(kind: Kind): KindInformer {
    const { live, clock, log } = this.#parts;
    const { verification = {}, refreshCredentials = () => {} } = this.#options;
    const settings = this.#settingsOf(kind);
    const informer = new KindInformer({
      kind,
      settings,
      indexes: new Map(builtInIndexes(settings)),
      live,
      clock,
      log: log.child({ resource: resourceOf(kind) }),
      verification,
      withoutWatchList: this.#withoutWatchList,
      refreshCredentials,
    });
    this.#informers.set(idOf(kind), informer);
    if (this.#signal !== undefined) informer.attach(this.#signal);
    return informer;
  }

  #settingsOf(kind: Kind): KindCacheOptions {
    const { byKind = {}, namespaces, resyncMs, keepManagedFields } = this.#options;
    const resource = resourceOf(kind);
    const settings = {
      ...(namespaces !== undefined && { namespaces }),
      ...(resyncMs !== undefined && { resyncMs }),
      ...(keepManagedFields !== undefined && { keepManagedFields }),
      ...(Object.hasOwn(byKind, resource) ? byKind[resource] : {}),
    };
    return kind.scope === 'Cluster' ? { ...settings, namespaces: [] } : settings;
  }
}

const idOf = (kind: Kind): string => `${resourceOf(kind)}/${kind.version}`;

const BUILT_IN: Readonly<Record<string, IndexFunction>> = {
  [NAMESPACE_INDEX]: ({ metadata: { namespace } }) => (namespace === undefined ? [] : [namespace]),
  ownerUid: ({ metadata: { ownerReferences = [] } }) => ownerReferences.map(({ uid }) => uid),
};

const builtInIndexes = ({ indexLabels = [] }: KindCacheOptions): [string, IndexFunction][] => [
  ...Object.entries(BUILT_IN),
  ...indexLabels.map((label): [string, IndexFunction] => [
    labelIndex(label),
    ({ metadata: { labels = {} } }) => (Object.hasOwn(labels, label) ? [labels[label] ?? ''] : []),
  ]),
];

function notSynced(informers: readonly KindInformer[], timeoutMs: number): Error {
  const late = informers
    .filter(({ isSynced }) => !isSynced)
    .map(({ health: { resource, problem } }) => `${resource} (${problem ?? 'no answer yet'})`);
  return retryError('CacheNotSynced', `not synced within ${timeoutMs / 1000} s: ${late.join(', ')}`);
}
