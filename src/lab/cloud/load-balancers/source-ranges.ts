import ipaddr from 'ipaddr.js';

/** What is wrong with a range of addresses, in words; undefined when nothing is. */
export function rangeProblem(text: string): string | undefined {
  const isRange = ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text);
  return isRange ? undefined : `"${text}" is not a range of addresses such as 10.0.0.0/8 or fd00::/8`;
}

export type SourceFilter = (addresses: readonly string[]) => boolean;

/** Whether one of the addresses of a client is in one of the ranges; all are, without ranges (C16). */
export function sourceFilter(ranges: readonly string[]): SourceFilter {
  if (ranges.length === 0) return () => true;
  const parsed = ranges.map((range) => ipaddr.parseCIDR(range));
  return (addresses) =>
    addresses.some((text) => {
      const address = ipaddr.process(text);
      // Addresses of one kind cannot be compared with those of the other.
      return parsed.some((range) => range[0].kind() === address.kind() && address.match(range));
    });
}
