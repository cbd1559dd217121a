import { NetworkError } from '../../../kube/client/api-error.ts';
import type { LiveReader } from '../../../kube/client/kube-client.ts';

/** Between the node and the API server; closed, nothing passes (N6). */
export class ApiGate {
  #closing = new AbortController();
  #opening: PromiseWithResolvers<void> | undefined;

  get isClosed(): boolean {
    return this.#opening !== undefined;
  }

  /** What is under way is cut off. */
  close(): void {
    if (this.isClosed) return;
    this.#opening = Promise.withResolvers();
    this.#closing.abort(partitioned());
  }

  open(): void {
    if (this.#opening === undefined) return;
    const { resolve } = this.#opening;
    this.#opening = undefined;
    this.#closing = new AbortController();
    resolve();
  }

  /** Resolves when something may pass. */
  async opened(): Promise<void> {
    await this.#opening?.promise;
  }

  /** Aborts when the gate closes. Throws when it is closed. */
  signal(other?: AbortSignal): AbortSignal {
    if (this.isClosed) throw partitioned();
    return other === undefined ? this.#closing.signal : AbortSignal.any([other, this.#closing.signal]);
  }

  /** The same reader, behind the gate. */
  around(live: LiveReader): LiveReader {
    const passed = <O extends { readonly signal?: AbortSignal }>(options: O | undefined) => ({
      ...options,
      signal: this.signal(options?.signal),
    });
    return {
      get: async (kind, key, options) => await live.get(kind, key, passed(options)),
      find: async (kind, key, options) => await live.find(kind, key, passed(options)),
      list: async (kind, options) => await live.list(kind, passed(options)),
      listAll: (kind, options) => live.listAll(kind, passed(options)),
      watch: (kind, options) => live.watch(kind, passed(options)),
      watchBatches: (kind, options) => live.watchBatches(kind, passed(options)),
    };
  }
}

const partitioned = (): NetworkError =>
  new NetworkError('the node is cut off from the API server', { mayHaveHappened: false });
