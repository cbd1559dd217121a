import { canonicalName, isWithin, parentName } from './domain-name.ts';
import type { RecordSet, RecordType } from './record-set.ts';
import { negativeSoa, ofType, type Zone } from './zone.ts';

export type Rcode = 'NOERROR' | 'FORMERR' | 'SERVFAIL' | 'NXDOMAIN' | 'NOTIMP' | 'REFUSED' | 'BADVERS';

/** What is said to a question. Names of sets are those of the question where the question's name is meant. */
export interface Reply {
  readonly rcode: Rcode;
  readonly isAuthoritative: boolean;
  readonly answers: readonly RecordSet[];
  readonly authorities: readonly RecordSet[];
  readonly additionals: readonly RecordSet[];
}

/** `ANY`: everything at the name. `other`: a type that nobody can store. */
export type AskedType = RecordType | 'ANY' | 'other';

export interface Question {
  /** Canonical. */
  readonly name: string;
  readonly type: AskedType;
}

const LONGEST_CHAIN = 8;

export const bareReply = (rcode: Rcode): Reply => ({
  rcode,
  isAuthoritative: false,
  answers: [],
  authorities: [],
  additionals: [],
});

/** Pure: the answer of an authoritative server (C23–C25); undefined for names outside all zones. */
export function lookup(zones: readonly Zone[], { name, type }: Question): Reply | undefined {
  const chain: RecordSet[] = [];
  const seen = new Set<string>();
  for (let asked = name; ; ) {
    const zone = zoneFor(zones, asked);
    // The target of an alias may be elsewhere: then the client goes on (RFC 1034, section 4.3.2).
    if (zone === undefined)
      return chain.length === 0 ? undefined : { ...bareReply('NOERROR'), answers: chain, isAuthoritative: true };
    const found = lookupIn(zone, asked, type);
    const target = found.alias === undefined ? undefined : targetOf(found.alias);
    if (found.alias === undefined || target === undefined)
      return { ...found.reply, answers: [...chain, ...found.reply.answers] };
    chain.push(found.alias);
    seen.add(asked);
    if (seen.has(target) || chain.length > LONGEST_CHAIN) return bareReply('SERVFAIL');
    asked = target;
  }
}

const targetOf = ({ values: [target] }: RecordSet): string | undefined =>
  target === undefined ? undefined : canonicalName(target);

/** The zone that answers for a name: the longest, and the first of those with the same name. */
export const zoneFor = (zones: readonly Zone[], name: string): Zone | undefined =>
  zones
    .filter((zone) => isWithin(name, zone.name))
    .reduce<Zone | undefined>(
      (best, zone) => (best === undefined || zone.name.length > best.name.length ? zone : best),
      undefined,
    );

interface Found {
  readonly reply: Reply;
  /** The name is another name of something else, which is to be looked up next. */
  readonly alias?: RecordSet;
}

function lookupIn(zone: Zone, name: string, type: AskedType): Found {
  const delegation = delegationAbove(zone, name);
  if (delegation !== undefined) return { reply: referral(zone, delegation) };
  const sets = zone.at(name) ?? wildcardAt(zone, name);
  if (sets === undefined) return { reply: negative(zone, 'NXDOMAIN') };
  const alias = ofType(sets, 'CNAME');
  const isAlias = alias !== undefined && type !== 'CNAME' && type !== 'ANY';
  const answers = sets.filter((set) => type === 'ANY' || set.type === type);
  if (!isAlias && answers.length === 0) return { reply: negative(zone, 'NOERROR') };
  return {
    reply: { ...bareReply('NOERROR'), isAuthoritative: true, answers },
    ...(isAlias && { alias }),
  };
}

const negative = (zone: Zone, rcode: Rcode): Reply => ({
  ...bareReply(rcode),
  isAuthoritative: true,
  authorities: [negativeSoa(zone)],
});

/**
 * What a name that does not exist gets from a wildcard: that of the nearest name above it that does exist (RFC 4592,
 * section 3.3), so a `*` stands for any number of labels, and not for what is below another name.
 */
function wildcardAt(zone: Zone, name: string): readonly RecordSet[] | undefined {
  let above = parentName(name);
  while (above.length > zone.name.length && zone.at(above) === undefined) above = parentName(above);
  const sets = zone.at(above === '' ? '*' : `*.${above}`);
  return sets?.map((set) => ({ ...set, name }));
}

/** The highest name below the apex that has been given to other servers, at the name or above it. */
function delegationAbove(zone: Zone, name: string): RecordSet | undefined {
  let found: RecordSet | undefined;
  for (let at = name; at.length > zone.name.length; at = parentName(at))
    found = ofType(zone.at(at) ?? [], 'NS') ?? found;
  return found;
}

/** Who knows more; with the addresses of these servers, as far as this zone has them. */
function referral(zone: Zone, servers: RecordSet): Reply {
  const hosts = servers.values.map(canonicalName).filter((host) => isWithin(host, zone.name));
  const glue = hosts.flatMap((host) => zone.at(host) ?? []).filter(({ type }) => type === 'A' || type === 'AAAA');
  return { ...bareReply('NOERROR'), authorities: [servers], additionals: glue };
}
