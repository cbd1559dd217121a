import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ApiRequest, Credentials, Handle } from '../request.ts';
import { readBody } from './body.ts';
import { respond } from './respond.ts';

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificatePem: string;
  readonly keyPem: string;
  /** Client certificates of this authority are believed. */
  readonly authorityPem: string;
  readonly handle: Handle;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: ListenerLimits;
}

type Message = IncomingMessage | Http2ServerRequest;
type Answer = ServerResponse | Http2ServerResponse;

export interface ListenerLimits {
  readonly connections: number;
  /** How long a client may take for its headers, and for a whole request. */
  readonly headersMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** How often slow clients are looked for. */
  readonly checkMs: number;
}

/** Limits of T6.3: Node's own are far too generous for a server that must not be starved. */
export const LISTENER_LIMITS: ListenerLimits = {
  connections: 2000,
  headersMs: 10_000,
  requestMs: 30_000,
  // Go clients keep idle connections for 90 s; closing earlier than they do loses requests.
  keepAliveMs: 120_000,
  checkMs: 2000,
};
const STOP_PATIENCE_MS = 10_000;
const CLOSE_PATIENCE_MS = 1000;
// Clients share one HTTP/2 connection for everything. Beyond this, Node refuses new requests on it (ENHANCE_YOUR_CALM),
// and its default of 10 is less than one large list or four large bodies.
const SESSION_MEGABYTES = 256;

/** HTTP/2 and HTTP/1.1 over TLS on one port (H1). */
export class Listener {
  readonly #server;
  readonly #options: ListenerOptions;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #sockets = new Set<TLSSocket>();
  readonly #credentials = new WeakMap<object, Credentials>();
  readonly #stopping = new AbortController();
  #inFlight = 0;
  #onIdle: (() => void) | undefined;

  private constructor(options: ListenerOptions) {
    this.#options = options;
    const { certificatePem, keyPem, authorityPem, limits = LISTENER_LIMITS } = options;
    // Known to the HTTP/1.1 side only, and not to the types.
    const checking = { connectionsCheckingInterval: limits.checkMs };
    this.#server = createSecureServer({
      ...checking,
      allowHTTP1: true,
      cert: certificatePem,
      key: keyPem,
      ca: authorityPem,
      requestCert: true,
      // A client may also show a token, or nothing; who it is gets decided per request.
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      maxSessionMemory: SESSION_MEGABYTES,
    });
    Object.assign(this.#server, {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
    });
    this.#server.maxConnections = limits.connections;
    this.#server.on('request', (message: Message, answer: Answer) => void this.#serve(message, answer));
    // As in Go: an expectation nobody knows is refused in HTTP/1.1 and means nothing in HTTP/2.
    this.#server.on('checkExpectation', (message: Message, answer: Answer) => {
      if ('stream' in message) void this.#serve(message, answer);
      else (answer as ServerResponse).writeHead(417, { connection: 'close' }).end();
    });
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    });
    this.#server.on('secureConnection', (socket) => {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    this.#server.on('sessionError', (error) => options.log.debug({ err: error }, 'HTTP/2 session failed'));
    this.#server.on('tlsClientError', (error) => options.log.debug({ err: error }, 'TLS handshake failed'));
  }

  static async start(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    listener.#server.once('error', reject);
    listener.#server.listen(options.port, options.host, () => resolve());
    await promise;
    listener.#server.off('error', reject);
    return listener;
  }

  get port(): number {
    // A TCP server that listens has an address of this form.
    return (this.#server.address() as AddressInfo).port;
  }

  /** No new connections or requests; waits for what is being served, then closes everything (H11, P13). */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    await this.#idle();
    await this.#sessionsClosed();
    this.#stopping.abort();
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #idle(): Promise<void> {
    if (this.#inFlight === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    using _timer = this.#options.clock.timer(STOP_PATIENCE_MS, resolve);
    await promise;
  }

  /** The last frames of HTTP/2 streams leave after the streams are closed; without them a client sees a broken one. */
  async #sessionsClosed(): Promise<void> {
    if (this.#sessions.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = this.#options.clock.timer(CLOSE_PATIENCE_MS, resolve);
    void Promise.all([...this.#sessions].map((session) => once(session, 'close'))).then(() => resolve(), resolve);
    await promise;
  }

  async #serve(message: Message, answer: Answer): Promise<void> {
    const gone = new AbortController();
    this.#inFlight++;
    answer.on('close', () => {
      gone.abort();
      this.#inFlight--;
      if (this.#inFlight === 0) this.#onIdle?.();
    });
    // A client that disappears is no error of ours.
    message.on('error', () => gone.abort());
    answer.on('error', () => gone.abort());
    try {
      const request = this.#request(message, gone.signal);
      const response = await this.#options.handle(request);
      if (answer.destroyed) return;
      const acceptsGzip = /\bgzip\b/.test(String(message.headers['accept-encoding'] ?? ''));
      // What the client still sends is read and dropped. Before the answer: Node resets an HTTP/2 stream that has been
      // answered while nobody reads it.
      if (!message.complete) message.resume();
      await respond(answer, response, { acceptsGzip, hasBody: message.method !== 'HEAD' });
    } catch (error) {
      this.#options.log.error({ err: error }, 'Request failed outside the handler');
      answer.destroy();
    }
  }

  #request(message: Message, signal: AbortSignal): ApiRequest {
    const target = message.url ?? '/';
    const at = target.indexOf('?');
    let body: Promise<Uint8Array> | undefined;
    return {
      method: message.method ?? 'GET',
      path: at < 0 ? target : target.slice(0, at),
      query: new URLSearchParams(at < 0 ? '' : target.slice(at + 1)),
      headers: flatHeaders(message.headers),
      credentials: this.#credentialsOf(message),
      isInProcess: false,
      signal,
      body: () => {
        body ??= readBody(message);
        return body;
      },
    };
  }

  /** The certificate is looked at once per connection. */
  #credentialsOf(message: Message): Credentials {
    const socket = 'stream' in message ? message.stream.session?.socket : message.socket;
    const holder = 'stream' in message ? message.stream.session : message.socket;
    if (socket === undefined || holder === undefined) return {};
    const known = this.#credentials.get(holder);
    if (known !== undefined) return known;
    const credentials = certificateOf(socket as TLSSocket);
    this.#credentials.set(holder, credentials);
    return credentials;
  }
}

function certificateOf(socket: TLSSocket): Credentials {
  if (!socket.authorized) return {};
  const { subject, fingerprint256 } = socket.getPeerCertificate();
  if (subject === undefined) return {};
  // Node gives a list when a part appears more than once; its types know only the text.
  const organizations = [subject.O as string | string[] | undefined].flat().filter((name) => name !== undefined);
  const fingerprint = fingerprint256.replaceAll(':', '').toLowerCase();
  return { certificate: { commonName: String(subject.CN ?? ''), organizations, fingerprint } };
}

function flatHeaders(headers: IncomingMessage['headers']): Record<string, string | undefined> {
  const flat: Record<string, string | undefined> = Object.create(null);
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
