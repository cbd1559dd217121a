import { isIPv4, isIPv6, type Socket } from 'node:net';
import { NetworkError } from '../client/api-error.ts';
import { decodedText } from './http-proxy.ts';
import { networkFailure } from './network-failure.ts';

interface Tunnel {
  readonly proxyUrl: URL;
  /** For messages: `proxy proxy.example:1080`. */
  readonly proxyHost: string;
  readonly hostname: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const USER_AND_PASSWORD = 2;
const CONNECT = 1;
const ADDRESS = { ipv4: 1, name: 3, ipv6: 4 } as const;

/** RFC 1928, section 6. */
const REPLIES = [
  '',
  'general failure',
  'not allowed by its rules',
  'the network cannot be reached',
  'the host cannot be reached',
  'the connection was refused',
  'the time to live ran out',
  'it does not know the command',
  'it does not know this kind of address',
];

/**
 * Asks a SOCKS5 proxy (RFC 1928, 1929) on this socket for a connection and gives the socket back, which then leads to
 * the target. The proxy resolves the name. Rejects with a `NetworkError` and destroys the socket when the proxy
 * refuses, ends or is too slow.
 */
export async function tunnelThroughSocks(socket: Socket, tunnel: Tunnel): Promise<Socket> {
  const { proxyUrl, proxyHost, signal } = tunnel;
  const onAbort = (): void => void socket.destroy(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    await authenticate(socket, proxyUrl);
    await requestConnection(socket, tunnel);
    return socket;
  } catch (thrown) {
    socket.destroy();
    const cause = signal.aborted ? signal.reason : thrown;
    throw networkFailure(cause, { host: proxyHost, mayHaveHappened: false });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function authenticate(socket: Socket, { username, password }: URL): Promise<void> {
  const offered = username === '' ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, USER_AND_PASSWORD];
  socket.write(Buffer.from([VERSION, offered.length, ...offered]));
  const [version, method] = await taken(socket, 2);
  if (version !== VERSION) throw new Error('it does not speak SOCKS5');
  if (method === NO_AUTHENTICATION) return;
  if (method !== USER_AND_PASSWORD || username === '') {
    throw new Error('it wants another authentication; put user and password into proxy-url');
  }
  const fields = [username, password].map((text) => withLength(decodedText(text)));
  socket.write(Buffer.concat([Buffer.from([1]), ...fields]));
  const [, outcome] = await taken(socket, 2);
  if (outcome !== 0) throw new Error('it refused user and password of proxy-url');
}

async function requestConnection(socket: Socket, { proxyHost, hostname, port }: Tunnel): Promise<void> {
  const target = Buffer.from([port >> 8, port & 0xff]);
  socket.write(Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), addressOf(hostname), target]));
  const [, reply = 1, , kind] = await taken(socket, 4);
  if (reply !== 0) {
    const message = `${proxyHost} did not open a way to ${hostname}:${port}: ${REPLIES[reply] ?? `reply ${reply}`}`;
    throw new NetworkError(message, { mayHaveHappened: false });
  }
  // The address the proxy uses: of no interest, but it stands before the first byte of the target.
  const length = kind === ADDRESS.ipv4 ? 4 : kind === ADDRESS.ipv6 ? 16 : (await taken(socket, 1)).readUInt8(0);
  await taken(socket, length + 2);
}

function addressOf(hostname: string): Buffer {
  if (isIPv4(hostname)) return Buffer.from([ADDRESS.ipv4, ...hostname.split('.').map(Number)]);
  if (isIPv6(hostname)) return Buffer.concat([Buffer.from([ADDRESS.ipv6]), ipv6Bytes(hostname)]);
  return Buffer.concat([Buffer.from([ADDRESS.name]), withLength(hostname)]);
}

function ipv6Bytes(address: string): Buffer {
  // The URL parser writes an address in its shortest form, without an IPv4 part.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = groupsOf(head);
  const right = groupsOf(tail ?? '');
  const gap = Array.from({ length: 8 - left.length - right.length }, () => 0);
  return Buffer.from([...left, ...gap, ...right].flatMap((group) => [group >> 8, group & 0xff]));
}

const groupsOf = (text: string): readonly number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > 255) throw new Error('SOCKS5 takes at most 255 bytes for a name, user or password');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

/** Exactly so many bytes; what follows stays in the socket for its next reader. */
function taken(socket: Socket, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const ended = (): void => {
      socket.off('readable', look);
      socket.off('error', failed);
      socket.off('end', closed);
      socket.off('close', closed);
    };
    const failed = (thrown: unknown): void => {
      ended();
      reject(thrown);
    };
    const closed = (): void => failed(new Error('it closed the connection'));
    const look = (): void => {
      const chunk: Buffer | null = socket.read(length);
      if (chunk === null) return;
      if (chunk.length < length) return closed();
      ended();
      resolve(chunk);
    };
    if (socket.destroyed) return closed();
    socket.on('readable', look);
    socket.on('error', failed);
    socket.on('end', closed);
    socket.on('close', closed);
    look();
  });
}
