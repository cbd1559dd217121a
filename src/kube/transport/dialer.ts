import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { humanDuration } from '../../base/duration.ts';
import { NetworkError } from '../client/api-error.ts';
import type { ClusterAccess } from '../config/cluster-access.ts';
import { tunnelThroughHttp } from './http-proxy.ts';
import { networkFailure, timeout } from './network-failure.ts';
import { tunnelThroughSocks } from './socks-proxy.ts';

/** A connection that is not there by then will not come. */
const DIAL_TIMEOUT_MS = 15_000;
/** N1: TCP asks after this silence whether the other side is still there. */
const KEEP_ALIVE_MS = 30_000;

interface Peer {
  readonly hostname: string;
  readonly port: number;
}

/** Opens sockets to the API server, through the proxy if there is one. Names are resolved anew each time. */
export class Dialer {
  /** `host:port` for messages and metrics. */
  readonly host: string;
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #peer: Peer;

  constructor(access: ClusterAccess, clock: Clock) {
    this.#access = access;
    this.#clock = clock;
    this.#peer = peerOf(access.server);
    this.host = hostOf(this.#peer);
  }

  /**
   * A connected socket; with TLS, one whose certificate was checked and that speaks one of the protocols (ALPN).
   * Rejects with a `NetworkError` for a request that certainly did not happen.
   */
  async dial(protocols: readonly string[]): Promise<Socket> {
    const control = new AbortController();
    using _timer = this.#clock.timer(DIAL_TIMEOUT_MS, () => control.abort(this.#tooSlow()));
    const { server } = this.#access;
    const socket = await this.#reached(control.signal);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    // Awaited here, because the timer ends with this function.
    return server.protocol === 'https:' ? await this.#secured(socket, protocols, control.signal) : socket;
  }

  /** A TCP connection, or a tunnel that looks like one. */
  async #reached(signal: AbortSignal): Promise<Socket> {
    const { proxyUrl } = this.#access;
    if (proxyUrl === undefined) return connected(connectTcp(tcpOptions(this.#peer)), { host: this.host, signal });
    const proxy = peerOf(proxyUrl);
    const proxyHost = `proxy ${hostOf(proxy)}`;
    const context = { host: proxyHost, signal };
    const plain = await connected(connectTcp(tcpOptions(proxy)), context);
    if (proxyUrl.protocol.startsWith('socks')) {
      return tunnelThroughSocks(plain, { proxyUrl, proxyHost, ...this.#peer, signal });
    }
    const carrier = proxyUrl.protocol === 'https:' ? await proxySecured(plain, proxy, context) : plain;
    return tunnelThroughHttp(carrier, { proxyUrl, proxyHost, target: this.host, signal });
  }

  async #secured(socket: Socket, protocols: readonly string[], signal: AbortSignal): Promise<Socket> {
    const { credentials, ca, tlsServerName, insecureSkipTlsVerify } = this.#access;
    try {
      const [authority, client] = await Promise.all([ca?.(), credentials.clientCertificate(signal)]);
      const options = {
        socket,
        ALPNProtocols: [...protocols],
        rejectUnauthorized: !insecureSkipTlsVerify,
        ...nameOptions(this.#peer, tlsServerName),
        ...(authority !== undefined && { ca: authority }),
        ...(client !== undefined && { cert: client.certPem, key: client.keyPem }),
      };
      return await connected(connectTls(options), { host: this.host, signal });
    } catch (thrown) {
      socket.destroy();
      throw networkFailure(thrown, { host: this.host, mayHaveHappened: false });
    }
  }

  #tooSlow(): NetworkError {
    const message = `no connection to ${this.host} within ${humanDuration(DIAL_TIMEOUT_MS)}`;
    return new NetworkError(message, { mayHaveHappened: false, cause: timeout() });
  }
}

interface DialContext {
  readonly host: string;
  readonly signal: AbortSignal;
}

/** The proxy's certificate is checked against the system's authorities: the cluster's say nothing about it. */
const proxySecured = (socket: Socket, proxy: Peer, context: DialContext): Promise<Socket> =>
  connected(connectTls({ socket, ...nameOptions(proxy) }), context);

/** The socket, when it is ready for data. */
function connected<S extends Socket>(socket: S, { host, signal }: DialContext): Promise<S> {
  return new Promise((resolve, reject) => {
    let certificate: PeerCertificate | undefined;
    const ended = (): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', failed);
      socket.off('close', closed);
      // Until somebody else listens an error must not end the process.
      socket.on('error', () => {});
    };
    const failed = (thrown: unknown): void => {
      ended();
      socket.destroy();
      reject(networkFailure(thrown, { host, mayHaveHappened: false, certificate }));
    };
    const onAbort = (): void => failed(signal.reason);
    const closed = (): void => failed(new Error('the other side closed the connection'));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort);
    socket.on('error', failed);
    socket.on('close', closed);
    // Node forgets the certificate as soon as it finds it wrong, and a message must name it.
    if (isTls(socket)) socket.prependListener('secure', () => void (certificate = shownBy(socket)));
    socket.once(isTls(socket) ? 'secureConnect' : 'connect', () => {
      ended();
      resolve(socket);
    });
  });
}

const isTls = (socket: Socket): socket is TLSSocket => 'getPeerCertificate' in socket;

/** An empty object stands for none. */
function shownBy(socket: TLSSocket): PeerCertificate | undefined {
  const certificate = socket.getPeerCertificate();
  return certificate.subject === undefined ? undefined : certificate;
}

const tcpOptions = ({ hostname, port }: Peer) => ({ host: hostname, port });

/** An address is no name to ask for (SNI), but the certificate is compared with it. */
const nameOptions = ({ hostname }: Peer, serverName = isIP(hostname) === 0 ? hostname : '') => ({
  host: hostname,
  servername: serverName,
});

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };
const SOCKS_PORT = 1080;

function peerOf({ protocol, hostname, port }: URL): Peer {
  return {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (DEFAULT_PORTS[protocol] ?? SOCKS_PORT) : Number(port),
  };
}

const hostOf = ({ hostname, port }: Peer): string =>
  isIP(hostname) === 6 ? `[${hostname}]:${port}` : `${hostname}:${port}`;
