import { goQuote } from '../../object/validation/go-text.ts';

/** An IPv4 or IPv6 address as a number of 32 or 128 bits. */
export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** The address, or why it is none, as Go's netip says it. */
export function parseAddress(text: string): Address | string {
  const problem = (detail: string): string => `ParseAddr(${goQuote(text)}): ${detail}`;
  const kind = /[.:%]/.exec(text)?.[0];
  if (kind === '.') {
    const value = parseV4(text);
    return typeof value === 'string' ? problem(value) : { bits: 32, value };
  }
  if (kind === ':') {
    const value = parseV6(text);
    return value === undefined ? problem('unable to parse IP') : { bits: 128, value };
  }
  return problem(kind === '%' ? 'missing IPv6 address' : 'unable to parse IP');
}

function parseV4(text: string): bigint | string {
  const fields = text.split('.');
  if (fields.some((field) => /[^0-9]/.test(field)))
    return `unexpected character (at ${goQuote(/[^0-9.].*/.exec(text)?.[0] ?? '')})`;
  if (fields.includes(''))
    return `IPv4 field must have at least one digit (at ${goQuote(text.slice(emptyField(fields)))})`;
  if (fields.some((field) => field.length > 1 && field.startsWith('0')))
    return 'IPv4 field has octet with leading zero';
  if (fields.some((field) => Number(field) > 255)) return 'IPv4 field has value >255';
  if (fields.length !== 4) return fields.length < 4 ? 'IPv4 address too short' : 'IPv4 address too long';
  return fields.reduce((value, field) => value * 256n + BigInt(field), 0n);
}

/** The offset of the first field that is empty. */
const emptyField = (fields: readonly string[]): number => {
  const before = fields.slice(0, fields.indexOf(''));
  return before.join('.').length + (before.length === 0 ? 0 : 1);
};

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = '', tail] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const left = groupsOf(Array.isArray(head) ? head : []);
  const right = groupsOf(tail ?? []);
  if (left === undefined || right === undefined) return undefined;
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...left, ...Array<number>(missing).fill(0), ...right];
  return groups.reduce((value, group) => value * 65536n + BigInt(group), 0n);
}

/** The last one may be an IPv4 address. */
function groupsOf(parts: readonly string[]): readonly number[] | undefined {
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes('.')) {
      const v4 = parseV4(part);
      if (typeof v4 === 'string') return undefined;
      groups.push(Number(v4 / 65536n), Number(v4 % 65536n));
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}

export function formatAddress({ bits, value }: Address): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - index * 16)) & 0xffffn));
  const { start, length } = longestZeros(groups);
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

function longestZeros(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
    start = Math.max(start, end - 1);
  }
  return best;
}

/** The part of the address that a prefix of so many bits leaves. */
export const maskedValue = ({ bits, value }: Address, length: number): bigint => {
  const shift = BigInt(bits - length);
  return (value >> shift) << shift;
};

export const isMapped = ({ bits, value }: Address): boolean => bits === 128 && value >> 32n === 0xffffn;
