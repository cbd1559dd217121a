import type { Kind, KubeObject, ObjectList } from '../../src/api/object.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import type { Log, LogFields } from '../../src/base/log.ts';
import type { Cache, ObjectEvent } from '../../src/kube/cache/cache.ts';
import { type CacheOptions, createCache } from '../../src/kube/cache/create-cache.ts';
import { ApiError, isNotFound } from '../../src/kube/client/api-error.ts';
import type {
  GetOptions,
  ListOptions,
  LiveReader,
  WatchEvent,
  WatchOptions,
} from '../../src/kube/client/kube-client.ts';
import { PrometheusMetrics } from '../../src/kube/metrics/metrics.ts';

export const BOAT: Kind = {
  group: 'example.com',
  version: 'v1',
  kind: 'Boat',
  plural: 'boats',
  scope: 'Namespaced',
};

export interface BoatText {
  readonly version: number | string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Record<string, string>;
  readonly more?: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
}

/** A new object of kind Boat, as it would come from the wire. */
export const boat = (name: string, text: BoatText): KubeObject => {
  const { version, namespace = 'sea', uid = `uid-${name}`, labels, more, meta } = text;
  const metadata = { name, namespace, uid, resourceVersion: String(version), ...(labels && { labels }), ...meta };
  return { apiVersion: 'example.com/v1', kind: 'Boat', metadata, ...more };
};

export const added = (object: KubeObject): WatchEvent => ({ type: 'ADDED', object });
export const modified = (object: KubeObject): WatchEvent => ({ type: 'MODIFIED', object });
export const removed = (object: KubeObject): WatchEvent => ({ type: 'DELETED', object });

export const bookmark = (version: number | string, isEnd = false): WatchEvent => ({
  type: 'BOOKMARK',
  object: {
    apiVersion: 'example.com/v1',
    kind: 'Boat',
    metadata: {
      name: '',
      resourceVersion: String(version),
      ...(isEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    },
  },
});

export const initialEnd = (version: number | string): WatchEvent => bookmark(version, true);

export const listOf = (version: number | string, items: readonly KubeObject[], token?: string): ObjectList => ({
  apiVersion: 'example.com/v1',
  kind: 'BoatList',
  metadata: { resourceVersion: String(version), ...(token !== undefined && { continue: token }) },
  items,
});

export const failure = (code: number, reason: string, more: { message?: string; retryAfterMs?: number } = {}) =>
  new ApiError({ code, reason, message: more.message ?? `${code} ${reason}`, ...more });

/** One watch that the cache has opened. */
export class FakeStream {
  readonly options: WatchOptions;
  readonly #waiting: (readonly WatchEvent[] | Error | undefined)[] = [];
  #wake: (() => void) | undefined;
  isClosed = false;

  constructor(options: WatchOptions) {
    this.options = options;
  }

  send(...events: readonly WatchEvent[]): void {
    this.#push(events);
  }

  fail(error: Error): void {
    this.#push(error);
  }

  end(): void {
    this.#push(undefined);
  }

  async *batches(): AsyncGenerator<readonly WatchEvent[]> {
    const { signal } = this.options;
    const onAbort = () => this.#push(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      for (let next = await this.#next(); next !== undefined; next = await this.#next()) {
        if (next instanceof Error) throw next;
        yield next;
      }
    } finally {
      this.isClosed = true;
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #next(): Promise<readonly WatchEvent[] | Error | undefined> {
    if (this.#waiting.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#waiting.shift();
  }

  #push(item: readonly WatchEvent[] | Error | undefined): void {
    this.#waiting.push(item);
    this.#wake?.();
  }
}

/** A server that answers what the test says, always on a later tick. */
export class FakeServer {
  readonly streams: FakeStream[] = [];
  readonly lists: ListOptions[] = [];
  readonly gets: string[] = [];
  /** May throw instead of opening a stream. */
  onWatch: (options: WatchOptions, count: number) => void = () => {};
  onList: (options: ListOptions) => ObjectList = () => listOf(1, []);
  onGet: (name: string) => KubeObject = () => {
    throw failure(404, 'NotFound');
  };
  watches = 0;

