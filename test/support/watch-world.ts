import { createEngine } from '../../src/apiserver/engine.ts';
import type { ApiResponse, StreamSink } from '../../src/apiserver/request.ts';
import { Codec, type Converter } from '../../src/apiserver/rest/codec.ts';
import type { Scope, Services } from '../../src/apiserver/rest/services.ts';
import { parseRequestInfo } from '../../src/apiserver/routing/request-info.ts';
import { createMemoryStore } from '../../src/apiserver/store/memory-store.ts';
import type { Store } from '../../src/apiserver/store/store.ts';
import { Warnings } from '../../src/apiserver/warnings.ts';
import { Watches } from '../../src/apiserver/watching/watch.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/object/json.ts';
import { recordedLog } from './store.ts';

/** One line of a watch as the client reads it. */
export interface WatchLine {
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into objects they have made themselves
  readonly object: any;
}

/** A client that reads at once, or not before it is told to. */
export class FakeSink implements StreamSink {
  readonly writes: Uint8Array[] = [];
  isReading = true;
  hasEnded = false;
  isBroken = false;
  queuedBytes = 0;
  #waiting: (() => void)[] = [];

  write(chunk: Uint8Array): void {
    this.writes.push(chunk);
    if (!this.isReading) this.queuedBytes += chunk.length;
  }

  drained(): Promise<void> {
    return this.queuedBytes === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Takes what is there; what is written later waits again, unless the client reads on. */
  take({ andReadsOn = false } = {}): void {
    this.isReading = andReadsOn;
    this.queuedBytes = 0;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  end(): void {
    this.hasEnded = true;
  }

  destroy(): void {
    this.isBroken = true;
    this.take();
  }

  get lines(): readonly WatchLine[] {
    const text = Buffer.concat(this.writes).toString('utf8');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** `ADDED a/x@5`, without what a test does not look at. */
  get told(): readonly string[] {
    return this.lines.map(({ type, object }) => {
      const { namespace, name, resourceVersion } = object.metadata ?? {};
      const of = name === undefined ? '' : ` ${namespace === undefined ? '' : `${namespace}/`}${name}`;
      return type === 'ERROR' ? `ERROR ${object.code}` : `${type}${of}@${resourceVersion}`;
    });
  }
}

export interface OpenWatch extends Disposable {
  readonly sink: FakeSink;
  readonly answer: ApiResponse;
}

export interface WatchRequest {
  readonly query?: string;
  readonly path?: string;
  readonly accept?: string;
  readonly sink?: FakeSink;
}

const CONFIG_MAPS = '/api/v1/namespaces/a/configmaps';

/** The watches of a server with nothing around them: a store, the kinds, and clients that are told when to read. */
export class WatchWorld implements AsyncDisposable {
  readonly clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
  readonly store: Store;
  readonly counted = { open: 0, sent: 0, terminated: 0 };
  readonly watches = new Watches({
    opened: () => void this.counted.open++,
    closed: () => void this.counted.open--,
    sent: (_resource, count) => void (this.counted.sent += count),
    terminated: () => void this.counted.terminated++,
  });
  readonly services: Services;
  readonly #engine;

  constructor(converter?: Converter) {
    const { clock } = this;
    this.store = createMemoryStore({ clock });
    this.#engine = createEngine({ clock, log: recordedLog().log, auth: { mode: 'AlwaysAllow' } }, this.store);
    const { services } = this.#engine;
    this.services =
      converter === undefined ? services : { ...services, codec: new Codec(services.registry, converter) };
  }

  /** Writes a ConfigMap (or what `key` names) as a request would; gives its revision. */
  async put(name: string, more: JsonObject = {}, key = `core/configmaps/${name}`): Promise<number> {
    const full = `/registry/${key}`;
    const { metadata = {}, ...rest } = more;
    const at = name.indexOf('/');
    const own = { name: name.slice(at + 1), ...(at > 0 && { namespace: name.slice(0, at) }) };
    const before = this.store.head(full)?.revision ?? 0;
    const entry = await this.store.put(full, before, (revision) =>
      Buffer.from(
        JSON.stringify({
          metadata: { ...own, ...(metadata as JsonObject), resourceVersion: String(revision) },
          ...rest,
        }),
      ),
    );
    await this.settled();
    return entry.revision;
  }

  async remove(name: string, key = `core/configmaps/${name}`): Promise<number> {
    const full = `/registry/${key}`;
    const last = this.store.head(full);
    const text = Buffer.from(last?.bytes ?? []).toString('utf8');
    const entry = await this.store.remove(full, last?.revision ?? 0, (revision) =>
      Buffer.from(text.replace(/"resourceVersion":"\d+"/, `"resourceVersion":"${revision}"`)),
    );
    await this.settled();
    return entry.revision;
  }

  async watch({ query = '', path = CONFIG_MAPS, accept, sink = new FakeSink() }: WatchRequest = {}) {
    const answer = await this.watches.answer(this.scope(`${path}?watch=1&${query}`, accept));
    if (typeof answer.body !== 'function') throw new Error('a watch streams');
    const running = answer.body(sink);
    await this.settled();
    return { sink, answer, [Symbol.dispose]: () => running[Symbol.dispose]() } satisfies OpenWatch;
  }

  scope(target: string, accept?: string): Scope {
    const { pathname, searchParams: query } = new URL(target, 'http://localhost');
    const info = parseRequestInfo('GET', pathname, query);
    const resource = this.services.registry.find(info.group, info.version, info.resource);
    if (resource === undefined) throw new Error(`nothing is served at ${target}`);
    const request = {
      method: 'GET',
      path: pathname,
      query,
      headers: { ...(accept !== undefined && { accept }) },
      credentials: {},
      isInProcess: true,
      signal: new AbortController().signal,
      body: () => Promise.resolve(new Uint8Array()),
    };
    const user = { name: 'test', groups: [] };
    return { ...this.services, request, info, user, resource, warnings: new Warnings() };
  }

  /** All that follows from what happened has happened. */
  settled(): Promise<void> {
    return this.clock.advance(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watches.endAll();
    await this.store[Symbol.asyncDispose]();
    this.#engine[Symbol.dispose]();
  }
}
