import type { Clock } from '../../base/clock.ts';

export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: Date;
}

interface Flight {
  readonly token: Promise<string>;
  readonly controller: AbortController;
  waiting: number;
}

/** A token is not used in the last minute of its life: a request takes time, and clocks differ. */
const MARGIN_MS = 60_000;

/** The bearer token of a client: one request for all who wait, a new one before the old one ends. */
export class TokenSource {
  readonly #clock: Clock;
  readonly #issue: (signal: AbortSignal) => Promise<IssuedToken>;
  #known: { readonly token: string; readonly renewAtMs: number } | undefined;
  #flight: Flight | undefined;

  constructor(clock: Clock, issue: (signal: AbortSignal) => Promise<IssuedToken>) {
    this.#clock = clock;
    this.#issue = issue;
  }

  async current(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (this.#known !== undefined && this.#clock.now().getTime() < this.#known.renewAtMs) return this.#known.token;
    const flight = (this.#flight ??= this.#start());
    flight.waiting++;
    try {
      return await unlessAborted(flight.token, signal);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0) this.#end(flight);
    }
  }

  /** The cloud does not take it any more. */
  forget(token: string): void {
    if (this.#known?.token === token) this.#known = undefined;
  }

  /** Nobody waits for a token any more. */
  close(): void {
    this.#flight?.controller.abort();
  }

  #start(): Flight {
    const controller = new AbortController();
    const token = this.#issue(controller.signal).then((issued) => this.#keep(issued));
    // Whoever waits is told; when nobody does any more, nobody needs to be.
    token.catch(() => undefined);
    return { token, controller, waiting: 0 };
  }

  #keep({ token, expiresAt }: IssuedToken): string {
    const nowMs = this.#clock.now().getTime();
    const lifeMs = expiresAt.getTime() - nowMs;
    // By a clock that is ahead every token is over at once; then the cloud says when it is.
    const renewAtMs = lifeMs <= 0 ? Number.POSITIVE_INFINITY : nowMs + Math.max(lifeMs - MARGIN_MS, lifeMs / 2);
    this.#known = { token, renewAtMs };
    return token;
  }

  #end(flight: Flight): void {
    flight.controller.abort();
    if (this.#flight === flight) this.#flight = undefined;
  }
}

/** The same as the promise, unless the signal aborts first. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: either, resolve, reject } = Promise.withResolvers<T>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  return either;
}
