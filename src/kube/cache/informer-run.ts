import { type KubeObject, keyFromText } from '../../api/object.ts';
import { messageOf } from '../../base/errors.ts';
import { divergentKeys } from './divergence-check.ts';
import type { InformerFeed } from './informer-feed.ts';
import type { InformerOptions } from './informer-options.ts';
import type { ListScope } from './object-list.ts';
import type { ObjectStore } from './object-store.ts';
import type { OwnWrite } from './own-write.ts';
import { OwnWriteLookup } from './own-write-lookup.ts';
import { Reflector } from './reflector.ts';
import { NOT_SERVED } from './reflector-failure.ts';
import type { ReflectorProblem } from './reflector-health.ts';
import { compareVersions } from './resource-version.ts';

const VERIFY_MS = 300_000;
const MOST_LOGGED_KEYS = 10;

export interface RunOptions extends InformerOptions {
  readonly store: ObjectStore;
  readonly feed: InformerFeed;
  /** Undefined for what the selectors of the informer leave out. */
  readonly form: (object: KubeObject) => KubeObject | undefined;
  /** The first list must not be older than what this process wrote before. */
  readonly atLeast: string;
  readonly onSynced: () => void;
}

interface Part {
  readonly scope: ListScope;
  readonly reflector: Reflector;
}

