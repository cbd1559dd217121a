import type { AddressPlan, Endpoint } from '../../address/address-plan.ts';

/** The node as a place from which probes go out. */
export interface ProbeNetwork {
  readonly plan: Pick<AddressPlan, 'mode' | 'owns' | 'target'>;
  /** Address of the node on this machine. */
  readonly nodeWire: string;
}

/** Where to connect, and from which address. */
export interface Dial extends Endpoint {
  readonly localAddress?: string;
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]', '0.0.0.0', '::', '[::]']);

/**
 * Pure: how a probe of the node reaches a place. Its own loopback is the address of the node, where programs in its
 * network listen; lab addresses are dialled from it, so that the program sees who asks.
 */
export function dialOf({ plan, nodeWire }: ProbeNetwork, { host, port }: Endpoint): Dial {
  const isOwn = LOOPBACK.has(host);
  const target = plan.target({ host: isOwn ? nodeWire : host, port });
  const isFromNode = plan.mode !== 'ports' && (isOwn || plan.owns(host));
  return { ...target, ...(isFromNode && { localAddress: nodeWire }) };
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  EADDRNOTAVAIL: "can't assign requested address",
};

/** Pure: the failure of a socket in the words that people know from Kubernetes. */
export function socketFailure(error: Error & { readonly code?: unknown }, { host, port }: Endpoint): string {
  const { code, message } = error;
  const words = typeof code === 'string' ? WORDS[code] : undefined;
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return code === 'ECONNRESET'
    ? `read tcp ${at}: ${words}`
    : `dial tcp ${at}: ${words === undefined ? message : `connect: ${words}`}`;
}
