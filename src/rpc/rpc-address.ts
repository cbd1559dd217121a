import { userError } from '../base/errors.ts';

/** Where a server listens: a Unix socket, or a port of a loopback address. */
export type RpcAddress = { readonly socket: string } | { readonly host: string; readonly port: number };

/** The kernel has room for 108 bytes, of which the last one is zero. */
export const LONGEST_SOCKET_PATH = 107;

/** Pure: why no Unix socket can be at a path; undefined when it can. */
function socketPathProblem(path: string): string | undefined {
  const bytes = Buffer.byteLength(path);
  if (bytes > LONGEST_SOCKET_PATH) {
    return `the path of a Unix socket has at most ${LONGEST_SOCKET_PATH} bytes, but ${path} has ${bytes}; use a shorter directory`;
  }
  if (!path.startsWith('/')) return `the path of a Unix socket must be absolute, not "${path}"`;
  return path.includes('\0') ? 'the path of a Unix socket must not hold a NUL byte' : undefined;
}

/** As the gRPC library names it. Throws a user error when there can be no such place. */
export function targetOf(address: RpcAddress): string {
  if ('host' in address)
    return `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
  const problem = socketPathProblem(address.socket);
  if (problem !== undefined) throw userError('InvalidSocketPath', problem);
  return `unix:${address.socket}`;
}

export const addressText = (address: RpcAddress): string =>
  'socket' in address ? address.socket : targetOf(address);
