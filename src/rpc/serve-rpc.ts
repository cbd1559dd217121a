import { stat } from 'node:fs/promises';
import { createServer, type Server as Listener, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import type { Clock } from '../base/clock.ts';
import { messageOf, userError } from '../base/errors.ts';
import { removeAbandonedSocket } from './abandoned-socket.ts';
import { grpc } from './libraries.ts';
import { addressText, type RpcAddress, targetOf } from './rpc-address.ts';
import { RpcError } from './rpc-error.ts';
import type { Handlers, ServiceType } from './rpc-service.ts';
import { addService, type ServedService } from './served-calls.ts';

const MOST_RECEIVED_BYTES = 4 * 1024 * 1024;
const MOST_SENT_BYTES = 64 * 1024 * 1024;
/** Calls of one connection at the same time. */
const MOST_CALLS = 256;
const GRACE_MS = 1000;

export const served = <S extends ServiceType>(service: S, handlers: NoInfer<Handlers<S>>): ServedService => ({
  service,
  handlers: { ...handlers },
});

export interface ServeOptions {
  readonly address: RpcAddress;
  readonly services: readonly ServedService[];
  /** Real time. */
  readonly clock: Pick<Clock, 'timer'>;
  /** How long calls may go on when the server stops; 1 s unless told otherwise. */
  readonly graceMs?: number;
}

/** A server that answers. Disposing it ends all calls and connections and removes its socket; it is idempotent. */
export interface RpcServer extends AsyncDisposable {
  /** Of a server that was told port 0. */
  readonly port: number;
}

/**
 * Serves over a Unix socket or a loopback port, without TLS. A socket that a dead program left is replaced. Rejects with
 * a user error when the place cannot be had; then nothing is left open. Whatever a handler throws becomes a status. What
 * answers is made when the first connection comes, which few servers of a lab ever see.
 */
export async function serveRpc(options: ServeOptions): Promise<RpcServer> {
  const { address } = options;
  // Throws for a path that cannot be.
  targetOf(address);
  if ('socket' in address) await prepare(address.socket);
  const answering = new Answering(options);
  const listener = createServer((socket) => answering.take(socket));
  const port = await listen(listener, address);
  let ended: Promise<void> | undefined;
  const end = async () => {
    const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
    await answering[Symbol.asyncDispose]();
    await closed;
  };
  return { port, [Symbol.asyncDispose]: () => (ended ??= end()) };
}

async function prepare(socket: string): Promise<void> {
  const directory = dirname(socket);
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory() !== true) {
    throw userError(
      'NoSocketDirectory',
      `${directory} is no directory; make it before a server listens at ${socket}`,
    );
  }
  await removeAbandonedSocket(socket);
}

async function listen(listener: Listener, address: RpcAddress): Promise<number> {
  try {
    return await listening(listener, address);
  } catch (cause) {
    throw userError('CannotListen', `cannot listen at ${addressText(address)}: ${messageOf(cause)}`, { cause });
  }
}

function listening(listener: Listener, address: RpcAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen('socket' in address ? { path: address.socket } : address, () => {
      const place = listener.address();
      resolve(typeof place === 'object' && place !== null ? place.port : 0);
    });
  });
}

/** Answers on connections that somebody else accepted. */
class Answering implements AsyncDisposable {
  readonly #options: ServeOptions;
  readonly #stop = new AbortController();
  /** Those that are open. */
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #inject: ((socket: Socket) => void) | undefined;

  constructor(options: ServeOptions) {
    this.#options = options;
  }

  take(socket: Socket): void {
    if (this.#stop.signal.aborted) return void socket.destroy();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // A caller who goes away is no news.
    socket.on('error', () => {});
    this.#inject ??= this.#made();
    this.#inject(socket);
  }

  /** Those who stream do so until they are told to end. Nobody can be connected any more: the listener is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { clock, graceMs = GRACE_MS } = this.#options;
    // Each connection ends with its last call.
    this.#server?.tryShutdown(() => {});
    this.#stop.abort(new RpcError('UNAVAILABLE', 'the server is stopping'));
    using _timer = clock.timer(graceMs, () => {
      this.#server?.forceShutdown();
      for (const socket of this.#sockets) socket.destroy();
    });
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  }

  #made(): (socket: Socket) => void {
    const { Server: LibraryServer, ServerCredentials } = grpc();
    const server = new LibraryServer({
      'grpc.max_receive_message_length': MOST_RECEIVED_BYTES,
      'grpc.max_send_message_length': MOST_SENT_BYTES,
      'grpc.max_concurrent_streams': MOST_CALLS,
    });
    this.#server = server;
    for (const one of this.#options.services) addService(server, one, this.#stop.signal);
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    return (socket) => injector.injectConnection(socket);
  }
}