/** One life of an informer: its reflectors, one per namespace or one for all, and what it does from time to time. */
export class InformerRun {
  readonly #options: RunOptions;
  readonly #controller = new AbortController();
  readonly #parts: readonly Part[];
  readonly #lookup: OwnWriteLookup;
  #tasks: Promise<unknown> = Promise.resolve();
  #divergences = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#parts = scopesOf(options).map((scope) => ({ scope, reflector: this.#reflectorOf(scope) }));
    const { kind, store, live, clock, log, form, feed } = options;
    const isPast = (key: string, write: OwnWrite): boolean => this.#isPast(key, write);
    const tell = feed.tell.bind(feed);
    this.#lookup = new OwnWriteLookup({ kind, store, live, clock, log, form, isPast, tell });
  }

  get isSynced(): boolean {
    return this.#parts.every(({ reflector }) => reflector.isSynced);
  }

  /** Whether what is asked for has been read: one namespace, or everything. */
  isLoaded(namespace: string | undefined): boolean {
    return this.#parts.every(({ scope, reflector }) => {
      const isAskedFor = namespace === undefined || scope.namespace === undefined || scope.namespace === namespace;
      return !isAskedFor || reflector.isLoaded;
    });
  }

  /** With several namespaces the oldest. */
  get toldVersion(): string {
    const versions = this.#parts.map(({ reflector }) => reflector.toldVersion);
    return versions.reduce((a, b) => (compareVersions(a, b) <= 0 ? a : b));
  }

  get lastEventAt(): Date | undefined {
    return latest(this.#parts.map(({ reflector }) => reflector.lastEventAt));
  }

  get lastBookmarkAt(): Date | undefined {
    return latest(this.#parts.map(({ reflector }) => reflector.lastBookmarkAt));
  }

  get reconnects(): number {
    return this.#parts.reduce((sum, { reflector }) => sum + reflector.reconnects, 0);
  }

  get relists(): number {
    return this.#parts.reduce((sum, { reflector }) => sum + reflector.relists, 0);
  }

  get divergences(): number {
    return this.#divergences;
  }

  get problem(): ReflectorProblem | undefined {
    const problems = this.#parts.flatMap(({ scope: { namespace }, reflector: { problem } }) => {
      if (problem === undefined) return [];
      const { reason, message } = problem;
      return [{ reason, message: namespace === undefined ? message : `${namespace}: ${message}` }];
    });
    // A kind that is not served is so everywhere: whatever else there is says more.
    const worst = problems.find(({ reason }) => reason !== NOT_SERVED) ?? problems[0];
    if (worst === undefined) return undefined;
    return { reason: worst.reason, message: [...new Set(problems.map(({ message }) => message))].join('; ') };
  }

  start(outer: AbortSignal): void {
    const stop = (): void => this.#controller.abort(outer.reason);
    outer.addEventListener('abort', stop, { once: true });
    const { signal } = this.#controller;
    signal.addEventListener('abort', () => outer.removeEventListener('abort', stop), { once: true });
    const { settings, verification, feed } = this.#options;
    this.#tasks = Promise.all([
      ...this.#parts.map(({ reflector }) => reflector.run(signal)),
      this.#every(settings.resyncMs ?? 0, () => feed.resync()),
      this.#every(verification.everyMs ?? VERIFY_MS, () => this.#verifyAll()),
    ]);
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#controller.abort(new Error('the informer stops'));
    await this.#tasks;
  }

  wrote(key: string, object: KubeObject, isShown: boolean): void {
    const { store, clock } = this.#options;
    const seenVersion = this.#reflectorFor(key)?.version ?? '';
    store.wrote(key, object, { isShown, seenVersion, nowMs: clock.monotonicMs() });
    this.#lookup.arm(this.#controller.signal);
  }

  deleted(key: string, last: { readonly uid?: string | undefined; readonly version?: string }): void {
    const { store, clock } = this.#options;
    store.deleted(key, last, clock.monotonicMs());
    this.#lookup.arm(this.#controller.signal);
  }

  #reflectorOf(scope: ListScope): Reflector {
    const { live, feed, clock, withoutWatchList, refreshCredentials, atLeast } = this.#options;
    const log =
      scope.namespace === undefined ? this.#options.log : this.#options.log.child({ namespace: scope.namespace });
    const onReplaced = (): void => {
      if (this.isSynced) this.#options.onSynced();
      if (this.#options.verification.isAfterLists !== true) return;
      const checks = this.#parts.filter((part) => part.scope === scope).map((part) => this.#verify(part));
      this.#tasks = Promise.all([this.#tasks, ...checks]);
    };
    const shared = { live, target: feed, clock, log, withoutWatchList, refreshCredentials };
    return new Reflector({ ...shared, scope, atLeast, onReplaced });
  }

  #reflectorFor(key: string): Reflector | undefined {
    const { namespace } = keyFromText(key);
    const part = this.#parts.find(({ scope }) => scope.namespace === undefined || scope.namespace === namespace);
    return part?.reflector;
  }

  /** Of a deletion only the version before it is known. */
  #isPast(key: string, write: OwnWrite): boolean {
    const order = compareVersions(this.#reflectorFor(key)?.version ?? '', write.version);
    return write.gone.length > 0 ? order > 0 : order >= 0;
  }

  /** Again and again with ten per cent of jitter, until the run ends; 0 = never. */
  async #every(ms: number, work: () => Promise<void> | void): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#controller;
    while (ms > 0 && !signal.aborted) {
      await clock.sleep(ms * (0.9 + clock.random() * 0.2), signal).catch(() => {});
      if (!signal.aborted) await work();
    }
  }

  async #verifyAll(): Promise<void> {
    for (const part of this.#parts) await this.#verify(part);
  }

  /** Compares with the server at the version that the cache has, and lists again when they differ (P21). */
  async #verify({ scope, reflector }: Part): Promise<void> {
    const { live, store, log } = this.#options;
    const { version } = reflector;
    if (!reflector.isFollowing || this.#controller.signal.aborted) return;
    try {
      const held = store.allDelivered(scope.namespace);
      const keys = await divergentKeys({ live, scope, held, version, signal: this.#controller.signal });
      if (keys.length === 0) return;
      this.#divergences += keys.length;
      const shown = keys.slice(0, MOST_LOGGED_KEYS);
      log.error(
        { version, keys: shown, count: keys.length },
        'the cache differs from the server and is filled again',
      );
      reflector.relist();
    } catch (error) {
      log.debug({ version, problem: messageOf(error) }, 'the cache could not be compared with the server');
    }
  }
}

function scopesOf({ kind, settings }: InformerOptions): ListScope[] {
  const { namespaces = [], labels, fields, metadataOnly } = settings;
  const rest = { kind, labels, fields, metadataOnly };
  return namespaces.length === 0 ? [rest] : [...new Set(namespaces)].map((namespace) => ({ ...rest, namespace }));
}

function latest(dates: readonly (Date | undefined)[]): Date | undefined {
  const known = dates.filter((date) => date !== undefined);
  return known.length === 0 ? undefined : known.reduce((a, b) => (a >= b ? a : b));
}
