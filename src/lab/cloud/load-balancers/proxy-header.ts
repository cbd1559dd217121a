import ipaddr from 'ipaddr.js';
import type { Endpoint } from '../../address/address-plan.ts';
import type { ProxyProtocol } from './balancer-config.ts';

/** Of version 2; no other protocol begins like this. */
const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const COMMAND = { local: 0x20, proxy: 0x21 };
const TCP_OVER = { ipv4: 0x11, ipv6: 0x21 };

/** The first bytes of a connection: who the client is, and where it wanted to (C17). Both of one kind of address. */
export function proxyHeader(version: ProxyProtocol, client: Endpoint, wanted: Endpoint): Buffer {
  const [from, to] = [ipaddr.process(client.host), ipaddr.process(wanted.host)];
  if (version === 'v1') {
    const family = from.kind() === 'ipv4' ? 'TCP4' : 'TCP6';
    const words = ['PROXY', family, from.toString(), to.toString(), client.port, wanted.port];
    return Buffer.from(`${words.join(' ')}\r\n`);
  }
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(client.port, 0);
  ports.writeUInt16BE(wanted.port, 2);
  return binary(
    COMMAND.proxy,
    TCP_OVER[from.kind()],
    Buffer.concat([Buffer.from(from.toByteArray()), Buffer.from(to.toByteArray()), ports]),
  );
}

/** The first bytes of a connection that the balancer opens for itself, such as a health check. */
export const ownProxyHeader = (version: ProxyProtocol): Buffer =>
  version === 'v1' ? Buffer.from('PROXY UNKNOWN\r\n') : binary(COMMAND.local, 0, Buffer.alloc(0));

function binary(command: number, family: number, addresses: Buffer): Buffer {
  const fixed = Buffer.from([command, family, 0, 0]);
  fixed.writeUInt16BE(addresses.length, 2);
  return Buffer.concat([SIGNATURE, fixed, addresses]);
}
