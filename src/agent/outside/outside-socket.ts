import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { tunnelThroughHttp } from '../../kube/transport/http-proxy.ts';
import { tunnelThroughSocks } from '../../kube/transport/socks-proxy.ts';

export interface OutsideWay {
  readonly target: URL;
  readonly proxy: URL | undefined;
  /** For the target and for a proxy with TLS; asked only then, because reading all authorities takes its time. */
  readonly trust: () => Promise<SecureContext>;
  readonly signal: AbortSignal;
}

const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'socks5:': 1080 };

/** Whether a proxy is told every request instead of a place to open a way to (RFC 9112, 3.2.2). */
export const isForwarded = ({ target, proxy }: Pick<OutsideWay, 'target' | 'proxy'>): boolean =>
  target.protocol === 'http:' && (proxy?.protocol === 'http:' || proxy?.protocol === 'https:');

/** A socket that leads to the target, or to the proxy that forwards; rejects with what the system or TLS says. */
export async function outsideSocket(way: OutsideWay): Promise<Socket> {
  const { target, proxy, trust, signal } = way;
  const first = await ready(connectTcp(peerOf(proxy ?? target)), 'connect', signal);
  const carried = proxy === undefined ? first : await throughProxy(first, proxy, way);
  if (target.protocol !== 'https:') return carried;
  return await secured(carried, target, { trust, signal });
}

async function throughProxy(socket: Socket, proxy: URL, way: OutsideWay): Promise<Socket> {
  const { target, signal } = way;
  const { host, port } = peerOf(target);
  const proxyHost = `proxy ${proxy.host}`;
  if (proxy.protocol === 'socks5:')
    return await tunnelThroughSocks(socket, { proxyUrl: proxy, proxyHost, hostname: host, port, signal });
  const carrier = proxy.protocol === 'https:' ? await secured(socket, proxy, way) : socket;
  if (isForwarded(way)) return carrier;
  return await tunnelThroughHttp(carrier, {
    proxyUrl: proxy,
    proxyHost,
    target: `${target.hostname}:${port}`,
    signal,
  });
}

/** An address is no name to ask for (SNI), but the certificate is compared with it. */
async function secured(
  socket: Socket,
  peer: URL,
  { trust, signal }: Pick<OutsideWay, 'trust' | 'signal'>,
): Promise<Socket> {
  const { host } = peerOf(peer);
  try {
    const secureContext = await trust();
    const options = { socket, host, servername: isIP(host) === 0 ? host : '', secureContext };
    return await ready(connectTls({ ...options, ALPNProtocols: ['http/1.1'] }), 'secureConnect', signal);
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
}

function ready<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
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
      reject(thrown);
    };
    const onAbort = (): void => failed(signal.reason);
    const closed = (): void => failed(new Error('the other side closed the connection'));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort);
    socket.on('error', failed);
    socket.on('close', closed);
    socket.once(event, () => {
      ended();
      resolve(socket);
    });
  });
}

const peerOf = ({ protocol, hostname, port }: URL): { readonly host: string; readonly port: number } => ({
  host: hostname.replace(/^\[|\]$/g, ''),
  port: port === '' ? (PORTS[protocol] ?? 0) : Number(port),
});
