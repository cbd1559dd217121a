import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { describe, it } from 'node:test';
import {
  type Body,
  type CloudWorld,
  type CloudWorldOptions,
  cloudWorld,
} from '../../../../test/support/cloud-world.ts';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { SystemClock, VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { listening } from '../../address/listening.ts';
import { CloudZones, propagationDurations } from './cloud-zones.ts';
import { clusterZone } from './cluster-zone.ts';
import { type AskedType, lookup } from './lookup.ts';
import { startDns } from './start-dns.ts';

/** A cloud with DNS, and what its name server would tell. */
class DnsWorld implements AsyncDisposable {
  readonly world: CloudWorld;
  readonly zones: CloudZones;

  private constructor(world: CloudWorld, zones: CloudZones) {
    this.world = world;
    this.zones = zones;
  }

  static async open(options: CloudWorldOptions = {}): Promise<DnsWorld> {
    const zones = new CloudZones();
    return new DnsWorld(await cloudWorld({ ...options, kinds: zones.kinds }), zones);
  }

  /** With one zone that everybody knows. */
  static async withZone(options: CloudWorldOptions = {}): Promise<DnsWorld & { readonly zoneId: string }> {
    const dns = await DnsWorld.open(options);
    const zoneId = await dns.world.make('dns-zones', { name: 'Example.Test.' });
    await dns.world.pass(2000);
    return Object.assign(dns, { zoneId });
  }

  told(name: string, type: AskedType = 'A'): string {
    const reply = lookup(this.zones.list(), { name, type });
    const values = reply?.answers.flatMap((set) => set.values) ?? [];
    return values.length > 0 ? values.join(', ') : (reply?.rcode ?? 'not ours');
  }

  get serial(): number {
    return Number(this.told('example.test', 'SOA').split(' ')[2]);
  }

  /** The code of a refusal, or the status. */
  async tried(method: string, path: string, body?: Body): Promise<string> {
    const { status, error } = await this.world.ask(method, path, body === undefined ? {} : { body });
    const { code } = error;
    return typeof code === 'string' ? `${status} ${code}` : String(status);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}

const www = { name: 'WWW.example.test', type: 'A', values: ['10.0.0.1'] };
const TWO_SECONDS = { durations: propagationDurations(2000) };

interface Row {
  readonly rule: string;
  readonly it: string;
  readonly body: Body;
  readonly want: string;
}

const writes: readonly Row[] = [
  {
    rule: 'C24',
    it: 'a CNAME beside another type',
    body: { name: 'www.example.test', type: 'CNAME', values: ['x.test'] },
    want: '409 AlreadyExists',
  },
  {
    rule: 'C24',
    it: 'another type beside a CNAME',
    body: { name: 'alias.example.test', type: 'TXT', values: ['x'] },
    want: '409 AlreadyExists',
  },
  {
    rule: 'C24',
    it: 'a CNAME at the apex',
    body: { name: 'example.test', type: 'CNAME', values: ['x.test'] },
    want: '409 AlreadyExists',
  },
  {
    rule: 'C24',
    it: 'two targets of a CNAME',
    body: { name: 'a.example.test', type: 'CNAME', values: ['x.test', 'y.test'] },
    want: '400 InvalidArgument',
  },
  { rule: 'C24', it: 'the same set twice, in any spelling', body: www, want: '409 AlreadyExists' },
  {
    rule: 'C24',
    it: 'a wildcard within a name',
    body: { name: 'a.*.example.test', type: 'A', values: ['10.0.0.1'] },
    want: '400 InvalidArgument',
  },
  {
    rule: 'C23',
    it: 'a name outside the zone',
    body: { name: 'www.notexample.test', type: 'A', values: ['10.0.0.1'] },
    want: '400 InvalidArgument',
  },
  {
    rule: 'C23',
    it: 'a value of another type',
    body: { name: 'a.example.test', type: 'A', values: ['fd00::1'] },
    want: '400 InvalidArgument',
  },
  {
    rule: 'C23',
    it: 'a value twice',
    body: { name: 'a.example.test', type: 'A', values: ['10.0.0.1', '10.0.0.1'] },
    want: '400 InvalidArgument',
  },
  {
    rule: 'C23',
    it: 'no values',
    body: { name: 'a.example.test', type: 'A', values: [] },
    want: '400 InvalidArgument',
  },
  {
    rule: 'C23',
    it: 'values that are too long together',
    body: {
      name: 'a.example.test',
      type: 'TXT',
      values: ['1', '2', '3', '4', '5'].map((text) => text.repeat(4000)),
    },
    want: '400 InvalidArgument',
  },
  {
    rule: 'C23',
    it: 'an SOA',
    body: { name: 'example.test', type: 'SOA', values: ['x'] },
    want: '400 InvalidArgument',
  },
  { rule: 'C23', it: 'an unknown zone', body: { ...www, zoneId: 'zone-0' }, want: '404 NotFound' },
  {
    rule: 'C25',
    it: 'a life below nothing',
    body: { ...www, name: 'a.example.test', ttl: -1 },
    want: '400 InvalidArgument',
  },
];

describe('DNS of the cloud', () => {
  it('lab/C27: takes other texts for a change, whatever is in them', async () => {
    await using dns = await DnsWorld.withZone();
    const { world, zoneId } = dns;
    const body = { name: 'a.example.test', type: 'TXT', values: ['one\ntwo'], zoneId };
    const id = await world.make('record-sets', body);
    await world.pass(1);
    await world.ask('PATCH', `/v1/record-sets/${id}`, { body: { values: ['one', 'two'] } });
    await world.pass(1);
    assert.deepEqual((await world.look('record-sets', id))['values'], ['one', 'two']);
  });

  it('lab/C27: tells records as soon as they are in sync, which is at once', async () => {
    await using dns = await DnsWorld.withZone();
    const { world, zoneId } = dns;
    const id = await world.make('record-sets', { ...www, zoneId });
    await world.pass(1);
    assert.equal((await world.look('record-sets', id))['state'], 'insync');
    assert.equal(dns.told('www.example.test'), '10.0.0.1');
    assert.equal(lookup(dns.zones.list(), { name: 'www.example.test', type: 'A' })?.answers[0]?.ttl, 30);
  });

  it('lab/C27: tells nothing of a change before it has spread, and calls it in sync only then', async () => {
    await using dns = await DnsWorld.withZone(TWO_SECONDS);
    const { world, zoneId } = dns;
    const seen: unknown[] = [];
    const note = async (id: string) =>
      seen.push([(await world.look('record-sets', id))['state'], dns.told('www.example.test')]);
    const id = await world.make('record-sets', { ...www, zoneId });
    await world.pass(1900);
    await note(id);
    await world.pass(100);
    await note(id);
    await world.ask('PATCH', `/v1/record-sets/${id}`, { body: { values: ['10.0.0.2'] } });
    await world.pass(1900);
    await note(id);
    await world.pass(100);
    await note(id);
    await world.ask('DELETE', `/v1/record-sets/${id}`);
    await world.pass(1900);
    await note(id);
    await world.pass(100);
    assert.deepEqual(seen, [
      ['pending', 'NXDOMAIN'],
      ['insync', '10.0.0.1'],
      ['pending', '10.0.0.1'],
      ['insync', '10.0.0.2'],
      ['deleting', '10.0.0.2'],
    ]);
    assert.equal(dns.told('www.example.test'), 'NXDOMAIN');
    assert.equal(await dns.tried('GET', `/v1/record-sets/${id}`), '404 NotFound');
  });

  it('lab/C27: refuses a change while another one spreads, and a new set where one goes, for now', async () => {
    await using dns = await DnsWorld.withZone(TWO_SECONDS);
    const { world, zoneId } = dns;
    const id = await world.make('record-sets', { ...www, zoneId });
    const path = `/v1/record-sets/${id}`;
    const refused = await world.ask('PATCH', path, { body: { ttl: 60 } });
    assert.deepEqual(
      [refused.status, refused.error['code'], refused.error['retryable']],
      [409, 'IncorrectState', true],
    );
    assert.equal(await dns.tried('PATCH', path, { tags: { a: 'b' } }), '200');
    await world.pass(2000);
    assert.equal(await dns.tried('PATCH', path, { ttl: 60 }), '202');
    await world.ask('DELETE', path);
    const again = await world.ask('POST', '/v1/record-sets', { body: { ...www, zoneId } });
    assert.deepEqual([again.error['code'], again.error['retryable']], ['IncorrectState', true]);
    await world.pass(2000);
    assert.equal(await dns.tried('POST', '/v1/record-sets', { ...www, zoneId }), '202');
  });

  it('lab/C25: counts changes that have spread in the serial of the zone', async () => {
    await using dns = await DnsWorld.withZone(TWO_SECONDS);
    const { world, zoneId } = dns;
    const serials = [dns.serial];
    const id = await world.make('record-sets', { ...www, zoneId });
    serials.push(dns.serial);
    for (const [method, body] of [
      ['PATCH', { ttl: 60 }],
      ['DELETE', undefined],
    ] as const) {
      await world.pass(2000);
      serials.push(dns.serial);
      assert.equal((await world.look('dns-zones', zoneId))['serial'], dns.serial);
      await world.ask(method, `/v1/record-sets/${id}`, { body });
    }
    await world.pass(2000);
    assert.deepEqual([...serials, dns.serial], [1, 1, 2, 3, 4]);
    const never = await world.make('record-sets', { ...www, zoneId });
    await world.ask('DELETE', `/v1/record-sets/${never}`);
    await world.pass(4000);
    assert.equal(dns.serial, 4);
  });

  for (const { rule, it: sentence, body, want } of writes)
    it(`lab/${rule}: refuses ${sentence}`, async () => {
      await using dns = await DnsWorld.withZone();
      const { world, zoneId } = dns;
      await world.make('record-sets', { ...www, zoneId });
      await world.make('record-sets', {
        name: 'alias.example.test',
        type: 'CNAME',
        values: ['www.example.test'],
        zoneId,
      });
      assert.equal(await dns.tried('POST', '/v1/record-sets', { zoneId, ...body }), want);
    });

  it('lab/C24: refuses values of another type in a change, and keeps name, type and zone', async () => {
    await using dns = await DnsWorld.withZone();
    const id = await dns.world.make('record-sets', { ...www, zoneId: dns.zoneId });
    await dns.world.pass(1);
    for (const body of [
      { values: ['nothing'] },
      { type: 'TXT' },
      { name: 'x.example.test' },
      { zoneId: 'zone-1' },
    ])
      assert.equal(await dns.tried('PATCH', `/v1/record-sets/${id}`, body), '400 InvalidArgument');
  });

  it('lab/C23: has each zone once, takes only names, and keeps a zone with records', async () => {
    await using dns = await DnsWorld.withZone();
    assert.equal(await dns.tried('POST', '/v1/dns-zones', { name: 'EXAMPLE.test' }), '409 AlreadyExists');
    for (const name of ['', '*.test', 'a b', 'a..b'])
      assert.equal(await dns.tried('POST', '/v1/dns-zones', { name }), '400 InvalidArgument');
    const id = await dns.world.make('record-sets', { ...www, zoneId: dns.zoneId });
    assert.equal(await dns.tried('DELETE', `/v1/dns-zones/${dns.zoneId}`), '409 InUse');
    await dns.world.ask('DELETE', `/v1/record-sets/${id}`);
    await dns.world.pass(1);
    assert.equal(await dns.tried('DELETE', `/v1/dns-zones/${dns.zoneId}`), '202');
    await dns.world.pass(1);
    assert.equal(dns.told('example.test', 'SOA'), 'not ours');
    assert.equal(await dns.tried('POST', '/v1/record-sets', { ...www, zoneId: dns.zoneId }), '404 NotFound');
  });

  it('lab/C27: tells the same after a restart, and lets changes under way spread', async () => {
    await using directory = await scratchDirectory();
    const options = { ...TWO_SECONDS, directory: directory.path, clock: new VirtualClock() };
    let id = '';
    {
      await using dns = await DnsWorld.withZone(options);
      id = await dns.world.make('record-sets', { ...www, zoneId: dns.zoneId });
      await dns.world.pass(2000);
      await dns.world.ask('PATCH', `/v1/record-sets/${id}`, { body: { values: ['10.0.0.2'] } });
    }
    await using dns = await DnsWorld.open(options);
    assert.deepEqual([dns.told('www.example.test'), dns.serial], ['10.0.0.1', 2]);
    await dns.world.pass(2000);
    assert.deepEqual([dns.told('www.example.test'), dns.serial], ['10.0.0.2', 3]);
  });

  it('lab/C27: is told by a real name server beside the names of the lab', async () => {
    await using cloud = await DnsWorld.withZone();
    await cloud.world.make('record-sets', {
      name: '*.apps.example.test',
      type: 'A',
      values: ['10.0.0.7'],
      zoneId: cloud.zoneId,
    });
    await cloud.world.pass(1);
    const lab = clusterZone({
      domain: 'c1.lab.test',
      api: ['10.9.1.254'],
      apiInternal: ['10.9.1.254'],
      apps: ['10.9.128.9'],
    });
    await using dns = await startDns({
      network: { listen: listening },
      address: '127.9.53.9',
      ports: [0],
      zones: () => [...cloud.zones.list(), lab],
      real: new SystemClock(),
      log: SILENT_LOG,
    });
    const resolver = new Resolver({ timeout: 3000, tries: 2 });
    resolver.setServers(dns.endpoints.map(({ host, port }) => `${host}:${port}`));
    assert.deepEqual(await resolver.resolve4('shop.apps.example.test'), ['10.0.0.7']);
    for (const name of ['api.c1.lab.test', 'api-int.c1.lab.test'])
      assert.deepEqual(await resolver.resolve4(name), ['10.9.1.254']);
    assert.deepEqual(await resolver.resolve4('console.apps.c1.lab.test'), ['10.9.128.9']);
    await cloud.world.make('record-sets', { ...www, zoneId: cloud.zoneId });
    await cloud.world.pass(1);
    assert.deepEqual(await resolver.resolve4('www.example.test'), ['10.0.0.1']);
  });
});
