import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AskedType, lookup, type Rcode, type Reply } from './lookup.ts';
import type { RecordSet, StoredType } from './record-set.ts';
import { type Zone, zoneOf } from './zone.ts';

const set = (name: string, type: StoredType, ...values: readonly string[]): RecordSet => ({
  name,
  type,
  ttl: 30,
  values,
});

const chainOf = (length: number): readonly RecordSet[] => [
  ...Array.from({ length }, (_, at) =>
    set(`hop-${length}-${at}.example.test`, 'CNAME', `hop-${length}-${at + 1}.Example.Test.`),
  ),
  set(`hop-${length}-${length}.example.test`, 'A', '10.0.0.9'),
];

const zones: readonly Zone[] = [
  zoneOf({
    name: 'example.test',
    serial: 7,
    recordSets: [
      set('example.test', 'TXT', 'apex'),
      set('www.example.test', 'A', '10.0.0.1', '10.0.0.2'),
      set('*.apps.example.test', 'A', '10.0.0.3'),
      set('console.apps.example.test', 'TXT', 'only text'),
      set('a.deep.apps.example.test', 'A', '10.0.0.4'),
      set('alias.example.test', 'CNAME', 'www.example.test'),
      set('far.example.test', 'CNAME', 'elsewhere.invalid'),
      set('lost.example.test', 'CNAME', 'nothing.example.test'),
      set('across.example.test', 'CNAME', 'web.other.test'),
      set('*.alias.example.test', 'CNAME', 'www.example.test'),
      set('loop-a.example.test', 'CNAME', 'loop-b.example.test'),
      set('loop-b.example.test', 'CNAME', 'loop-a.example.test'),
      set('self.example.test', 'CNAME', 'self.example.test'),
      ...chainOf(8),
      ...chainOf(9),
      set('given.example.test', 'NS', 'ns.given.example.test', 'ns.elsewhere.invalid'),
      set('ns.given.example.test', 'A', '10.0.0.53'),
      set('_http._tcp.example.test', 'SRV', '0 100 80 www.example.test'),
    ],
  }),
  zoneOf({ name: 'sub.example.test', serial: 1, recordSets: [set('x.sub.example.test', 'A', '10.0.1.1')] }),
  zoneOf({ name: 'other.test', serial: 1, recordSets: [set('web.other.test', 'A', '10.0.2.1')] }),
];

interface Row {
  readonly rule: string;
  readonly it: string;
  readonly name: string;
  readonly type: AskedType;
  readonly rcode: Rcode;
  /** `name TYPE value` of each answer. */
  readonly answers: readonly string[];
  readonly authorities?: readonly string[];
}

