import ipaddr from 'ipaddr.js';
import { userError } from '../../base/errors.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The addresses of a CIDR. */
export interface CidrRange {
  readonly first: Address;
  readonly last: Address;
  readonly bits: number;
}

/** Undefined for what is none. */
function parseCidr(text: string): CidrRange | undefined {
  const isFour = ipaddr.IPv4.isValidCIDRFourPartDecimal(text);
  if (!isFour && !ipaddr.IPv6.isValidCIDR(text)) return undefined;
  const family = isFour ? ipaddr.IPv4 : ipaddr.IPv6;
  const [, bits] = ipaddr.parseCIDR(text);
  return { first: family.networkAddressFromCIDR(text), last: family.broadcastAddressFromCIDR(text), bits };
}

/** One spelling for each range, so that what a cloud writes differently is not made anew; what is no CIDR stays as it is. */
export function cidrText(text: string): string {
  const range = parseCidr(text);
  return range === undefined ? text : `${range.first.toString()}/${range.bits}`;
}

const contains = ({ first, bits }: CidrRange, address: Address): boolean =>
  // Addresses of one family cannot be compared with those of the other.
  first.kind() === address.kind() && address.match([first, bits]);

/** Whether a route is ours: its destination begins or ends inside the network of the pods (T6). */
export function isWithin(destination: string, clusters: readonly CidrRange[]): boolean {
  const range = parseCidr(destination);
  if (range === undefined) return false;
  return clusters.some((cluster) => contains(cluster, range.first) || contains(cluster, range.last));
}

/** The networks of the pods as the user gave them. Throws a userError for anything but one, or one of each family (T1). */
export function clusterRanges(texts: readonly string[]): readonly CidrRange[] {
  const shown = texts.join(',');
  if (texts.length === 0)
    throw invalid('--cluster-cidr must be set for routes to the pods; give it, or --configure-cloud-routes=false');
  const ranges = texts.map((text) => {
    const range = parseCidr(text);
    if (range === undefined)
      throw invalid(`--cluster-cidr must hold networks such as 10.244.0.0/16, not "${text}" (in "${shown}")`);
    return range;
  });
  if (ranges.length > 2)
    throw invalid(`--cluster-cidr must hold two networks at most, not ${ranges.length} ("${shown}")`);
  if (ranges.length === 2 && ranges[0]?.first.kind() === ranges[1]?.first.kind())
    throw invalid(`--cluster-cidr with two networks must hold one of IPv4 and one of IPv6, not "${shown}"`);
  return ranges;
}

const invalid = (message: string): Error => userError('InvalidClusterCIDR', message);
