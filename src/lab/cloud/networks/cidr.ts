import { isIPv4 } from 'node:net';
import { z } from 'zod';

/** A range of IPv4 addresses: the first one as a number, and how many bits they share. */
export interface Cidr {
  readonly first: number;
  readonly bits: number;
}

/** Undefined for what is none, and for one whose first address has bits beyond those that all share. */
export function parseCidr(text: string): Cidr | undefined {
  const [, address = '', bitsText = ''] = /^([\d.]+)\/(\d{1,2})$/.exec(text) ?? [];
  const bits = Number(bitsText);
  if (!isIPv4(address) || bits > 32) return undefined;
  const first = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return first % sizeOf(bits) === 0 ? { first, bits } : undefined;
}

const sizeOf = (bits: number): number => 2 ** (32 - bits);

const lastOf = ({ first, bits }: Cidr): number => first + sizeOf(bits) - 1;

export const isInside = (inner: Cidr, outer: Cidr): boolean =>
  inner.first >= outer.first && lastOf(inner) <= lastOf(outer);

/** Two ranges overlap only when one of them is inside the other. */
export const overlap = (a: Cidr, b: Cidr): boolean => isInside(a, b) || isInside(b, a);

export const cidrSchema = z
  .string()
  .refine((text) => parseCidr(text) !== undefined, 'must be a range of IPv4 addresses such as 10.0.4.0/22');
