import type { ApiResponse, Handle, StreamSink, UserInfo } from '../request.ts';

export interface InProcessRequest {
  readonly method: string;
  /** Path with query. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
}

export interface InProcessResponse {
  readonly status: number;
  readonly headers: ApiResponse['headers'];
  /** Chunks of a watch as they come; of any other answer one after the other. Leaving the loop ends the request. */
  stream(): AsyncIterable<Uint8Array>;
  /** The whole body; of a watch, when it has ended. */
  bytes(): Promise<Uint8Array>;
}

/** Requests without sockets, with the semantics of HTTP (H12). */
export type Transport = (request: InProcessRequest) => Promise<InProcessResponse>;

/** A transport on which every request is made by one user. */
export function inProcessTransport(handle: Handle, user: UserInfo): Transport {
  return async ({ method, target, headers = {}, body = '', signal = new AbortController().signal }) => {
    const at = target.indexOf('?');
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const response = await handle({
      method,
      path: at < 0 ? target : target.slice(0, at),
      query: new URLSearchParams(at < 0 ? '' : target.slice(at + 1)),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      credentials: { user },
      isInProcess: true,
      signal,
      body: () => Promise.resolve(bytes),
    });
    return {
      status: response.status,
      headers: response.headers,
      stream: () => streamOf(response, signal),
      bytes: () => collected(streamOf(response, signal)),
    };
  };
}

async function collected(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* streamOf({ body }: ApiResponse, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (typeof body !== 'function') {
    yield* body;
    return;
  }
  const sink = new QueueSink();
  signal.addEventListener('abort', sink.end, { once: true });
  if (signal.aborted) sink.end();
  using _running = body(sink);
  try {
    yield* sink.chunks();
  } finally {
    signal.removeEventListener('abort', sink.end);
  }
}

/** Chunks wait here until the reader takes them; a watch gives up by itself when too much waits. */
class QueueSink implements StreamSink {
  #chunks: Uint8Array[] = [];
  #queuedBytes = 0;
  #isEnded = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;
  #onDrained: (() => void)[] = [];

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  write(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#wake?.();
  }

  drained(): Promise<void> {
    if (this.#queuedBytes === 0 || this.#isEnded) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  readonly end = (): void => {
    this.#isEnded = true;
    this.#wake?.();
    this.#releaseDrained();
  };

  destroy(): void {
    this.#error = new Error('the server ended the stream because the reader was too slow');
    this.end();
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const taken = this.#chunks;
      this.#chunks = [];
      this.#queuedBytes = 0;
      this.#releaseDrained();
      yield* taken;
      if (this.#chunks.length > 0) continue;
      if (this.#error !== undefined) throw this.#error;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  #releaseDrained(): void {
    for (const release of this.#onDrained.splice(0)) release();
  }
}
