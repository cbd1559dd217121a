import { userError } from '../../base/errors.ts';

/** Where a server listens; without a host on every address. Port 0 takes any free one. */
export interface BindAddress {
  readonly host?: string;
  readonly port: number;
}

const ADDRESS = /^(?:\[(?<v6>[\da-fA-F:.]+(?:%\w+)?)\]|(?<host>[^:[\]\s]*)):(?<port>\d{1,5})$/;

/**
 * `:8080`, `127.0.0.1:8080`, `[::1]:8080` as in Go; `0` and the empty text mean "no server" and give undefined. Anything
 * else throws an error that names `field`.
 */
export function parseBindAddress(text: string, field: string): BindAddress | undefined {
  if (text === '0' || text === '') return undefined;
  const groups = ADDRESS.exec(text)?.groups;
  const port = Number(groups?.['port'] ?? -1);
  if (groups === undefined || port < 0 || port > 65_535) {
    throw userError(
      'InvalidBindAddress',
      `${field} is "${text}"; write [host]:port such as :8080 or 127.0.0.1:8080, or 0 for no server`,
    );
  }
  const host = groups['v6'] ?? groups['host'] ?? '';
  return host === '' ? { port } : { host, port };
}
