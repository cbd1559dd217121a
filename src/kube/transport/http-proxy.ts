import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { NetworkError } from '../client/api-error.ts';
import { networkFailure } from './network-failure.ts';

interface Tunnel {
  readonly proxyUrl: URL;
  /** For messages: `proxy proxy.example:3128`. */
  readonly proxyHost: string;
  /** `host:port` of the API server. */
  readonly target: string;
  readonly signal: AbortSignal;
}

/**
 * Asks an HTTP proxy on this socket for a tunnel (CONNECT) and gives the socket back, which then leads to the target.
 * Rejects with a `NetworkError` and destroys the socket when the proxy refuses, ends or is too slow.
 */
export function tunnelThroughHttp(socket: Socket, tunnel: Tunnel): Promise<Socket> {
  const { proxyUrl, proxyHost, target, signal } = tunnel;
  return new Promise((resolve, reject) => {
    const asked = request({
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...authorization(proxyUrl) },
      createConnection: () => socket,
    });
    const failed = (thrown: unknown): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      reject(networkFailure(thrown, { host: proxyHost, mayHaveHappened: false }));
    };
    const onAbort = (): void => failed(signal.reason);
    signal.addEventListener('abort', onAbort);
    asked.on('error', failed);
    asked.on('response', (answer) => failed(refusal(tunnel, answer)));
    asked.on('connect', (answer, _socket, head) => {
      if (answer.statusCode !== 200) return failed(refusal(tunnel, answer));
      signal.removeEventListener('abort', onAbort);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.end();
  });
}

function refusal({ proxyHost, target }: Tunnel, { statusCode, statusMessage }: IncomingMessage): NetworkError {
  const answer = `${statusCode ?? ''} ${statusMessage ?? ''}`.trim();
  const way = statusCode === 407 ? '; check user and password in proxy-url' : '';
  return new NetworkError(`${proxyHost} did not open a way to ${target}: ${answer}${way}`, {
    mayHaveHappened: false,
  });
}

/** User or password of a URL; as it stands there when it holds a percent sign that is no escape. */
export function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function authorization({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const pair = `${decodedText(username)}:${decodedText(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