  get stream(): FakeStream {
    const last = this.streams.at(-1);
    if (last === undefined) throw new Error('no watch was opened');
    return last;
  }

  get live(): LiveReader {
    const get = async (_kind: Kind, key: { name: string }, _options?: GetOptions) => {
      await Promise.resolve();
      this.gets.push(key.name);
      return this.onGet(key.name);
    };
    const live = {
      get,
      find: async (kind: Kind, key: { name: string }) => {
        try {
          return await get(kind, key);
        } catch (error) {
          if (isNotFound(error)) return undefined;
          throw error;
        }
      },
      list: async (_kind: Kind, options: ListOptions = {}) => {
        await Promise.resolve();
        options.signal?.throwIfAborted();
        this.lists.push(options);
        return this.onList(options);
      },
      watchBatches: (_kind: Kind, options: WatchOptions = {}) => this.#watch(options),
    };
    // Only what the cache uses, and without the types of kinds.
    return live as unknown as LiveReader;
  }

  async *#watch(options: WatchOptions): AsyncGenerator<readonly WatchEvent[]> {
    await Promise.resolve();
    options.signal?.throwIfAborted();
    this.watches++;
    this.onWatch(options, this.watches);
    const stream = new FakeStream(options);
    this.streams.push(stream);
    yield* stream.batches();
  }
}

export interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

export function recordedLog(entries: LogEntry[]): Log {
  const at = (level: string) => (fields: LogFields, message: string) =>
    void entries.push({ level, message, fields });
  const log: Log = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => log,
  };
  return log;
}

/** Lets everything that is ready run. */
export async function settle(turns = 6): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** `create a@1`, `update a@1>a@2`, `delete a@3?` (? = final state unknown), with + for the initial list. */
export function eventText({ type, old, object, isInInitialList, isFinalStateUnknown }: ObjectEvent): string {
  const state = ({ metadata }: KubeObject) => `${metadata.name}@${metadata.resourceVersion}`;
  const from = type === 'update' && old !== undefined ? `${state(old)}>` : '';
  return `${type} ${from}${state(object)}${isInInitialList ? '+' : ''}${isFinalStateUnknown ? '?' : ''}`;
}

/** A cache that runs against a fake server in virtual time, with one handler on boats; stops when disposed. */
export class CacheWorld implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly server = new FakeServer();
  readonly logs: LogEntry[] = [];
  readonly metrics = new PrometheusMetrics();
  readonly told: string[] = [];
  readonly cache: Cache;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: CacheOptions = {}) {
    const { clock, metrics } = this;
    const log = recordedLog(this.logs);
    const quiet = { verification: { everyMs: 0 }, ...options };
    this.cache = createCache({ live: this.server.live, clock, log, metrics, options: quiet });
    this.#running = this.cache.run(this.#stop.signal);
  }

  get boats() {
    return this.cache.informer(BOAT);
  }

  get names(): string[] {
    return this.boats.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
  }

  /** Warnings and errors. */
  get complaints(): LogEntry[] {
    return this.logs.filter(({ level }) => level === 'warn' || level === 'error');
  }

  subscribe() {
    return this.boats.subscribe((event) => void this.told.push(eventText(event)));
  }

  /** What was told since the last call. */
  taken(): string[] {
    return this.told.splice(0);
  }

  /** Subscribes, and has the server send these objects and the end of the initial state. */
  async synced(version: number, ...objects: readonly KubeObject[]) {
    const subscription = this.subscribe();
    await settle();
    this.server.stream.send(...objects.map(added), initialEnd(version));
    await settle();
    this.taken();
    return subscription;
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test is over'));
    await this.#running;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
