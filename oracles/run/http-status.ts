import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';

const TIMEOUT_MS = 5000;

export type Peer =
  /** Only a server with a certificate of this authority counts. Without a certificate of our own we are nobody. */
  | { readonly ca: string; readonly cert?: string; readonly key?: string }
  /** Only the server behind this socket counts. */
  | { readonly socketPath: string }
  /** A program that answers probes in the clear: whoever has the port counts. */
  | { readonly isPlain: true };

/** The status a GET answers with; undefined when that very peer does not answer. The body is dropped. */
export function httpStatus(url: string, signal: AbortSignal, peer: Peer): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  // A fresh connection each time: a kept one would hide that the server stopped accepting.
  const options = { signal, timeout: TIMEOUT_MS, agent: false as const, ...peer };
  const request = ('ca' in peer ? httpsGet : httpGet)(url, options, (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  request.on('timeout', () => request.destroy());
  request.on('error', () => resolve(undefined));
  return promise;
}
