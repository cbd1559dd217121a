import { type KubeObject, keyOf, keyText, resourceOf } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { LiveReader, WatchEvent, WatchOptions } from '../client/kube-client.ts';
import { EndBookmark, isEndBookmark } from './end-bookmark.ts';
import { Turns } from './event-loop.ts';
import { isSameState } from './object-changes.ts';
import { badData, objectProblem } from './object-form.ts';
import { type ListScope, listPages, scopeOptions } from './object-list.ts';
import type { Replacement } from './object-store.ts';
import { versionOf } from './own-write.ts';
import { type Attempt, reactionTo } from './reflector-failure.ts';
import { ReflectorHealth, type ReflectorProblem } from './reflector-health.ts';
import { compareVersions } from './resource-version.ts';

const SILENCE_MS = 90_000;
/** A stream that ends sooner did not work: opening the next one at once could go on forever. */
const SHORT_STREAM_MS = 5_000;

/** Where a reflector puts what it reads. */
export interface ReflectorTarget {
  /** The form in which an object is kept; the object is changed and frozen. */
  form(object: KubeObject): KubeObject;
  /** What handlers were told last about a key. */
  delivered(key: string): KubeObject | undefined;
  replace(replacement: Replacement): void;
  put(key: string, object: KubeObject): void;
  remove(key: string, object: KubeObject): void;
  /** Resolves when the handlers know everything; undefined when they do already. */
  told(): Promise<void> | undefined;
}

export interface ReflectorOptions {
  readonly scope: ListScope;
  readonly live: LiveReader;
  readonly target: ReflectorTarget;
  readonly clock: Clock;
  readonly log: Log;
  /** Remembers for all reflectors that the server has no watch-list for this resource. */
  readonly withoutWatchList: Set<string>;
  readonly refreshCredentials: () => void;
  /** A first list from the server's memory must not be older; empty = any will do. */
  readonly atLeast: string;
  readonly onReplaced: () => void;
}