const SOA = 'example.test SOA 5';
const rows: readonly Row[] = [
  {
    rule: 'C23',
    it: 'gives all values of a set',
    name: 'www.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: ['www.example.test A 10.0.0.1', 'www.example.test A 10.0.0.2'],
  },
  {
    rule: 'C23',
    it: 'has an SOA at the apex',
    name: 'example.test',
    type: 'SOA',
    rcode: 'NOERROR',
    answers: ['example.test SOA ns.lab.internal hostmaster.lab.internal 7 3600 600 86400 5'],
  },
  {
    rule: 'C23',
    it: 'has name servers at the apex',
    name: 'example.test',
    type: 'NS',
    rcode: 'NOERROR',
    answers: ['example.test NS ns.lab.internal'],
  },
  {
    rule: 'C23',
    it: 'gives services',
    name: '_http._tcp.example.test',
    type: 'SRV',
    rcode: 'NOERROR',
    answers: ['_http._tcp.example.test SRV 0 100 80 www.example.test'],
  },
  {
    rule: 'C23',
    it: 'gives everything at a name that is asked for anything',
    name: 'example.test',
    type: 'ANY',
    rcode: 'NOERROR',
    answers: [
      'example.test SOA ns.lab.internal hostmaster.lab.internal 7 3600 600 86400 5',
      'example.test NS ns.lab.internal',
      'example.test TXT apex',
    ],
  },
  {
    rule: 'C23',
    it: 'answers from the nearest of nested zones',
    name: 'x.sub.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: ['x.sub.example.test A 10.0.1.1'],
  },
  {
    rule: 'C24',
    it: 'lets a wildcard stand for one label',
    name: 'shop.apps.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: ['shop.apps.example.test A 10.0.0.3'],
  },
  {
    rule: 'C24',
    it: 'lets a wildcard stand for several labels',
    name: 'a.b.c.apps.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: ['a.b.c.apps.example.test A 10.0.0.3'],
  },
  {
    rule: 'C24',
    it: 'finds the wildcard itself',
    name: '*.apps.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: ['*.apps.example.test A 10.0.0.3'],
  },
  {
    rule: 'C24',
    it: 'has no data for a type that the wildcard has not',
    name: 'shop.apps.example.test',
    type: 'TXT',
    rcode: 'NOERROR',
    answers: [],
    authorities: [SOA],
  },
  {
    rule: 'C24',
    it: 'uses no wildcard where the exact name has other types',
    name: 'console.apps.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: [],
    authorities: [SOA],
  },
  {
    rule: 'C24',
    it: 'uses no wildcard for a name with others below it',
    name: 'deep.apps.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: [],
    authorities: [SOA],
  },
  {
    rule: 'C24',
    it: 'uses no wildcard from above a name that exists',
    name: 'b.deep.apps.example.test',
    type: 'A',
    rcode: 'NXDOMAIN',
    answers: [],
    authorities: [SOA],
  },
  {
    rule: 'C24',
    it: 'does not let a wildcard stand for nothing',
    name: 'apps.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: [],
    authorities: [SOA],
  },
  {
    rule: 'C24',
    it: 'follows an alias',
    name: 'alias.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: [
      'alias.example.test CNAME www.example.test',
      'www.example.test A 10.0.0.1',
      'www.example.test A 10.0.0.2',
    ],
  },
  {
    rule: 'C24',
    it: 'follows an alias from a wildcard',
    name: 'x.alias.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: [
      'x.alias.example.test CNAME www.example.test',
      'www.example.test A 10.0.0.1',
      'www.example.test A 10.0.0.2',
    ],
  },
  {
    rule: 'C24',
    it: 'follows an alias into another zone',
    name: 'across.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: ['across.example.test CNAME web.other.test', 'web.other.test A 10.0.2.1'],
  },
  {
    rule: 'C24',
    it: 'ends at an alias that leads out of its zones',
    name: 'far.example.test',
    type: 'A',
    rcode: 'NOERROR',
    answers: ['far.example.test CNAME elsewhere.invalid'],
  },
  {
    rule: 'C24',
    it: 'says that the target of an alias does not exist',
    name: 'lost.example.test',
    type: 'A',
    rcode: 'NXDOMAIN',
    answers: ['lost.example.test CNAME nothing.example.test'],
    authorities: [SOA],
  },
  {
    rule: 'C24',
    it: 'does not follow an alias that is asked for',
    name: 'alias.example.test',
    type: 'CNAME',
    rcode: 'NOERROR',
    answers: ['alias.example.test CNAME www.example.test'],
  },
  {
    rule: 'C24',
    it: 'fails on two aliases in a circle',
    name: 'loop-a.example.test',
    type: 'A',
    rcode: 'SERVFAIL',
    answers: [],
  },
  {
    rule: 'C24',
    it: 'fails on an alias of itself',
    name: 'self.example.test',
    type: 'A',
    rcode: 'SERVFAIL',
    answers: [],
  },
  {
    rule: 'C25',
    it: 'says that a name does not exist',
    name: 'nothing.example.test',
    type: 'A',
    rcode: 'NXDOMAIN',
    answers: [],
    authorities: [SOA],
  },
  {
    rule: 'C25',
    it: 'says that there is no data of a type',
    name: 'www.example.test',
    type: 'AAAA',
    rcode: 'NOERROR',
    answers: [],
    authorities: [SOA],
  },
  {
    rule: 'C25',
    it: 'has no data of types that nobody can store',
    name: 'www.example.test',
    type: 'other',
    rcode: 'NOERROR',
    answers: [],
    authorities: [SOA],
  },
];

const told = (sets: readonly RecordSet[], of: (set: RecordSet) => readonly (string | number)[]) =>
  sets.flatMap((entry) => of(entry).map((value) => `${entry.name} ${entry.type} ${value}`));

const replyTo = (name: string, type: AskedType): Reply => {
  const reply = lookup(zones, { name, type });
  assert.ok(reply !== undefined, `${name} is in a zone`);
  return reply;
};

describe('lookup', () => {
  for (const { rule, it: sentence, name, type, rcode, answers, authorities = [] } of rows)
    it(`lab/${rule}: ${sentence}`, () => {
      const reply = replyTo(name, type);
      assert.equal(reply.rcode, rcode);
      assert.deepEqual(
        told(reply.answers, (entry) => entry.values),
        answers,
      );
      assert.deepEqual(
        told(reply.authorities, (entry) => [entry.ttl]),
        authorities,
      );
      assert.equal(reply.isAuthoritative, rcode !== 'SERVFAIL');
    });

  it('lab/C24: follows eight aliases and not nine', () => {
    assert.equal(replyTo('hop-8-0.example.test', 'A').answers.length, 9);
    assert.equal(replyTo('hop-9-0.example.test', 'A').rcode, 'SERVFAIL');
  });

  it('lab/C23: knows nothing of names outside its zones', () => {
    assert.equal(lookup(zones, { name: 'example.invalid', type: 'A' }), undefined);
    assert.equal(lookup(zones, { name: 'notexample.test', type: 'A' }), undefined);
    assert.equal(lookup(zones, { name: '', type: 'NS' }), undefined);
  });

  it('lab/C23: refers to the servers of a name that was given away, with their addresses', () => {
    const reply = replyTo('www.given.example.test', 'A');
    assert.equal(reply.isAuthoritative, false);
    assert.deepEqual(
      told(reply.authorities, ({ values }) => values),
      ['given.example.test NS ns.given.example.test', 'given.example.test NS ns.elsewhere.invalid'],
    );
    assert.deepEqual(
      told(reply.additionals, ({ values }) => values),
      ['ns.given.example.test A 10.0.0.53'],
    );
  });
});
