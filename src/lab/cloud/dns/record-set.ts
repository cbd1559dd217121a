import { isIPv4, isIPv6 } from 'node:net';
import type { Answer } from 'dns-packet';
import { canonicalName, nameProblem } from './domain-name.ts';

/** What clients may store; every zone has its SOA and NS by itself. */
export const STORED_TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'SRV', 'NS'] as const;
export type StoredType = (typeof STORED_TYPES)[number];
export type RecordType = StoredType | 'SOA';

/** All records of one type at one name (RFC 2181, section 5). */
export interface RecordSet {
  /** Canonical. */
  readonly name: string;
  readonly type: RecordType;
  readonly ttl: number;
  /**
   * As people write them: an address, a name, a text, `priority weight port target`; for SOA
   * `mname rname serial refresh retry expire minimum`.
   */
  readonly values: readonly string[];
}

const LONGEST_TEXT_BYTES = 4096;
/** A text is sent in strings of at most so many bytes, and read as one. */
const LONGEST_STRING_BYTES = 255;
const SRV = /^(\d{1,5}) (\d{1,5}) (\d{1,5}) (\S+)$/;

/** What is wrong with a value, in words; undefined when nothing is. */
export function valueProblem(type: StoredType, value: string): string | undefined {
  switch (type) {
    case 'A':
      return isIPv4(value) ? undefined : `"${value}" is not an IPv4 address`;
    case 'AAAA':
      // An address with a zone says which interface of one machine is meant; others cannot use it.
      return isIPv6(value) && !value.includes('%') ? undefined : `"${value}" is not an IPv6 address`;
    case 'TXT':
      return Buffer.byteLength(value) <= LONGEST_TEXT_BYTES
        ? undefined
        : `a text has at most ${LONGEST_TEXT_BYTES} bytes`;
    case 'CNAME':
    case 'NS':
      return targetProblem(value);
    case 'SRV':
      return serviceProblem(value);
  }
}

function targetProblem(value: string): string | undefined {
  const name = canonicalName(value);
  const problem = name.startsWith('*') ? 'must not be a wildcard' : nameProblem(name);
  return problem === undefined ? undefined : `"${value}" cannot be a target: ${problem}`;
}

function serviceProblem(value: string): string | undefined {
  const [, priority, weight, port, target] = SRV.exec(value) ?? [];
  const isInRange = [priority, weight, port].every((number) => Number(number) <= 65_535);
  if (target === undefined || !isInRange) return `"${value}" is not "priority weight port target"`;
  return targetProblem(target);
}

type Data = Pick<Extract<Answer, { readonly data: unknown }>, 'type' | 'data'>;

/** One value in the form that the wire format takes. Throws for a value that `valueProblem` refuses. */
export function recordData(type: RecordType, value: string): Data {
  switch (type) {
    case 'A':
    case 'AAAA':
      return { type, data: value };
    case 'CNAME':
    case 'NS':
      return { type, data: value };
    case 'TXT':
      return { type, data: stringsOf(Buffer.from(value)) };
    case 'SRV': {
      const [priority, weight, port, target = ''] = value.split(' ');
      return {
        type,
        data: { priority: Number(priority), weight: Number(weight), port: Number(port), target },
      };
    }
    case 'SOA': {
      const [mname = '', rname = '', ...numbers] = value.split(' ');
      const [serial, refresh, retry, expire, minimum] = numbers.map(Number);
      return { type, data: { mname, rname, serial, refresh, retry, expire, minimum } };
    }
  }
}

const stringsOf = (text: Buffer): Buffer[] =>
  Array.from({ length: Math.max(1, Math.ceil(text.length / LONGEST_STRING_BYTES)) }, (_, index) =>
    text.subarray(index * LONGEST_STRING_BYTES, (index + 1) * LONGEST_STRING_BYTES),
  );
