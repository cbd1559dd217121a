import { isIPv4 } from 'node:net';
import { implicit, objectIdentifier, sequence, set, utf8String } from './der.ts';

const OID = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;

/** Who a certificate is for: one relative name per value, because Kubernetes reads each organisation as a group. */
export const distinguishedName = (organizations: readonly string[], commonName: string): Buffer =>
  sequence(
    ...organizations.map((organization) => relativeName(OID.organization, organization)),
    relativeName(OID.commonName, commonName),
  );

const relativeName = (type: string, value: string): Buffer =>
  set(sequence(objectIdentifier(type), utf8String(value)));

/** The names a server answers to, as the extension for subject alternative names holds them. Throws when an address is none. */
export const alternativeNames = (dnsNames: readonly string[], ipAddresses: readonly string[]): Buffer =>
  sequence(
    ...dnsNames.map((name) => implicit(2, Buffer.from(name, 'ascii'))),
    ...ipAddresses.map((address) => implicit(7, addressBytes(address))),
  );

const IPV6 = /^[\da-f]{0,4}(:[\da-f]{0,4}){2,7}$/i;

/** Four or sixteen bytes; throws when the text is no address. */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // Not isIPv6: its regular expression costs more to build than all certificates of a start.
  const [head = '', tail, ...more] = address.split('::');
  const groupsOf = (text: string) => text.split(':').filter((group) => group !== '');
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: missing }, () => '0'), ...after];
  if (!IPV6.test(address) || groups.length !== 8 || more.length > 0) {
    throw new Error(`${JSON.stringify(address)} is not an IP address`);
  }
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
