import type { X509Certificate } from 'node:crypto';
import {
  createServer as createPlainServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server as PlainServer,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { messageOf, terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { BindAddress } from './bind-address.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { BodyTooLarge, readBody } from './request-body.ts';

/** One request as a handler sees it. */
export interface ServedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** What the client has shown, where it was asked to; nobody but the handler has looked at who signed it. */
  readonly certificate?: X509Certificate;
  /** The whole body; rejects when it is larger than the limit, which is answered with 413 for the handler. */
  body(): Promise<Uint8Array>;
  /** Aborts when the client has gone, or when the listener stops and its patience has ended. */
  readonly signal: AbortSignal;
}

export interface ServedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Answers a request. When it rejects, the client gets a 500 without details and the reason is logged. */
export type Serve = (request: ServedRequest) => Promise<ServedResponse>;

export interface ListenerOptions {
  /** For logs and errors: `metrics`, `webhook`. */
  readonly name: string;
  readonly bind: BindAddress;
  /** What people choose the address with, such as `--metrics-bind-address`. */
  readonly setting?: string;
  /** Without it: plain HTTP. */
  readonly tls?: ListenerTls;
  readonly serve: Serve;
  readonly clock: Clock;
  readonly log: Log;
  /** 7 MiB unless told otherwise: the largest admission review that an API server sends. */
  readonly bodyLimitBytes?: number;
  /** How long requests may go on after `stop`; 10 s unless told otherwise. */
  readonly stopPatienceMs?: number;
}

export interface ListenerTls {
  readonly certificates: CertificateSource;
  /** Only clients with a certificate of this authority get in. */
  readonly clientCaPem?: string;
  /** Clients are asked for a certificate and get in with any or none: the handler decides. */
  readonly asksForCertificate?: boolean;
  /** TLS 1.2 unless told otherwise. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** Names of OpenSSL, joined by colons; those of Node unless told otherwise. */
  readonly ciphers?: string;
  /** Shown to clients who ask for one of these names, which may begin with `*.`. */
  readonly named?: readonly (ServingCertificate & { readonly names: readonly string[] })[];
}

/** Plenty for probes, scrapes and API servers; too few to starve the process (reliability T6.3). */
const LIMITS = { connections: 1000, handshakeMs: 10_000, headersMs: 10_000, requestMs: 30_000, checkMs: 5000 };
// Go clients keep idle connections for 90 s; closing earlier than they do loses requests.
const KEEP_ALIVE_MS = 120_000;
const BODY_LIMIT_BYTES = 7 * 1024 * 1024;
const STOP_PATIENCE_MS = 10_000;

/** An HTTP/1.1 server, with TLS (1.2 or newer, certificates reloaded while it runs) or without. */
export class Listener {
  readonly #server: PlainServer | SecureServer;
  readonly #options: ListenerOptions;
  readonly #sockets = new Set<Socket>();
  readonly #running = new Set<AbortController>();
  readonly #following = new AbortController();
  #followed: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  private constructor(options: ListenerOptions, server: PlainServer | SecureServer) {
    this.#options = options;
    this.#server = server;
  }

  /**
   * Resolves when connections are accepted. Rejects when the address is taken, the certificate cannot be used, or the
   * signal aborts while that is awaited.
   */
  static async start(options: ListenerOptions, signal?: AbortSignal): Promise<Listener> {
    const server = await serverOf(options, signal);
    const listener = new Listener(options, server);
    listener.#attach();
    await listen(server, options);
    listener.#follow();
    return listener;
  }

  get port(): number {
    // A TCP server that listens has an address of this form.
    return (this.#server.address() as AddressInfo).port;
  }

  /** No new connection; what is being served may finish, then everything is closed. A second call waits for the first. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#following.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.#idle();
    for (const request of this.#running) request.abort(new Error('the server stops'));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    await this.#followed;
  }

  async #idle(): Promise<void> {
    if (this.#running.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    using _timer = this.#options.clock.timer(this.#options.stopPatienceMs ?? STOP_PATIENCE_MS, resolve);
    await promise;
  }

  #attach(): void {
    const { log, name } = this.#options;
    this.#server.maxConnections = LIMITS.connections;
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    this.#server.on('request', (message, answer) => void this.#serve(message, answer));
    this.#server.on('tlsClientError', (err) => log.debug({ err, server: name }, 'TLS handshake failed'));
  }

  #follow(): void {
    const { tls, log, name } = this.#options;
    if (tls === undefined || !('setSecureContext' in this.#server)) return;
    const server = this.#server;
    // Connections that exist keep what they have; the next handshake shows the new certificate.
    const use = (certificate: ServingCertificate) => server.setSecureContext(secureContext(certificate, tls));
    this.#followed = tls.certificates
      .follow(use, this.#following.signal)
      .catch((err: unknown) => log.error({ err, server: name }, 'Stopped following the serving certificate'));
  }

  async #serve(message: IncomingMessage, answer: ServerResponse): Promise<void> {
    const running = new AbortController();
    this.#running.add(running);
    answer.on('close', () => {
      running.abort(new Error('the client has gone'));
      this.#running.delete(running);
      if (this.#running.size === 0) this.#onIdle?.();
    });
    const response = await this.#answer(message, running.signal);
    if (answer.destroyed) return;
    const body = response.body ?? '';
    answer.writeHead(response.status, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      ...response.headers,
      'content-length': Buffer.byteLength(body),
      // A body that was not read would be taken for the next request.
      ...((this.#stopped !== undefined || !message.complete) && { connection: 'close' }),
    });
    answer.end(message.method === 'HEAD' ? undefined : body);
  }

  async #answer(message: IncomingMessage, signal: AbortSignal): Promise<ServedResponse> {
    const { serve, log, name, bodyLimitBytes = BODY_LIMIT_BYTES } = this.#options;
    const url = URL.parse(`http://server${message.url ?? '/'}`);
    if (url === null) return { status: 400, body: 'Bad Request\n' };
    try {
      return await serve({
        method: message.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        headers: message.headers,
        ...shownCertificate(message.socket),
        body: () => readBody(message, bodyLimitBytes),
        signal,
      });
    } catch (thrown) {
      if (thrown instanceof BodyTooLarge) return { status: 413, body: `${thrown.message}\n` };
      if (!signal.aborted) log.error({ err: thrown, server: name, path: url.pathname }, 'Request failed');
      return { status: 500, body: 'Internal Server Error\n' };
    }
  }
}

async function serverOf(
  { tls }: ListenerOptions,
  signal: AbortSignal | undefined,
): Promise<PlainServer | SecureServer> {
  const limits: ServerOptions = {
    headersTimeout: LIMITS.headersMs,
    requestTimeout: LIMITS.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: LIMITS.checkMs,
  };
  if (tls === undefined) return createPlainServer(limits);
  const context = secureContext(await tls.certificates.load(signal), tls);
  const server = createSecureServer({
    ...limits,
    ...context,
    handshakeTimeout: LIMITS.handshakeMs,
    requestCert: tls.clientCaPem !== undefined || tls.asksForCertificate === true,
    rejectUnauthorized: tls.clientCaPem !== undefined,
  });
  for (const { names, ...pair } of tls.named ?? []) {
    for (const name of names) server.addContext(name, createSecureContext(secureContext(pair, tls)));
  }
  return server;
}

const secureContext = (
  { certificatePem, keyPem }: ServingCertificate,
  { clientCaPem, minVersion = 'TLSv1.2', ciphers }: ListenerTls,
) => ({
  cert: certificatePem,
  key: keyPem,
  minVersion,
  ...(ciphers !== undefined && { ciphers }),
  ...(clientCaPem !== undefined && { ca: clientCaPem }),
});

function shownCertificate(socket: Socket): Pick<ServedRequest, 'certificate'> {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return certificate === undefined ? {} : { certificate };
}

async function listen(
  server: PlainServer | SecureServer,
  { name, bind, setting }: ListenerOptions,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(bind.port, bind.host, () => resolve());
  try {
    await promise;
  } catch (cause) {
    const way = setting === undefined ? '' : ` with ${setting}`;
    throw terminalError(
      'CannotListen',
      `the ${name} server cannot listen on ${bind.host ?? ''}:${bind.port}: ${messageOf(cause)}; choose another address${way}`,
      { cause },
    );
  } finally {
    server.off('error', reject);
  }
}
