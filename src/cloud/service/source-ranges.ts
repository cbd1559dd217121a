import type { Service } from '../../api/generated/core-v1.ts';
import { userError } from '../../base/errors.ts';
import { isCidr } from '../../object/validation/formats-net.ts';

/** Who may connect, for Services that are older than `spec.loadBalancerSourceRanges`. */
export const SOURCE_RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges';

const EVERYBODY = '0.0.0.0/0';

/**
 * The networks that may connect to the balancer of a Service, each once and without bits behind its mask (S29). Throws a
 * userError for anything that is no CIDR: to leave it out would close or open the balancer to somebody.
 */
export function sourceRanges({ metadata, spec }: Service): readonly string[] {
  const { loadBalancerSourceRanges: ranges = [] } = spec;
  if (ranges.length > 0) return networks('spec.loadBalancerSourceRanges', ranges);
  const annotated = metadata.annotations?.[SOURCE_RANGES_ANNOTATION]?.trim() ?? '';
  const field = `metadata.annotations[${SOURCE_RANGES_ANNOTATION}]`;
  return networks(field, (annotated === '' ? EVERYBODY : annotated).split(','));
}

/** The ranges keep nobody out (S29). */
export const allowsEverybody = (ranges: readonly string[]): boolean => ranges.includes(EVERYBODY);

function networks(field: string, texts: readonly string[]): readonly string[] {
  return [
    ...new Set(
      texts.map((text) => {
        const network = networkOf(text.trim());
        if (network !== undefined) return network;
        const found = JSON.stringify(text.trim());
        throw userError('InvalidSourceRange', `${field} must hold CIDRs such as 10.0.0.0/8, not ${found}`);
      }),
    ),
  ];
}

/** `10.1.2.3/8` is the network `10.0.0.0/8`; undefined for anything that is no CIDR. */
function networkOf(cidr: string): string | undefined {
  if (!isCidr(cidr)) return undefined;
  const [address = '', length = ''] = cidr.split('/');
  const bits = Number(length);
  if (!address.includes(':')) return `${masked(address.split('.').map(Number), 8, bits).join('.')}/${bits}`;
  const groups = masked(groupsOf(address), 16, bits).map((group) => group.toString(16));
  // The parser of addresses in URLs also writes them, as RFC 5952 wants it.
  return `${new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)}/${bits}`;
}

/** Only the first `bits` bits of numbers that have `width` bits each. */
const masked = (parts: readonly number[], width: number, bits: number): readonly number[] =>
  parts.map((part, at) => {
    const kept = Math.min(width, Math.max(0, bits - at * width));
    return (part >> (width - kept)) << (width - kept);
  });

/** The eight groups of an IPv6 address, whose last two may be written as an IPv4 address. */
function groupsOf(address: string): readonly number[] {
  const [before = '', after] = dotsAsGroups(address).split('::');
  const numbers = (text = ''): readonly number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [head, tail] = [numbers(before), numbers(after)];
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}

const dotsAsGroups = (address: string): string =>
  address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_quad, ...bytes: readonly string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
