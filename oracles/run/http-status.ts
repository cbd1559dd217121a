import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';

const TIMEOUT_MS = 5000;

export interface ClientTls {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The status a GET answers with; undefined when nobody answers. The body is dropped. */
export function httpStatus(url: string, signal: AbortSignal, tls?: ClientTls): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  // A fresh connection each time: a kept one would hide that the server stopped accepting.
  const options = { signal, timeout: TIMEOUT_MS, agent: false as const, ...tls };
  const request = (tls === undefined ? httpGet : httpsGet)(url, options, (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  request.on('timeout', () => request.destroy());
  request.on('error', () => resolve(undefined));
  return promise;
}
