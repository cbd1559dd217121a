import { requestAttributes } from '../kube/rbac/request-attributes.ts';
import { withStream } from '../kube/transport/changed-stream.ts';
import type { Transport } from '../kube/transport/transport.ts';

/** Holds the events of one resource back, as a slow watch does: the cache grows stale while everything else goes on. */
export class HeldStreams {
  readonly #held = new Map<string, { readonly released: Promise<void>; release(): void }>();

  /** `widgets.example.com`, as `resourceOf` says it. */
  hold(resource: string): void {
    if (this.#held.has(resource)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held.set(resource, { released: promise, release: resolve });
  }

  releaseAll(): void {
    for (const held of this.#held.values()) held.release();
    this.#held.clear();
  }

  around(transport: Transport): Transport {
    return async (request) => {
      const response = await transport(request);
      if (request.isStream !== true) return response;
      const { group, resource } = requestAttributes(request.method, request.target);
      const name = group === '' ? resource : `${resource}.${group}`;
      return withStream(response, (chunks) => this.#late(chunks, name));
    };
  }

  async *#late(chunks: AsyncIterable<Uint8Array>, resource: string): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      await this.#held.get(resource)?.released;
      yield chunk;
    }
  }
}
