import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lookup } from '../cloud/dns/lookup.ts';
import type { RecordSet } from '../cloud/dns/record-set.ts';
import { zoneOf } from '../cloud/dns/zone.ts';
import { labZones } from './lab-names.ts';

const clusters = [{ domain: 'c1.lab.internal', api: '127.9.1.254', nodes: () => ['127.9.1.1'] }];
const hosts = [
  { hostname: 'w-1.a.lab.internal', address: '127.9.2.1' },
  { hostname: 'w-1.b.lab.internal', address: '127.9.2.2' },
  { hostname: 'w-1.b.lab.internal', address: '127.9.2.3' },
  { hostname: 'w-1.c1.lab.internal', address: '127.9.2.4' },
  { hostname: 'api.c1.lab.internal', address: '127.9.2.5' },
  { hostname: 'apps.c1.lab.internal', address: '127.9.2.6' },
  { hostname: 'api.a.lab.internal', address: '127.9.2.7' },
];

interface Row {
  readonly it: string;
  /** What users have written: addresses by name, by zone. */
  readonly written?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Values or a code, by name below lab.internal. */
  readonly want: Readonly<Record<string, string>>;
}

const rows: readonly Row[] = [
  {
    it: 'are in a zone of their own where there is none',
    want: { 'w-1.a': '127.9.2.1', 'w-1.b': '127.9.2.2, 127.9.2.3', 'api.a': '127.9.2.7', 'w-2.a': 'NXDOMAIN' },
  },
  {
    it: 'are in the zone of a cluster that is called so, and leave it its own names',
    want: {
      'w-1.c1': '127.9.2.4',
      'api.c1': '127.9.1.254',
      'apps.c1': 'NOERROR',
      'x.apps.c1': '127.9.1.1',
      'w-2.c1': 'NXDOMAIN',
    },
  },
  {
    it: 'do not hide what has been written into a zone above',
    written: { 'lab.internal': { 'git.a.lab.internal': '127.9.9.1' } },
    want: { 'git.a': '127.9.9.1', 'w-1.a': '127.9.2.1', a: 'NOERROR', b: 'NOERROR', 'w-2.b': 'NXDOMAIN' },
  },
  {
    it: 'are not hidden by a zone that is called the same',
    written: { 'a.lab.internal': { 'git.a.lab.internal': '127.9.9.1' } },
    want: { 'git.a': '127.9.9.1', 'w-1.a': '127.9.2.1', 'w-1.b': '127.9.2.2, 127.9.2.3' },
  },
  {
    it: 'are not hidden by a zone for one of them',
    written: { 'w-1.a.lab.internal': { 'git.w-1.a.lab.internal': '127.9.9.1' } },
    want: { 'git.w-1.a': '127.9.9.1', 'w-1.a': '127.9.2.1', 'api.a': '127.9.2.7' },
  },
  {
    it: 'give way to what has been written at the same name',
    written: { 'a.lab.internal': { 'w-1.a.lab.internal': '127.9.9.1', 'git.api.a.lab.internal': '127.9.9.2' } },
    want: { 'w-1.a': '127.9.9.1', 'api.a': '127.9.2.7', 'git.api.a': '127.9.9.2' },
  },
  {
    it: 'take from a wildcard only their own names',
    written: { 'lab.internal': { '*.lab.internal': '127.9.9.1' } },
    want: { 'git.a': '127.9.9.1', a: '127.9.9.1', 'w-1.a': '127.9.2.1' },
  },
  {
    it: 'do not take the names of a cluster, not even from a zone that is called the same',
    written: { 'c1.lab.internal': { 'git.c1.lab.internal': '127.9.9.1' } },
    want: { 'git.c1': '127.9.9.1', 'w-1.c1': '127.9.2.4', 'api.c1': 'NXDOMAIN', 'apps.c1': 'NXDOMAIN' },
  },
];

const zonesOf = (written: Row['written'] = {}) =>
  Object.entries(written).map(([name, records]) => {
    const sets = Object.entries(records).map(([at, value]): RecordSet => {
      return { name: at, type: 'A', ttl: 30, values: [value] };
    });
    return zoneOf({ name, serial: 7, recordSets: sets });
  });

describe('host names of instances', () => {
  for (const { it: sentence, written, want } of rows)
    it(`lab/C13: ${sentence}`, () => {
      const zones = labZones(clusters, zonesOf(written), hosts);
      const told = (label: string): string => {
        const reply = lookup(zones, { name: `${label}.lab.internal`, type: 'A' });
        return reply?.answers.flatMap(({ values }) => values).join(', ') || (reply?.rcode ?? 'not ours');
      };
      const found = Object.fromEntries(Object.keys(want).map((label) => [label, told(label)]));
      assert.deepEqual(found, want);
    });

  it('lab/C13: do not change the apex of a zone that they are in', () => {
    const [before] = zonesOf({ 'a.lab.internal': {} });
    const zones = labZones([], zonesOf({ 'a.lab.internal': {} }), hosts.slice(0, 1));
    assert.deepEqual(
      zones.map((zone) => [zone.name, zone.at(zone.name)]),
      [['a.lab.internal', before?.at('a.lab.internal')]],
    );
    assert.deepEqual(labZones([], [], []), []);
  });
});
