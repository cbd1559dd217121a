import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import type { Kind, KubeObject } from '../../../src/api/object.ts';
import { fieldAt } from '../../../src/api/unstructured.ts';
import { type Clock, SystemClock } from '../../../src/base/clock.ts';
import type { Cache } from '../../../src/kube/cache/cache.ts';
import { type CacheOptions, createCache } from '../../../src/kube/cache/create-cache.ts';
import { createClient } from '../../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../../src/kube/client/kube-client.ts';
import type { Transport, TransportRequest } from '../../../src/kube/transport/transport.ts';
import type { Json } from '../../../src/object/json.ts';
import { stringifyJson } from '../../../src/object/json-text.ts';
import type { ClientSetup, RuntimeWorld } from '../../support/runtime-world.ts';

export interface CacheRigOptions extends ClientSetup {
  readonly cache?: CacheOptions;
  readonly kind?: Kind<KubeObject, unknown>;
  /** Changes a request before it is sent. */
  readonly change?: (request: TransportRequest) => TransportRequest;
}

/** A cache with sockets of its own that follows one kind, and what its handler was told; stops when disposed. */
export class CacheRig implements AsyncDisposable {
  readonly cache: Cache;
  /** Reads from the cache. */
  readonly client: KubeClient;
  readonly told: string[] = [];
  /** What was asked of the server by streams and lists, without the fixed part of the path. */
  readonly asked: URLSearchParams[];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #connection: AsyncDisposable;

  private constructor(parts: {
    readonly cache: Cache;
    readonly client: KubeClient;
    readonly asked: URLSearchParams[];
    readonly connection: AsyncDisposable;
  }) {
    this.cache = parts.cache;
    this.client = parts.client;
    this.asked = parts.asked;
    this.#connection = parts.connection;
    this.#running = parts.cache.run(this.#stop.signal);
  }

  static async start(world: RuntimeWorld, options: CacheRigOptions = {}): Promise<CacheRig> {
    const { change = (request) => request, cache: settings = {}, clock = world.clock } = options;
    const asked: URLSearchParams[] = [];
    let transport: Transport | undefined;
    const wrap = (inner: Transport): Transport => {
      transport = (request) => {
        const sent = change(request);
        if (request.method === 'GET') asked.push(new URLSearchParams(sent.target.split('?')[1] ?? ''));
        return inner(sent);
      };
      return transport;
    };
    const connection = await world.connect({ ...options, clock, wrap });
    const log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => log };
    const quiet = { verification: { everyMs: 0 }, ...settings };
    const cache = createCache({ live: connection.client.live, clock, log, options: quiet });
    if (transport === undefined) throw new Error('there is no transport');
    const client = createClient({ transport, fieldManager: 'test', clock, log, cache });
    const rig = new CacheRig({ cache, client, asked, connection });
    await rig.follow(options.kind ?? ConfigMap);
    return rig;
  }

  /** Tells of every change as `create a=1`; `+` for the initial list, `?` for a deletion that nobody saw. */
  async follow(kind: Kind<KubeObject, unknown>): Promise<void> {
    const subscription = this.cache.informer(kind).subscribe((event) => {
      const { type, object, isInInitialList, isFinalStateUnknown } = event;
      // Put into each namespace where controllers of a cluster run.
      if (object.metadata.name === 'kube-root-ca.crt') return;
      const value = fieldAt(object, 'data', 'v') ?? fieldAt(object, 'spec', 'size');
      const marks = `${isInInitialList ? '+' : ''}${isFinalStateUnknown ? '?' : ''}`;
      this.told.push(
        `${type} ${object.metadata.name}${value === undefined ? '' : `=${stringifyJson(value as Json).replaceAll('"', '')}`}${marks}`,
      );
    });
    await subscription.synced;
  }

  get health() {
    const [first] = this.cache.health;
    if (first === undefined) throw new Error('nothing is followed');
    return first;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the test is over'));
    await this.#running;
    await this.#connection[Symbol.asyncDispose]();
  }
}

/** A clock on which everything takes a fraction of its time. */
export class FastClock implements Clock {
  readonly #clock = new SystemClock();
  readonly #factor: number;

  constructor(factor: number) {
    this.#factor = factor;
  }

  now(): Date {
    return this.#clock.now();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs() * this.#factor;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms / this.#factor, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    return this.#clock.timer(ms / this.#factor, fire);
  }

  random(): number {
    return this.#clock.random();
  }

  uuid(): string {
    return this.#clock.uuid();
  }
}
