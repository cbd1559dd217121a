import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import type { Log } from '../../../base/log.ts';
import type { CertificateSource, ServingCertificate } from '../../../kube/serving/certificate-source.ts';
import { type NodeResponse, type NodeServe, textResponse } from './node-request.ts';

export interface NodeServerOptions {
  readonly serve: NodeServe;
  /** Makes the server listen: at `wire(node):10250`, by the address plan. */
  readonly listen: (server: NetServer) => Promise<void>;
  readonly certificates: CertificateSource;
  /** Only clients with a certificate of this authority are asked who they are. */
  readonly clientCaPem: string;
  readonly log: Log;
  /** Keeps lab time still until an answer begins (T3). */
  readonly hold?: (reason: string) => Disposable;
}

export interface NodeServer extends AsyncDisposable {
  readonly port: number;
}

/** Plenty for an API server and a few people; the same limits as other servers of the project. */
const LIMITS = {
  connections: 1000,
  handshakeMs: 10_000,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 120_000,
};
const API_SERVER = 'kube-apiserver-kubelet-client';
const MASTERS = 'system:masters';

/** Serves a node over HTTPS to API servers (N40). Disposing it ends all connections. */
export async function startNodeServer(options: NodeServerOptions): Promise<NodeServer> {
  const server = new RunningNodeServer(options, await options.certificates.load());
  await server.listen();
  return server;
}

class RunningNodeServer implements NodeServer {
  readonly #options: NodeServerOptions;
  readonly #server: Server;
  readonly #stop = new AbortController();
  /** Bounded by the limit of connections. */
  readonly #sockets = new Set<TLSSocket>();
  #followed: Promise<void> = Promise.resolve();

  constructor(options: NodeServerOptions, certificate: ServingCertificate) {
    this.#options = options;
    this.#server = createServer({
      ...contextOf(certificate, options),
      requestCert: true,
      // Whoever is not known gets an answer that says so.
      rejectUnauthorized: false,
      handshakeTimeout: LIMITS.handshakeMs,
      headersTimeout: LIMITS.headersMs,
      requestTimeout: LIMITS.requestMs,
      keepAliveTimeout: LIMITS.keepAliveMs,
    });
    this.#server.maxConnections = LIMITS.connections;
    this.#server.on('secureConnection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    this.#server.on('tlsClientError', (err) => options.log.debug({ err }, 'TLS handshake failed'));
    this.#server.on('request', (message, answer) => void this.#serve(message, answer));
  }

  get port(): number {
    // A TCP server that listens has an address of this form.
    return (this.#server.address() as AddressInfo).port;
  }

  async listen(): Promise<void> {
    const { listen, certificates, log } = this.#options;
    await listen(this.#server);
    const use = (certificate: ServingCertificate) =>
      this.#server.setSecureContext(contextOf(certificate, this.#options));
    this.#followed = certificates
      .follow(use, this.#stop.signal)
      .catch((err: unknown) => log.error({ err }, 'Stopped following the serving certificate of a node'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the node stops'));
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    await this.#followed;
  }

  async #serve(message: IncomingMessage, answer: ServerResponse): Promise<void> {
    const gone = new AbortController();
    answer.on('close', () => gone.abort(new Error('the client has gone')));
    const response = await this.#respond(message, gone.signal);
    const { status, contentType = 'text/plain', body } = response;
    answer.writeHead(status, { 'content-type': contentType, 'x-content-type-options': 'nosniff' });
    if (typeof body === 'string') return void answer.end(body);
    // A log that is followed may be silent for long; the client wants to know that it is there.
    answer.flushHeaders();
    // A client that leaves is no failure of ours, and it ends the stream.
    await pipeline(Readable.fromWeb(body), answer).catch(() => undefined);
  }

  async #respond(message: IncomingMessage, signal: AbortSignal): Promise<NodeResponse> {
    const { serve, log, hold } = this.#options;
    const url = URL.parse(`https://node${message.url ?? '/'}`);
    if (url === null) return textResponse(400, 'the path cannot be read');
    const refusal = refusalOf(message.socket as TLSSocket, url.pathname);
    if (refusal !== undefined) return refusal;
    using _hold = hold?.(`request of ${url.pathname}`);
    try {
      const { pathname: path, searchParams: query } = url;
      return await serve({ method: message.method ?? 'GET', path, query, signal });
    } catch (err) {
      log.error({ err, path: url.pathname }, 'Request to a node failed');
      return textResponse(500, 'Internal Server Error');
    }
  }
}

const contextOf = ({ certificatePem, keyPem }: ServingCertificate, { clientCaPem }: NodeServerOptions) => ({
  cert: certificatePem,
  key: keyPem,
  ca: clientCaPem,
  minVersion: 'TLSv1.2' as const,
});

const SUBRESOURCES: Readonly<Record<string, string>> = {
  containerLogs: 'log',
  metrics: 'metrics',
  stats: 'stats',
};

/** Who may ask: the API server, and administrators. Undefined when it is one of them. */
function refusalOf(socket: TLSSocket, path: string): NodeResponse | undefined {
  if (!socket.authorized) return textResponse(401, 'Unauthorized');
  const { subject } = socket.getPeerCertificate();
  // Node gives a list when a part appears more than once; its types know only the text.
  const groups = [subject?.O as string | string[] | undefined].flat();
  const user = String(subject?.CN ?? '');
  if (user === API_SERVER || groups.includes(MASTERS)) return undefined;
  const subresource = SUBRESOURCES[path.split('/')[1] ?? ''] ?? 'proxy';
  return textResponse(403, `Forbidden (user=${user}, verb=get, resource=nodes, subresource(s)=[${subresource}])`);
}