/**
 * Keeps a target equal to one list of the server (5.1): initial state, then changes, through every failure, until it is
 * told to stop. It never stops by itself and never loops without waiting.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #turns: Turns;
  readonly #health: ReflectorHealth;
  readonly #endpoint: string;
  #version = '';
  #toldVersion = '';
  #isLoaded = false;
  #needsList = true;
  #isVersionUnusable = false;
  #missingBookmarks = 0;
  #lists = 0;
  #current: AbortController | undefined;
  #lastBookmarkAt: Date | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#turns = new Turns(options.clock);
    this.#health = new ReflectorHealth(options.clock, options.log);
    this.#endpoint = `${resourceOf(options.scope.kind)}/${options.scope.kind.version}`;
  }

  /** The target holds everything up to here; empty before the first list. */
  get version(): string {
    return this.#version;
  }

  /** The handlers know everything up to here. */
  get toldVersion(): string {
    return this.#toldVersion;
  }

  /** The first list is in the target. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** The handlers know the first list. */
  get isSynced(): boolean {
    return this.#toldVersion !== '';
  }

  /** What the target holds is what the server had at `version`, as far as is known; else it is listed again anyway. */
  get isFollowing(): boolean {
    return this.#isLoaded && !this.#needsList;
  }

  get reconnects(): number {
    return this.#health.reconnects;
  }

  get relists(): number {
    return Math.max(0, this.#lists - 1);
  }

  get lastEventAt(): Date | undefined {
    return this.#health.lastEventAt;
  }

  get lastBookmarkAt(): Date | undefined {
    return this.#lastBookmarkAt;
  }

  /** Why it does not follow the server at the moment. */
  get problem(): ReflectorProblem | undefined {
    return this.#health.problem(!this.#needsList);
  }

  /** Lists everything again, in its newest state, without waiting for a failure. */
  relist(): void {
    this.#needsList = true;
    this.#isVersionUnusable = true;
    this.#current?.abort(new Error('the objects are listed again'));
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const current = new AbortController();
      this.#current = current;
      const phase = this.#nextPhase();
      try {
        await this.#try(phase, AbortSignal.any([signal, current.signal]));
      } catch (error) {
        if (!signal.aborted && !current.signal.aborted) await this.#recover(error, phase, signal);
      } finally {
        this.#health.closed();
      }
    }
  }

  #nextPhase(): Attempt['phase'] {
    if (!this.#needsList) return 'resume';
    return this.#options.withoutWatchList.has(this.#endpoint) ? 'list' : 'watch-list';
  }

  async #try(phase: Attempt['phase'], signal: AbortSignal): Promise<void> {
    if (phase === 'watch-list') return await this.#watchList(signal);
    if (phase === 'list') await this.#list(signal);
    await this.#watch({ resourceVersion: this.#version }, signal);
  }

  async #watchList(signal: AbortSignal): Promise<void> {
    using end = new EndBookmark(this.#options.clock);
    const resourceVersion = this.#isVersionUnusable ? '' : this.#version;
    const options = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', resourceVersion } as const;
    const found = new Map<string, KubeObject>();
    try {
      await this.#watch(options, AbortSignal.any([signal, end.signal]), async (event) => {
        if (!isEndBookmark(event)) {
          end.touch();
          this.#collect(event, found);
          return false;
        }
        end[Symbol.dispose]();
        await this.#replace(found, versionOf(event.object));
        this.#missingBookmarks = 0;
        return true;
      });
    } catch (error) {
      if (!end.signal.aborted || signal.aborted) throw error;
      this.#useLists('the mark that ends the initial events did not come');
    }
  }

  #collect({ type, object }: WatchEvent, found: Map<string, KubeObject>): void {
    if (type === 'BOOKMARK') return;
    const key = this.#checkedKey(object);
    if (type === 'DELETED') found.delete(key);
    else found.set(key, this.#formed(key, object));
  }

  /** What is known already needs no second copy, and no work; unless the server may have another history. */
  #formed(key: string, object: KubeObject): KubeObject {
    const known = this.#options.target.delivered(key);
    const isKnown = known !== undefined && !this.#isVersionUnusable && isSameState(known, object);
    return isKnown ? known : this.#options.target.form(object);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { live, scope } = this.#options;
    const found = new Map<string, KubeObject>();
    const take = async (items: readonly KubeObject[]): Promise<boolean> => {
      for (const item of items) {
        const key = this.#checkedKey(item);
        if (found.has(key)) return false;
        found.set(key, this.#formed(key, item));
        const turn = this.#turns.took();
        if (turn !== undefined) await turn;
      }
      return true;
    };
    const resourceVersion = this.#isVersionUnusable ? '' : this.#version || this.#options.atLeast || '0';
    const isAtLeast = resourceVersion !== '' && resourceVersion !== '0';
    const options = {
      signal,
      resourceVersion,
      ...(isAtLeast && { resourceVersionMatch: 'NotOlderThan' as const }),
    };
    const version = await listPages(live, scope, options, { take, restart: () => found.clear() });
    signal.throwIfAborted();
    await this.#replace(found, version);
  }

  async #replace(items: Map<string, KubeObject>, version: string): Promise<void> {
    const { target, scope, onReplaced } = this.#options;
    if (version === '') throw badData('an initial state without resourceVersion');
    const isOtherHistory = compareVersions(version, this.#version) < 0;
    if (isOtherHistory)
      this.#health.warn('History', `the server went back from version ${this.#version} to ${version}`);
    target.replace({ items, version, namespace: scope.namespace, isInitial: !this.#isLoaded, isOtherHistory });
    this.#version = version;
    this.#lists++;
    this.#isLoaded = true;
    this.#needsList = false;
    this.#isVersionUnusable = false;
    this.#health.loaded();
    await target.told();
    this.#toldVersion = this.#version;
    onReplaced();
  }

  /** Reads a stream to its end. `initial` gets the events until it returns true. */
  async #watch(
    options: WatchOptions,
    signal: AbortSignal,
    initial?: (event: WatchEvent) => Promise<boolean>,
  ): Promise<void> {
    const { live, scope, clock, target } = this.#options;
    const timeoutSeconds = 300 + Math.floor(clock.random() * 301);
    const fixed = { ...scopeOptions(scope), allowBookmarks: true, timeoutSeconds, silenceMs: SILENCE_MS, signal };
    this.#health.opens();
    const startMs = clock.monotonicMs();
    let isInitial = initial !== undefined;
    for await (const batch of live.watchBatches(scope.kind, { ...fixed, ...options })) {
      // Waiting for the handlers took its time.
      signal.throwIfAborted();
      this.#health.received();
      for (const event of batch) {
        if (isInitial && initial !== undefined) isInitial = !(await initial(event));
        else this.#apply(event);
        const turn = this.#turns.took();
        if (turn !== undefined) await turn;
        // What is stopped must not touch the target: another run may have begun.
        signal.throwIfAborted();
      }
      await target.told();
      if (!isInitial) this.#toldVersion = this.#version;
    }
    await this.#ended(isInitial, clock.monotonicMs() - startMs, signal);
  }

  /** The server ended the stream. That is how it goes after some minutes, else it is a failure like others. */
  async #ended(isInitial: boolean, lastedMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (isInitial && ++this.#missingBookmarks > 1) {
      return this.#useLists('the stream ended before the mark that ends the initial events');
    }
    if (!isInitial && lastedMs >= SHORT_STREAM_MS) return;
    await this.#health.pause(
      { reason: 'ShortStream', error: 'the server ended the stream', isFirstFree: true },
      signal,
    );
  }

  #apply(event: WatchEvent): void {
    const { target, clock } = this.#options;
    const { type, object } = event;
    const version = versionOf(object);
    if (type === 'BOOKMARK') {
      if (version === '') throw badData('a bookmark without resourceVersion');
      if (compareVersions(version, this.#version) < 0) throw this.#backwards(version);
      this.#lastBookmarkAt = clock.now();
    } else {
      const key = this.#checkedKey(object);
      if (compareVersions(version, this.#version) < 0) return this.#ignoreKnown(event, key);
      if (type === 'DELETED') target.remove(key, target.form(object));
      else target.put(key, target.form(object));
    }
    this.#version = version;
  }

  /** An event that was seen before does no harm; another one from the past means that something was missed (P23). */
  #ignoreKnown({ type, object }: WatchEvent, key: string): void {
    const known = this.#options.target.delivered(key);
    const isKnown =
      type === 'DELETED'
        ? known?.metadata.uid !== object.metadata.uid
        : known !== undefined && compareVersions(versionOf(object), versionOf(known)) <= 0;
    if (!isKnown) throw this.#backwards(versionOf(object));
  }

  #backwards(version: string): Error {
    this.#isVersionUnusable = true;
    return badData(`version ${version} after ${this.#version}`);
  }

  #checkedKey(object: KubeObject): string {
    const { kind, namespace } = this.#options.scope;
    const problem = objectProblem(object, kind);
    if (problem !== undefined) throw badData(problem);
    if (namespace !== undefined && object.metadata.namespace !== namespace) {
      throw badData(`${object.metadata.name} of another namespace than ${namespace}`);
    }
    return keyText(keyOf(object));
  }

  #useLists(why: string): void {
    this.#options.withoutWatchList.add(this.#endpoint);
    this.#options.log.info({ why }, 'the server has no watch-list for this resource, listing instead');
  }

  async #recover(error: unknown, tried: Attempt['phase'], signal: AbortSignal): Promise<void> {
    // A stream that began with the initial state has become one of changes.
    const phase = this.#needsList ? tried : 'resume';
    const usedVersion = phase === 'resume' || (this.#version !== '' && !this.#isVersionUnusable);
    const { failures, hasEvents } = this.#health;
    const reaction = reactionTo(error, { phase, usedVersion, failures, hasEvents });
    if (reaction.needsList) this.#needsList = true;
    if (reaction.forgetsVersion === true) this.#isVersionUnusable = true;
    if (reaction.refreshesCredentials === true) this.#options.refreshCredentials();
    // The next attempt lists, so it cannot come to this again: no failure, and nothing to wait for.
    if (reaction.usesLists === true) return this.#useLists(messageOf(error));
    await this.#health.pause({ ...reaction, error }, signal);
  }
}
