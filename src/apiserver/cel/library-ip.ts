import { goQuote } from '../../object/validation/go-text.ts';
import { OpaqueValue } from './equality.ts';
import { global, member, type Overload } from './function.ts';
import { type Address, formatAddress, isMapped, maskedValue, parseAddress } from './ip-address.ts';
import { bySize } from './library-operators.ts';
import { BOOL, INT, opaque, STRING } from './type.ts';
import { CelError, noSuchOverload } from './value.ts';

class Ip extends OpaqueValue {
  readonly typeName = 'net.IP';
  readonly address: Address;
  constructor(address: Address) {
    super();
    this.address = address;
  }

  equals({ address }: this): boolean {
    return address.bits === this.address.bits && address.value === this.address.value;
  }
}

class Cidr extends OpaqueValue {
  readonly typeName = 'net.CIDR';
  readonly address: Address;
  readonly length: number;
  constructor(address: Address, length: number) {
    super();
    this.address = address;
    this.length = length;
  }

  equals({ address, length }: this): boolean {
    return length === this.length && address.bits === this.address.bits && address.value === this.address.value;
  }
}

export const IP = opaque<Ip>('net.IP');
export const CIDR = opaque<Cidr>('net.CIDR');

function parseIp(text: string): Ip {
  const withoutZone = text.includes(':') ? text.replace(/%.+$/, '') : text;
  const address = parseAddress(withoutZone);
  if (typeof address === 'string') {
    throw new CelError(`IP Address ${goQuote(text)} parse error during conversion from string: ${address}`);
  }
  if (withoutZone !== text) throw new CelError(`IP address ${goQuote(text)} with zone value is not allowed`);
  if (isMapped(address)) throw new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new Ip(address);
}

function parseCidr(text: string): Cidr {
  const slash = text.lastIndexOf('/');
  const problem = (detail: string): CelError =>
    new CelError(`network address parse error during conversion from string: ${detail}`);
  const inner = (detail: string): CelError =>
    problem(
      `network address parse error during conversion from string: netip.ParsePrefix(${goQuote(text)}): ${detail}`,
    );
  if (slash < 0) throw inner("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if (typeof address === 'string') throw inner(address);
  const length = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(length)) throw inner(`bad bits after slash: ${goQuote(length)}`);
  if (Number(length) > address.bits) throw inner('prefix length out of range');
  if (isMapped(address)) throw problem(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new Cidr(address, Number(length));
}

const succeeds =
  (parse: (text: string) => unknown) =>
  (text: string): boolean => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };

const isIp = succeeds(parseIp);

const top = ({ bits, value }: Address, count: number): bigint => value >> BigInt(bits - count);
const isV4 = ({ bits }: Address): boolean => bits === 32;

const isLoopback = (address: Address): boolean =>
  isV4(address) ? top(address, 8) === 127n : address.value === 1n;
const isLinkLocalUnicast = (address: Address): boolean =>
  isV4(address) ? top(address, 16) === 0xa9fen : top(address, 10) === 0x3fan;
const isLinkLocalMulticast = (address: Address): boolean =>
  isV4(address) ? top(address, 24) === 0xe00000n : (top(address, 16) & 0xff0fn) === 0xff02n;
const isMulticast = (address: Address): boolean =>
  isV4(address) ? top(address, 4) === 0xen : top(address, 8) === 0xffn;
const isBroadcast = (address: Address): boolean => isV4(address) && address.value === 0xffffffffn;
const isUnspecified = ({ value }: Address): boolean => value === 0n;
const isGlobalUnicast = (address: Address): boolean =>
  ![isUnspecified, isBroadcast, isLoopback, isMulticast, isLinkLocalUnicast].some((test) => test(address));

const TESTS = { isUnspecified, isLoopback, isLinkLocalMulticast, isLinkLocalUnicast, isGlobalUnicast };

const contains = ({ address, length }: Cidr, other: Address): boolean =>
  other.bits === address.bits && maskedValue(other, length) === maskedValue(address, length);
const containsCidr = (outer: Cidr, inner: Cidr): boolean =>
  outer.length <= inner.length && contains(outer, inner.address);
/** Upstream loses why an argument is no address. */
function ipArgument(text: string): Address {
  if (!isIp(text)) throw noSuchOverload();
  return parseIp(text).address;
}

const formatCidr = ({ address, length }: Cidr): string => `${formatAddress(address)}/${length}`;

export const networks: readonly Overload[] = [
  global('ip', [STRING], IP, { call: parseIp, cost: bySize() }),
  global('isIP', [STRING], BOOL, { call: isIp, cost: bySize() }),
  global('ip.isCanonical', [STRING], BOOL, {
    call: (text) => formatAddress(parseIp(text).address) === text,
    cost: bySize(2),
  }),
  global('string', [IP], STRING, { call: ({ address }) => formatAddress(address) }),
  member('family', [IP], INT, { call: ({ address }) => (isV4(address) ? 4n : 6n) }),
  ...Object.entries(TESTS).map(([name, test]) =>
    member(name, [IP], BOOL, { call: ({ address }) => test(address) }),
  ),
  global('cidr', [STRING], CIDR, { call: parseCidr, cost: bySize() }),
  global('isCIDR', [STRING], BOOL, { call: succeeds(parseCidr), cost: bySize() }),
  global('string', [CIDR], STRING, { call: formatCidr }),
  member('containsIP', [CIDR, STRING], BOOL, { call: (cidr, ip) => contains(cidr, ipArgument(ip)) }),
  member('containsIP', [CIDR, IP], BOOL, { call: (cidr, ip) => contains(cidr, ip.address) }),
  member('containsCIDR', [CIDR, STRING], BOOL, { call: (cidr, other) => containsCidr(cidr, parseCidr(other)) }),
  member('containsCIDR', [CIDR, CIDR], BOOL, { call: containsCidr }),
  member('ip', [CIDR], IP, { call: ({ address }) => new Ip(address) }),
  member('prefixLength', [CIDR], INT, { call: ({ length }) => BigInt(length) }),
  member('masked', [CIDR], CIDR, {
    call: ({ address, length }) => new Cidr({ ...address, value: maskedValue(address, length) }, length),
  }),
];
