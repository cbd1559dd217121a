import { Agent, type ClientRequest, type IncomingMessage, request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { SocketAnswer } from './answer.ts';
import type { Dialer } from './dialer.ts';
import type { Exchange } from './exchange.ts';
import type { HeaderList } from './request-head.ts';

/** N1: sockets for short requests over HTTP/1.1; more requests wait for a free one. */
const MAX_SOCKETS = 32;
/** Shorter than the 90 s after which kube-apiserver closes: who closes first is not surprised by a reset. */
const IDLE_SOCKET_MS = 60_000;
const PROTOCOLS = ['http/1.1'];

interface Head {
  readonly path: string;
  readonly headers: HeaderList;
}

/** Keep-alive sockets that the dialer opens. Idle ones do not keep the process alive. */
export class SocketPool extends Agent {
  readonly #dialer: Dialer;
  /** A socket that was opened to find out which protocol is spoken. */
  #spare: Socket | undefined;
  #isDestroyed = false;
  /** Node counts sockets only when they are open, so that a burst would open any number. */
  #free = MAX_SOCKETS;
  /** As many as callers send at a time. */
  readonly #waiting: (() => void)[] = [];

  constructor(dialer: Dialer) {
    super({ keepAlive: true, maxFreeSockets: MAX_SOCKETS, timeout: IDLE_SOCKET_MS });
    this.#dialer = dialer;
  }

  /** A request is on its way. */
  get isBusy(): boolean {
    return this.#free < MAX_SOCKETS;
  }

  /** Resolves when one more request may be on its way; first come, first served. */
  enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  readonly leave = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  };

  /** The next request takes this socket instead of opening one. */
  adopt(socket: Socket): void {
    if (this.#isDestroyed) return void socket.destroy();
    this.#spare?.destroy();
    this.#spare = socket.unref();
  }

  override createConnection(_options: object, created?: (error: Error | null, socket: Duplex) => void): undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    const opening = spare === undefined || spare.destroyed ? this.#dialer.dial(PROTOCOLS) : Promise.resolve(spare);
    opening.then(
      (socket) => {
        if (this.#isDestroyed) socket.destroy();
        created?.(null, socket.ref());
      },
      // Without an error in its hands Node wants a socket; with one it never looks at it.
      (error: Error) => created?.(error, undefined as never),
    );
  }

  /** For requests already given to it only: idle sockets end now, the others with what they carry, at most so late. */
  drain(clock: Clock, withinMs: number): void {
    this.maxFreeSockets = 0;
    this.#spare?.destroy();
    for (const socket of Object.values(this.freeSockets).flatMap((sockets = []) => sockets)) socket.destroy();
    const busy = Object.values(this.sockets).flatMap((sockets = []) => sockets);
    for (const socket of busy) {
      const timer = clock.timer(withinMs, () => void socket.destroy());
      socket.once('close', () => timer[Symbol.dispose]());
    }
  }

  override destroy(): void {
    this.#isDestroyed = true;
    this.#spare?.destroy();
    super.destroy();
  }
}

/** One request over the pool. */
export async function sendPooled(pool: SocketPool, head: Head, exchange: Exchange): Promise<SocketAnswer> {
  await exchange.until(pool.enter(), pool.leave);
  try {
    const sent = startRequest({ method: exchange.request.method, ...head, agent: pool });
    sent.once('close', pool.leave);
    return answered(sent, exchange);
  } catch (thrown) {
    // Node refused the head itself, such as a line break in a value.
    pool.leave();
    throw thrown;
  }
}

/** One request on a socket of its own, which ends with it. `opened` hears about the socket. */
export async function sendAlone(
  dialer: Dialer,
  head: Head,
  exchange: Exchange,
  opened: (socket: Socket) => void,
): Promise<SocketAnswer> {
  const socket = await exchange.until(dialer.dial(PROTOCOLS), (late) => void late.destroy());
  opened(socket);
  const { method } = exchange.request;
  return answered(startRequest({ method, ...head, createConnection: () => socket }), exchange);
}

function answered(sent: ClientRequest, exchange: Exchange): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const failed = (thrown: unknown): void => {
      exchange.end();
      sent.destroy();
      reject(exchange.translated(thrown));
    };
    exchange.carriedBy(failed);
    sent.on('error', failed);
    sent.on('socket', () => {
      try {
        exchange.sending();
        sent.end(exchange.request.body);
      } catch (thrown) {
        failed(thrown);
      }
    });
    sent.on('response', (message) => {
      // From here on the body tells what happens to the socket.
      sent.off('error', failed);
      sent.on('error', () => {});
      resolve(answerOf(sent, message, exchange));
    });
  });
}

function answerOf(sent: ClientRequest, message: IncomingMessage, exchange: Exchange): SocketAnswer {
  // Nobody may be reading when the socket breaks; who reads later sees that the body is destroyed.
  message.on('error', () => {});
  // Node does not close a body that is complete and unread together with its socket.
  sent.once('close', () => exchange.end());
  exchange.carriedBy((error) => void message.destroy(error));
  return new SocketAnswer(
    {
      status: message.statusCode ?? 0,
      headers: message.headers,
      body: message,
      isComplete: () => message.complete,
      cancel: () => void sent.destroy(),
    },
    exchange,
  );
}
