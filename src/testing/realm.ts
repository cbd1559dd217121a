import { type Clock, sleepOn } from '../base/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../kube/transport/transport.ts';

/**
 * One life of a program: its way to the world and its clock. A kill takes both away at once, as SIGKILL does: what waits
 * for an answer or for time waits for ever, so that no `finally`, no retry and no hand-over of the dead reaches the
 * world (reliability T1.4). A freeze stops it as SIGSTOP does: nothing goes out and nothing comes in until it is thawed,
 * while the time of the world goes on.
 */
export class Realm {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly #timers = new Set<Disposable>();
  /** Ends the streams of the dead, as the kernel closes their sockets. */
  readonly #sockets = new AbortController();
  #isDead = false;
  #isBuried = false;
  #isFrozen = false;
  #thawed: Promise<void> = Promise.resolve();
  #thaw: () => void = () => {};
  #callsAfterDeath = 0;

  constructor(transport: Transport, clock: Clock) {
    this.transport = (request) => this.outside(() => this.#send(transport, request), request.beforeSend);
    this.clock = this.#mortal(clock);
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /**
   * Calls that the dead still tried to make later than the turn of the event loop after their death; none of them reached
   * the world. More than none: something in this life runs on a clock or a way of its own.
   */
  get callsAfterDeath(): number {
    return this.#callsAfterDeath;
  }

  /** For good; a second kill changes nothing. */
  kill(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#timers.clear();
    this.#sockets.abort();
    // What was gathered before its death for the next turn comes after the first of them.
    setImmediate(() =>
      setImmediate(() => {
        this.#isBuried = true;
      }),
    );
  }

  freeze(): void {
    if (this.#isFrozen) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#isFrozen = true;
    this.#thawed = promise;
    this.#thaw = resolve;
  }

  thaw(): void {
    this.#isFrozen = false;
    this.#thaw();
  }

  /**
   * A call that leaves this life, whatever it goes to. Not made by the dead; made by the frozen when they are thawed,
   * after `beforeSend` had its say; its outcome reaches only the living.
   */
  async outside<T>(act: () => Promise<T>, beforeSend?: () => void): Promise<T> {
    if (this.#isBuried) this.#callsAfterDeath++;
    if (this.#isFrozen) {
      await this.#thawed;
      beforeSend?.();
    }
    if (this.#isDead) return forEver();
    return this.#delivered(act());
  }

  async #send(transport: Transport, request: TransportRequest): Promise<TransportResponse> {
    const response = await transport(request.isStream === true ? this.#cutAtDeath(request) : request);
    return {
      status: response.status,
      headers: response.headers,
      stream: () => this.#living(response.stream()),
      bytes: () => this.#delivered(response.bytes()),
    };
  }

  #cutAtDeath(request: TransportRequest): TransportRequest {
    const { signal } = this.#sockets;
    return {
      ...request,
      signal: request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]),
    };
  }

  /** The outcome, when it is thawed, unless this life ends first. */
  async #delivered<T>(outcome: Promise<T>): Promise<T> {
    try {
      return await outcome;
    } finally {
      await this.#thawed;
      if (this.#isDead) await forEver();
    }
  }

  async *#living(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = chunks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#delivered(reader.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await reader.return?.();
    }
  }

  #mortal(clock: Clock): Clock {
    const timer = (ms: number, fire: () => void): Disposable => this.#timer(clock, ms, fire);
    return {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      random: () => clock.random(),
      uuid: () => clock.uuid(),
      timer,
      sleep: (ms, signal) => sleepOn({ timer }, ms, signal),
    };
  }

  #timer(clock: Clock, ms: number, fire: () => void): Disposable {
    if (this.#isDead) return { [Symbol.dispose]: () => {} };
    let isCancelled = false;
    const fireIfAlive = (): void => {
      if (!this.#isDead && !isCancelled) fire();
    };
    const pending = clock.timer(ms, () => {
      this.#timers.delete(pending);
      // What came in meanwhile is read first, as an event loop does that stood still while it waited.
      if (this.#isFrozen) void this.#thawed.then(() => setImmediate(fireIfAlive));
      else fireIfAlive();
    });
    this.#timers.add(pending);
    return {
      [Symbol.dispose]: () => {
        isCancelled = true;
        this.#timers.delete(pending);
        pending[Symbol.dispose]();
      },
    };
  }
}

const forEver = (): Promise<never> => new Promise(() => {});
