import { NetworkError } from '../kube/client/api-error.ts';
import type { TransportRequest } from '../kube/transport/transport.ts';

/** Requests that are under way, and streams that are read: what breaks when a server goes away. */
export class OpenRequests {
  /** Bounded by what is under way. */
  readonly #open = new Set<Opened>();
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#open.size;
  }

  open(request: TransportRequest): Opened {
    const opened = new Opened(request, (ended) => {
      this.#open.delete(ended);
      for (const tell of this.#waiting) tell();
      this.#waiting.clear();
    });
    this.#open.add(opened);
    return opened;
  }

  /** Everything fails at once, as after a GOAWAY that nobody waits for. */
  breakAll(): void {
    const reason = new NetworkError('the server went away (injected)', { mayHaveHappened: true });
    for (const opened of this.#open) opened.abort(reason);
  }

  /** Calls `tell` once, when the next of them has ended. */
  onNextEnd(tell: () => void): Disposable {
    this.#waiting.add(tell);
    return { [Symbol.dispose]: () => void this.#waiting.delete(tell) };
  }
}

/** One of them: its request with a signal that also aborts when everything breaks. */
class Opened implements Disposable {
  readonly request: TransportRequest;
  readonly #outer: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #onEnd: (ended: Opened) => void;

  constructor(request: TransportRequest, onEnd: (ended: Opened) => void) {
    this.request = { ...request, signal: this.#controller.signal };
    this.#outer = request.signal;
    this.#onEnd = onEnd;
    this.#outer?.addEventListener('abort', this.#onAbort, { once: true });
    if (this.#outer?.aborted === true) this.#onAbort();
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    this.#outer?.removeEventListener('abort', this.#onAbort);
    this.#onEnd(this);
  }

  readonly #onAbort = (): void => this.abort(this.#outer?.reason);
}
