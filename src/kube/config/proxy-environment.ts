import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Environment } from './surroundings.ts';

/**
 * The proxy that `HTTPS_PROXY` or `HTTP_PROXY` names for a server, unless `NO_PROXY` or a loopback address excepts it, as
 * every Go tool has it; a `proxy-url` in the kubeconfig goes before. What is no URL of a known scheme is not taken.
 */
export function proxyFromEnvironment(server: URL, env: Environment): URL | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = variable(env, name);
  if (text === '' || isExcepted(server, variable(env, 'NO_PROXY'))) return undefined;
  const address = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && ['http:', 'https:', 'socks5:'].includes(url.protocol) ? url : undefined;
}

const variable = (env: Environment, name: string): string => {
  const upper = env[name] ?? '';
  return upper === '' ? (env[name.toLowerCase()] ?? '') : upper;
};

function isExcepted(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return true;
  const port = server.port === '' ? (server.protocol === 'https:' ? '443' : '80') : server.port;
  const entries = noProxy.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry !== '' && covers(entry, host, port));
}

/** One entry of `NO_PROXY`: `*`, an address, a range, a domain with everything below it, each perhaps with a port. */
function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInRange(entry, host);
  const [, name = entry, onlyPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const bare = name.replace(/^\[|\]$/g, '').replace(/^\*/, '');
  if (isIP(host) > 0 || isIP(bare) > 0) return bare === host;
  return bare.startsWith('.') ? host.endsWith(bare) : host === bare || host.endsWith(`.${bare}`);
}

function isInRange(range: string, host: string): boolean {
  const [address = '', bits = ''] = range.split('/');
  const length = Number(bits);
  const isRange =
    isIP(address) > 0 && bits !== '' && Number.isInteger(length) && length <= (isIPv6(address) ? 128 : 32);
  if (!isRange || isIP(host) !== isIP(address)) return false;
  const list = new BlockList();
  list.addSubnet(address, length, isIPv6(address) ? 'ipv6' : 'ipv4');
  return list.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}
