import { type Kind, type KubeObject, keyOf, keyText, type ObjectKey, resourceOf } from '../../api/object.ts';
import { retryError, userError } from '../../base/errors.ts';
import { mutable } from '../../object/mutable.ts';
import type {
  CacheListOptions,
  IndexFunction,
  Informer,
  InformerHealth,
  ObjectHandler,
  Subscription,
} from './cache.ts';
import { InformerFeed } from './informer-feed.ts';
import type { InformerOptions } from './informer-options.ts';
import { InformerRun } from './informer-run.ts';
import { objectForm } from './object-form.ts';
import { isSelected, type Selection, selectedFrom, selectionOf } from './object-selection.ts';
import { ObjectStore } from './object-store.ts';
import { compareVersions } from './resource-version.ts';

const STOP_AFTER_MS = 30_000;

/** What a run has counted, kept over runs. */
interface Totals {
  readonly reconnects: number;
  readonly relists: number;
  readonly divergences: number;
}

const NOTHING: Totals = { reconnects: 0, relists: 0, divergences: 0 };

/**
 * The objects of one kind. Follows the server while the cache runs and somebody subscribed; a read by nobody who
 * subscribed keeps it for the life of the cache, since who reads once will read again. Half a minute after the last
 * subscriber left it stops and forgets everything (I17).
 */
export class KindInformer implements Informer {
  readonly #options: InformerOptions;
  readonly #store: ObjectStore;
  readonly #feed: InformerFeed;
  readonly #selection: Selection;
  readonly #form: (object: KubeObject) => KubeObject;
  #outer: AbortSignal | undefined;
  #run: InformerRun | undefined;
  #ending: Promise<void> = Promise.resolve();
  #stopTimer: Disposable | undefined;
  #isPinned = false;
  #synced = Promise.withResolvers<void>();
  #newestWrite = '';
  #totals = NOTHING;
  #ends = 0;

  constructor(options: InformerOptions) {
    const { kind, settings, indexes, clock, log } = options;
    this.#options = options;
    this.#store = new ObjectStore(log);
    for (const [name, valuesOf] of indexes) this.#store.addIndex(name, valuesOf);
    this.#form = objectForm({ kind, ...settings, log });
    this.#feed = new InformerFeed({ store: this.#store, form: this.#form, clock, log });
    const { labels = '', fields = '' } = settings;
    this.#selection = selectionOf({ labels, fields });
  }

  get kind(): Kind {
    return this.#options.kind;
  }

  get isSynced(): boolean {
    return this.#run?.isSynced ?? false;
  }

  get resourceVersion(): string {
    return this.#run?.toldVersion ?? '';
  }

  get history(): number {
    return this.#feed.histories + this.#ends;
  }

  /** Follows the server, or will do so when the cache runs. */
  get isWanted(): boolean {
    return this.#isPinned || this.#feed.subscribers > 0;
  }

  get hasStarted(): boolean {
    return this.#run !== undefined;
  }

  /** Resolves when the handlers know the initial list. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Undefined when there is none. Throws before the objects have been read: nothing is known then (P32). */
  get(key: ObjectKey): KubeObject | undefined {
    this.#reads(key.namespace);
    return this.#store.get(keyText(key));
  }

