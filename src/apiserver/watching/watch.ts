import type { Resource } from '../registry/resource.ts';
import type { ApiResponse, StreamSink } from '../request.ts';
import { type WatchOptions, watchOptions } from '../rest/list-options.ts';
import { negotiateWatch } from '../rest/present.ts';
import { waitForRevision } from '../rest/revisions.ts';
import { type Selection, selectionOf } from '../rest/selection.ts';
import { keyOf, listPrefix, type Scope } from '../rest/services.ts';
import type { Entry } from '../store/store.ts';
import { Framer } from './frames.ts';
import { SharedFrames } from './shared-frames.ts';
import { Watcher } from './watcher.ts';

const BOOKMARK_PERIOD_MS = 60_000;
const LAST_BOOKMARK_MS = 2000;
const SHORTEST_TIMEOUT_S = 1800;

export interface WatchCounters {
  opened(resource: Resource): void;
  closed(resource: Resource): void;
  sent(resource: Resource, count: number): void;
  terminated(resource: Resource): void;
}

/** Every open watch of the server. */
export class Watches {
  readonly #open = new Map<Watcher, Resource>();
  readonly #frames = new SharedFrames();
  readonly #counters: WatchCounters;

  constructor(counters: WatchCounters) {
    this.#counters = counters;
  }

  get size(): number {
    return this.#open.size;
  }

  get framesEncoded(): number {
    return this.#frames.encoded;
  }

  /** Ends the watches of resources that are no longer served as they were (T13). */
  endObsolete(isServed: (resource: Resource) => boolean): void {
    for (const [watcher, resource] of this.#open) if (!isServed(resource)) watcher.end();
  }

  endAll(): void {
    for (const watcher of this.#open.keys()) watcher.end();
  }

  /** The answer to a watch request: 200 at once, then lines. */
  async answer(scope: Scope): Promise<ApiResponse> {
    const as = negotiateWatch(scope);
    const options = watchOptions(scope);
    const selection = selectionOf(scope);
    const framer = new Framer(scope, as);
    const plan = planOf(options);
    if (plan.isFreshAs > 0) await waitForRevision(scope, plan.isFreshAs);
    return {
      status: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
      body: (sink) => this.#start({ scope, framer, selection, options, plan }, sink),
    };
  }

  #start(run: Run, sink: StreamSink): Disposable {
    const { scope, framer, selection, options, plan } = run;
    const { resource, store, clock, registry } = scope;
    const prefix = watchPrefix(scope, selection);
    const after = plan.isInitial || plan.isFromNow ? store.revision : plan.after;
    const watcher = new Watcher({
      sink,
      framer,
      frames: this.#frames,
      selection,
      clock,
      after,
      history: (revision) => (revision >= store.revision ? [] : store.history(prefix, revision)),
      onTerminated: () => this.#counters.terminated(resource),
      onSent: (count) => this.#counters.sent(resource, count),
    });
    const stack = new DisposableStack();
    stack.use(timersOf(run, watcher));
    this.#open.set(watcher, resource);
    this.#counters.opened(resource);
    stack.defer(() => {
      watcher.stop();
      if (this.#open.delete(watcher)) this.#counters.closed(resource);
    });
    // Taken in the same turn as the state or the history, so that nothing falls between.
    stack.use(store.subscribe(prefix, (event) => watcher.event(event)));
    if (plan.isInitial) {
      const hasMarker = options.allowBookmarks && options.sendInitialEvents === true;
      const state = stateOf(scope, prefix, selection);
      watcher.start(state, hasMarker ? () => framer.bookmark(after, true) : undefined);
    } else {
      watcher.start();
    }
    // The definition may have gone or changed between the request and now, when nobody knew of this watch.
    if (registry.find(resource.group, resource.version, resource.plural) !== resource) watcher.end();
    return stack;
  }
}

/** Ends the watch in time and sends bookmarks (T5, T8). */
function timersOf({ scope, options }: Run, watcher: Watcher): Disposable {
  const { clock, store } = scope;
  const timers = new DisposableStack();
  const seconds = options.timeoutSeconds ?? SHORTEST_TIMEOUT_S * (1 + clock.random());
  const timeoutMs = (seconds > 0 ? seconds : SHORTEST_TIMEOUT_S) * 1000;
  timers.use(clock.timer(timeoutMs, () => watcher.end()));
  if (!options.allowBookmarks) return timers;
  // Every change is handed to the watchers in the turn of its commit, so the revision of the store is a true claim.
  const bookmark = () => watcher.bookmark(store.revision);
  let repeated: Disposable | undefined;
  const repeat = () => {
    repeated = clock.timer(BOOKMARK_PERIOD_MS, () => {
      bookmark();
      repeat();
    });
  };
  repeat();
  timers.defer(() => repeated?.[Symbol.dispose]());
  if (timeoutMs > LAST_BOOKMARK_MS) timers.use(clock.timer(timeoutMs - LAST_BOOKMARK_MS, bookmark));
  return timers;
}

/** Where the objects of a watch are; a watch of one name is asked about nothing else (I6). */
function watchPrefix({ resource, info }: Scope, { name }: Selection): string {
  const isOne = name !== undefined && (info.namespace !== '' || !resource.isNamespaced);
  return isOne ? keyOf(resource, info.namespace, name) : listPrefix(resource, info.namespace);
}

function stateOf({ store }: Scope, prefix: string, selection: Selection): readonly Entry[] {
  const entries = [...store.list(prefix)];
  return selection.isAll ? entries : entries.filter((entry) => selection.matches(entry));
}

interface Plan {
  /** Sends the present state first. */
  readonly isInitial: boolean;
  /** Starts with what comes next. */
  readonly isFromNow: boolean;
  /** Sends every change after this revision. */
  readonly after: number;
  /** The state must be at least this new. */
  readonly isFreshAs: number;
}

interface Run {
  readonly scope: Scope;
  readonly framer: Framer;
  readonly selection: Selection;
  readonly options: WatchOptions;
  readonly plan: Plan;
}

/** Where a watch starts (T2, T9). */
function planOf({ resourceVersion, sendInitialEvents }: WatchOptions): Plan {
  const revision = resourceVersion === '' ? 0 : Number(resourceVersion);
  if (sendInitialEvents === true) return { isInitial: true, isFromNow: false, after: 0, isFreshAs: revision };
  if (revision > 0) return { isInitial: false, isFromNow: false, after: revision, isFreshAs: 0 };
  if (sendInitialEvents === false) return { isInitial: false, isFromNow: true, after: 0, isFreshAs: 0 };
  return { isInitial: true, isFromNow: false, after: 0, isFreshAs: 0 };
}
