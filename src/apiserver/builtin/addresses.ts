import { BlockList, isIP } from 'node:net';

const family = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** `10.0.0.0/8`: an address and the number of bits that matter. */
export function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  const version = isIP(address);
  return (
    rest.length === 0 && version !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
  );
}

/** Whether one range lies inside another and is smaller. */
export function isStrictlyInside(inner: string, outer: string): boolean {
  const [address = '', bits = ''] = inner.split('/');
  const [base = '', width = ''] = outer.split('/');
  if (family(address) !== family(base) || Number(bits) <= Number(width)) return false;
  const list = new BlockList();
  list.addSubnet(base, Number(width), family(base));
  return list.check(address, family(address));
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');

/** Addresses no endpoint may have: they mean something else on every machine. */
export function endpointAddressProblem(address: string): string | undefined {
  if (isIP(address) === 0) return 'must be a valid IP address';
  if (address === '0.0.0.0' || address === '::') return `may not be unspecified (${address})`;
  if (LOOPBACK.check(address, family(address))) return 'may not be in the loopback range (127.0.0.0/8, ::1/128)';
  if (LINK_LOCAL.check(address, family(address)))
    return 'may not be in the link-local range (169.254.0.0/16, fe80::/10)';
  return undefined;
}