  list(options: CacheListOptions = {}): readonly KubeObject[] {
    this.#reads(options.namespace);
    return selectedFrom(this.#store, options);
  }

  byIndex(index: string, value: string): readonly KubeObject[] {
    this.#reads(undefined);
    const keys = this.#store.keysIn(index, value);
    if (keys === undefined) {
      const hint = 'call index() of the cache before the informer starts';
      throw userError('NoSuchIndex', `${resourceOf(this.kind)} has no index ${JSON.stringify(index)}; ${hint}`);
    }
    return [...keys].flatMap((key) => this.#store.get(key) ?? []);
  }

  subscribe(handler: ObjectHandler): Subscription {
    this.#stopTimer?.[Symbol.dispose]();
    const subscriber = this.#feed.subscribe(handler);
    this.#start();
    return {
      synced: this.#synced.promise.then(() => subscriber.told),
      [Symbol.dispose]: () => {
        if (this.#feed.unsubscribe(subscriber)) this.#stopLater();
      },
    };
  }

  get health(): InformerHealth {
    const { reconnects, relists, divergences } = this.#counted;
    const { lastEventAt, lastBookmarkAt, problem } = this.#run ?? {};
    const { emptiedAt } = this.#feed;
    return {
      resource: resourceOf(this.kind),
      isSynced: this.isSynced,
      objects: this.#store.size,
      resourceVersion: this.resourceVersion,
      ...(lastEventAt !== undefined && { lastEventAt }),
      ...(lastBookmarkAt !== undefined && { lastBookmarkAt }),
      reconnects,
      relists,
      divergences,
      ...(problem !== undefined && { problem: problem.message, problemReason: problem.reason }),
      ...(emptiedAt !== undefined && { emptiedAt }),
    };
  }

  /** Before it starts (I12): objects that are there already would not be found. */
  addIndex(name: string, valuesOf: IndexFunction): void {
    const resource = resourceOf(this.kind);
    if (this.#run !== undefined) {
      const hint = 'call index() before the cache runs';
      throw userError(
        'TooLate',
        `index ${JSON.stringify(name)}: the informer of ${resource} has started; ${hint}`,
      );
    }
    if (this.#store.hasIndex(name)) {
      throw userError('IndexExists', `${resource} has an index ${JSON.stringify(name)} already`);
    }
    this.#store.addIndex(name, valuesOf);
  }

  /** Starts when somebody wants it, now or later, until the signal aborts. */
  attach(signal: AbortSignal): void {
    this.#outer = signal;
    if (this.isWanted) this.#start();
  }

  /** Resolves when nothing of it runs any more. */
  ended(): Promise<void> {
    this.#stopTimer?.[Symbol.dispose]();
    return this.#end();
  }

  wrote(object: KubeObject): void {
    if (!this.#follows(object.metadata.namespace)) return;
    const { resourceVersion = '' } = object.metadata;
    if (this.#run === undefined) {
      if (compareVersions(resourceVersion, this.#newestWrite) > 0) this.#newestWrite = resourceVersion;
      return;
    }
    const isShown = isSelected(this.#selection, object);
    // The caller holds the object too, and may change it.
    this.#run.wrote(keyText(keyOf(object)), this.#form(mutable(object)), isShown);
  }

  deleted(key: ObjectKey, object: KubeObject | undefined, uid: string | undefined): void {
    if (!this.#follows(key.namespace)) return;
    const version = object?.metadata.resourceVersion;
    const last = { uid: uid ?? object?.metadata.uid, ...(version !== undefined && { version }) };
    this.#run?.deleted(keyText(key), last);
  }

  get #counted(): Totals {
    const { reconnects = 0, relists = 0, divergences = 0 } = this.#run ?? {};
    return {
      reconnects: this.#totals.reconnects + reconnects,
      relists: this.#totals.relists + relists,
      divergences: this.#totals.divergences + divergences,
    };
  }

  #follows(namespace: string | undefined): boolean {
    const { namespaces } = this.#options.settings;
    return namespaces === undefined || namespaces.length === 0 || namespaces.includes(namespace ?? '');
  }

  #reads(namespace: string | undefined): void {
    const resource = resourceOf(this.kind);
    if (namespace !== undefined && !this.#follows(namespace)) {
      const kept = this.#options.settings.namespaces?.join(', ') ?? '';
      throw userError('NotCached', `${resource} are cached in the namespaces ${kept} only, not in ${namespace}`);
    }
    if (this.#feed.subscribers === 0) {
      this.#stopTimer?.[Symbol.dispose]();
      this.#isPinned = true;
      this.#start();
    }
    if (this.#run?.isLoaded(namespace) === true) return;
    throw retryError('CacheNotSynced', `${resource} have not been read yet: ${this.#unreadText()}`);
  }

  #unreadText(): string {
    if (this.#outer === undefined) return 'the cache does not run';
    return this.#run?.problem?.message ?? 'the first list is on its way';
  }

  #start(): void {
    const signal = this.#outer;
    if (this.#run !== undefined || signal === undefined || signal.aborted) return;
    const { resolve } = this.#synced;
    const run = new InformerRun({
      ...this.#options,
      store: this.#store,
      feed: this.#feed,
      form: (object) => (isSelected(this.#selection, object) ? this.#form(object) : undefined),
      atLeast: this.#newestWrite,
      onSynced: () => resolve(),
    });
    this.#run = run;
    run.start(signal);
  }

  #stopLater(): void {
    if (this.isWanted || this.#run === undefined) return;
    this.#stopTimer = this.#options.clock.timer(STOP_AFTER_MS, () => {
      // It reports its failures itself, and has none when it ends.
      this.#end().catch(() => {});
    });
  }

  #end(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return this.#ending;
    this.#totals = this.#counted;
    this.#run = undefined;
    this.#ends++;
    this.#synced = Promise.withResolvers<void>();
    this.#newestWrite = '';
    this.#ending = run.stop();
    this.#store.clear();
    return this.#ending;
  }
}
