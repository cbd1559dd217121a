import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { finished, pipeline } from 'node:stream/promises';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { CloudAnswer } from './cloud-answer.ts';
import type { Reply } from './cloud-api.ts';
import { SLOW_CLIENT_MS } from './incoming-body.ts';

export interface CloudServerOptions {
  /** Never rejects. */
  readonly serve: (message: IncomingMessage, signal: AbortSignal) => Promise<Reply>;
  /** What connections cost is paid in real time. */
  readonly real: Clock;
  readonly log: Log;
}

/** The same limits as other servers of the project. */
const LIMITS = { connections: 1000, keepAliveMs: 120_000, checkMs: 5000, headerBytes: 16 * 1024 };
/** A client that was answered before it sent everything gets this long to notice. */
const LINGER_MS = 2000;

/** The HTTP side of the cloud: connections, and answers as bytes. Clients that are too slow are cut (C12). */
export class CloudServer implements AsyncDisposable {
  readonly server: Server;
  readonly #options: CloudServerOptions;
  /** Bounded by the limit of connections. */
  readonly #sockets = new Set<Socket>();
  /** Sockets without a request so far; each goes with its socket. */
  readonly #silences = new WeakMap<Socket, Disposable>();
  /** Requests being served; bounded alike. */
  readonly #serving = new Set<Promise<void>>();

  constructor(options: CloudServerOptions) {
    this.#options = options;
    this.server = createServer({
      // Only what is between two requests of a connection; the rest is measured here, where time can be tested.
      headersTimeout: SLOW_CLIENT_MS,
      requestTimeout: 0,
      connectionsCheckingInterval: LIMITS.checkMs,
      keepAliveTimeout: LIMITS.keepAliveMs,
      maxHeaderSize: LIMITS.headerBytes,
    });
    this.server.maxConnections = LIMITS.connections;
    this.server.on('connection', (socket: Socket) => this.#connected(socket));
    // What goes wrong before that is the business of whoever makes it listen.
    this.server.once('listening', () => {
      this.server.on('error', (err) => options.log.warn({ err }, 'Cloud failed to accept a connection'));
    });
    this.server.on('request', (message, response) => {
      const serving = this.#answer(message, response).finally(() => this.#serving.delete(serving));
      this.#serving.add(serving);
    });
  }

  /** Cuts all connections; resolves when nothing is being served any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    await Promise.all(this.#serving);
  }

  #connected(socket: Socket): void {
    const silence = this.#options.real.timer(SLOW_CLIENT_MS, () => socket.destroy());
    this.#silences.set(socket, silence);
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      silence[Symbol.dispose]();
      this.#sockets.delete(socket);
    });
  }

  /** Never rejects. */
  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#silences.get(message.socket)?.[Symbol.dispose]();
    const gone = new AbortController();
    response.on('close', () => gone.abort(new Error('the client has gone')));
    message.on('error', () => undefined);
    const { requestId, answer, isTruncated } = await this.#options.serve(message, gone.signal);
    if (answer === undefined || response.closed) return void message.socket.destroy();
    const isUnread = !message.complete;
    const text = answer.body === undefined ? '' : JSON.stringify(answer.body);
    response.writeHead(answer.status, {
      'lab-request-id': requestId,
      ...(isUnread && { connection: 'close' }),
      ...(answer.body !== undefined && { 'content-type': 'application/json' }),
      ...(answer.stream === undefined && { 'content-length': String(Buffer.byteLength(text)) }),
      ...answer.headers,
    });
    using _watch = this.#cutWhenStuck(response);
    // The client has gone, or what it asked for: half an answer must not look like a whole one.
    await send({ message, response, answer, text, isTruncated }).catch(() => message.socket.destroy());
    if (isTruncated) message.socket.destroy();
    else if (isUnread) this.#linger(message);
  }

  /** A client that takes nothing of its answer for too long. */
  #cutWhenStuck(response: ServerResponse): Disposable {
    const { socket } = response;
    let sentBytes = -1;
    let timer: Disposable;
    const look = () => {
      if (socket === null || socket.bytesWritten === sentBytes) return void socket?.destroy();
      sentBytes = socket.bytesWritten;
      timer = this.#options.real.timer(SLOW_CLIENT_MS, look);
    };
    look();
    return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
  }

  /** An end at once would destroy the answer on its way, while the client still sends. */
  #linger(message: IncomingMessage): void {
    const { socket } = message;
    message.resume();
    const end = this.#options.real.timer(LINGER_MS, () => socket.destroy());
    socket.once('close', () => end[Symbol.dispose]());
  }
}

interface Sending {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: CloudAnswer;
  readonly text: string;
  readonly isTruncated: boolean;
}

/** Resolves when everything is on its way, or nobody takes it any more. */
async function send({ message, response, answer, text, isTruncated }: Sending): Promise<void> {
  if (message.method === 'HEAD') return void response.end();
  if (isTruncated) return await sendHalf(response, answer, text);
  if (answer.stream !== undefined) return await pipeline(answer.stream(), response);
  response.end(text);
  return await finished(response);
}

/** The first half, without an end. */
async function sendHalf(
  response: ServerResponse,
  { stream, headers = {} }: CloudAnswer,
  text: string,
): Promise<void> {
  const chunks: AsyncIterable<Buffer> | readonly Buffer[] = stream?.() ?? [Buffer.from(text)];
  let left = Math.floor(Number(headers['content-length'] ?? Buffer.byteLength(text)) / 2);
  for await (const chunk of chunks) {
    const part = chunk.subarray(0, left);
    left -= part.length;
    const { promise, resolve } = Promise.withResolvers<void>();
    response.once('close', resolve);
    response.write(part, () => resolve());
    await promise;
    response.off('close', resolve);
    if (left === 0 || response.closed) return;
  }
}
