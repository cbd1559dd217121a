import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Node, NodeAddress } from '../../api/generated/core-v1.ts';
import { NodeProblem } from './node-problem.ts';

/** What the kubelet was told with `--node-ip`: one address, or two of different families. */
export const PROVIDED_IP_ANNOTATION = 'alpha.kubernetes.io/provided-node-ip';
const UNSPECIFIED: readonly string[] = ['0.0.0.0', '::'];

/**
 * Pure: one spelling for all texts that mean the same address, undefined when it is none (A3, A4). Zeros in front of a
 * decimal number are left out, not taken for octal; an IPv4 address within IPv6 is that IPv4 address.
 */
export function canonicalAddress(text: string): string | undefined {
  const plain = text.replaceAll(/(^|[.:])0+(?=\d+(\.|$))/g, '$1');
  if (/^\d+(\.\d+){3}$/.test(plain)) return ipaddr.IPv4.isValidFourPartDecimal(plain) ? plain : undefined;
  if (!isIPv6(plain) || plain.includes('%')) return undefined;
  const parsed = ipaddr.process(plain);
  return parsed instanceof ipaddr.IPv6 ? parsed.toRFC5952String() : parsed.toString();
}

/** Pure: the addresses that the kubelet uses; undefined when it was not told any. Throws a NodeProblem (A3). */
function providedAddresses({ metadata: { annotations = {} } }: Node): readonly string[] | undefined {
  const text = annotations[PROVIDED_IP_ANNOTATION];
  if (text === undefined) return undefined;
  const refused = (why: string) => new NodeProblem('InvalidNodeAddress', invalidMessage(text, why));
  const addresses = text.split(',').map((part) => {
    const address = canonicalAddress(part);
    if (address === undefined) throw refused(`"${part}" is no IP address`);
    return address;
  });
  if (addresses.length === 1) return addresses;
  const [first = '', second = ''] = addresses;
  if (addresses.length > 2 || first.includes(':') === second.includes(':'))
    throw refused('it must be one address, or one IPv4 and one IPv6 address');
  if (addresses.some((address) => UNSPECIFIED.includes(address)))
    throw refused('0.0.0.0 and :: are no addresses of a pair');
  return addresses;
}

/**
 * Pure: what a Node should show, from what the provider knows: the addresses that the kubelet uses first, then all of
 * types that none of these has. Throws a NodeProblem when the provider does not know one of them (A3 to A5).
 */
export function orderedAddresses(node: Node, offered: readonly NodeAddress[]): readonly NodeAddress[] {
  const provided = providedAddresses(node);
  if (provided === undefined) return offered;
  const matched = provided.flatMap((wanted) => {
    const found = offered.filter(({ address }) => canonicalAddress(address) === wanted);
    if (found.length === 0) throw new NodeProblem('NodeAddressMismatch', mismatchMessage(node, wanted, offered));
    return found;
  });
  const types = new Set(matched.map(({ type }) => type));
  return [...matched, ...offered.filter(({ type }) => !types.has(type))];
}

/** Pure: the same with the names that the kubelet gave; undefined to leave the Node as it is (A1, A2). */
export function nodeAddresses(node: Node, offered: readonly NodeAddress[]): readonly NodeAddress[] | undefined {
  if (offered.length === 0) return undefined;
  const ordered = orderedAddresses(node, offered);
  if (offered.some(isHostname)) return ordered;
  return [...ordered, ...(node.status?.addresses ?? []).filter(isHostname)];
}

const isHostname = ({ type }: NodeAddress): boolean => type === 'Hostname';

/** Pure: one by one, in order: two addresses of one type are no change, and another order is one (B1). */
export const isSameAddresses = (one: readonly NodeAddress[], other: readonly NodeAddress[]): boolean =>
  one.length === other.length &&
  one.every(({ type, address }, at) => type === other[at]?.type && address === other[at].address);

const invalidMessage = (text: string, why: string): string =>
  `the annotation ${PROVIDED_IP_ANNOTATION} is "${text}": ${why}; start the kubelet with another --node-ip`;

/** The first half is how upstream says it; people look for it. */
function mismatchMessage(node: Node, wanted: string, offered: readonly NodeAddress[]): string {
  const annotation = node.metadata.annotations?.[PROVIDED_IP_ANNOTATION] ?? '';
  // Sorted: a provider that tells them in another order each time has not told anything new.
  const texts = [...new Set(offered.map(({ type, address }) => `${type} ${address}`))].toSorted();
  const found = texts.length === 0 ? 'no addresses' : texts.join(', ');
  return (
    `failed to get node address from cloud provider that matches ip: ${wanted}; the kubelet uses ${annotation} ` +
    `(annotation ${PROVIDED_IP_ANNOTATION}) and the provider returned ${found}; make the provider return the ` +
    'address that the kubelet uses, or start the kubelet with a --node-ip that the provider returns'
  );
}
