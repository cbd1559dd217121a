import { parentName } from './domain-name.ts';
import type { RecordSet, RecordType } from './record-set.ts';

/** Part of the name space that this server is responsible for. Names are canonical. */
export interface Zone {
  readonly name: string;
  readonly soa: RecordSet;
  /** What is at exactly this name; nothing at a name that only has others below it; undefined where there is no name. */
  at(name: string): readonly RecordSet[] | undefined;
}

export interface ZoneContent {
  readonly name: string;
  /** Grows with every change. */
  readonly serial: number;
  /** Canonical, all within the zone. */
  readonly recordSets: readonly RecordSet[];
}

/** Of all record sets that say nothing else. */
export const DEFAULT_TTL_SECONDS = 30;
/** How long others may remember that there is nothing: short, because labs change fast (C25). */
const NEGATIVE_TTL_SECONDS = 5;
const NAME_SERVER = 'ns.lab.internal';
const HOSTMASTER = 'hostmaster.lab.internal';
const TIMES = `3600 600 86400 ${NEGATIVE_TTL_SECONDS}`;

/** A zone whose records are known, with the SOA and NS that every zone has. */
export function zoneOf({ name, serial, recordSets }: ZoneContent): Zone {
  const soa = soaOf(name, serial);
  const server: RecordSet = { name, type: 'NS', ttl: DEFAULT_TTL_SECONDS, values: [NAME_SERVER] };
  const isServed = recordSets.some((set) => set.name === name && set.type === 'NS');
  const byName = new Map<string, RecordSet[]>();
  for (const set of [soa, ...(isServed ? [] : [server]), ...recordSets]) {
    byName.set(set.name, [...(byName.get(set.name) ?? []), set]);
    // A name with others below it exists, even if it has nothing itself.
    for (let above = parentName(set.name); above.length > name.length; above = parentName(above))
      if (!byName.has(above)) byName.set(above, []);
  }
  return { name, soa, at: (asked) => byName.get(asked) };
}

export interface ComputedZoneContent {
  readonly name: string;
  readonly serial: number;
  /** As `at` of a zone, for names below the apex. */
  readonly below: (name: string) => readonly RecordSet[] | undefined;
}

/** A zone whose records are found out when they are asked for, such as those of Services. */
export function computedZone({ name, serial, below }: ComputedZoneContent): Zone {
  const apex = zoneOf({ name, serial, recordSets: [] });
  return { ...apex, at: (asked) => (asked === name ? apex.at(name) : below(asked)) };
}

const soaOf = (name: string, serial: number): RecordSet => ({
  name,
  type: 'SOA',
  ttl: DEFAULT_TTL_SECONDS,
  // Serial numbers go round (RFC 1982).
  values: [`${NAME_SERVER} ${HOSTMASTER} ${serial % 2 ** 32} ${TIMES}`],
});

/** The SOA as it stands beside an answer that says that there is nothing (RFC 2308, section 3). */
export const negativeSoa = ({ soa }: Zone): RecordSet => ({
  ...soa,
  ttl: Math.min(soa.ttl, NEGATIVE_TTL_SECONDS),
});

export const ofType = (sets: readonly RecordSet[], type: RecordType): RecordSet | undefined =>
  sets.find((set) => set.type === type);
