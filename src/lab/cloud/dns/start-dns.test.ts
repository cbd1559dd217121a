import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { decode, encode } from 'dns-packet';
import { SystemClock, VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import { listening } from '../../address/listening.ts';
import type { RecordSet } from './record-set.ts';
import { type Dns, type DnsOptions, startDns } from './start-dns.ts';
import { framed, framesOf } from './tcp-frames.ts';
import { computedZone, type Zone, zoneOf } from './zone.ts';

const ADDRESS = '127.9.53.1';
const recordSets: readonly RecordSet[] = [
  { name: 'example.test', type: 'NS', ttl: 60, values: ['ns.example.test'] },
  { name: 'www.example.test', type: 'A', ttl: 30, values: ['10.0.0.1', '10.0.0.2'] },
  { name: 'www.example.test', type: 'AAAA', ttl: 30, values: ['fd00::1'] },
  { name: 'www.example.test', type: 'TXT', ttl: 30, values: ['one', `long ${'x'.repeat(600)}`] },
  { name: 'alias.example.test', type: 'CNAME', ttl: 30, values: ['www.example.test'] },
  { name: '_web._tcp.example.test', type: 'SRV', ttl: 30, values: ['1 2 443 www.example.test'] },
  { name: '*.apps.example.test', type: 'A', ttl: 30, values: ['10.0.0.3'] },
  {
    name: 'many.example.test',
    type: 'A',
    ttl: 30,
    values: Array.from({ length: 200 }, (_, at) => `10.0.1.${at}`),
  },
];
const zone = zoneOf({ name: 'example.test', serial: 42, recordSets });

const start = (options: Partial<DnsOptions> = {}): Promise<Dns> =>
  startDns({
    network: { listen: listening },
    address: ADDRESS,
    ports: [0],
    zones: () => [zone],
    real: new SystemClock(),
    log: SILENT_LOG,
    ...options,
  });

function placeOf({ endpoints: [endpoint] }: Dns): Endpoint {
  assert.ok(endpoint !== undefined);
  return endpoint;
}

function resolverOf(dns: Dns): Resolver {
  const resolver = new Resolver({ timeout: 3000, tries: 2 });
  const { host, port } = placeOf(dns);
  resolver.setServers([`${host}:${port}`]);
  return resolver;
}

const query = (id: number, name: string) => encode({ id, flags: 0x100, questions: [{ name, type: 'A' }] });

/** Replies to packets, over one UDP socket, in the order they come. */
async function overUdp(at: Endpoint, packets: readonly Buffer[], expected: number): Promise<readonly Buffer[]> {
  await using socket = createSocket('udp4');
  const replies: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('message', (reply) => {
    if (replies.push(reply) === expected) resolve();
  });
  for (const packet of packets) socket.send(packet, at.port, at.host);
  await promise;
  return replies;
}

async function firstFrames(socket: Socket, count: number): Promise<readonly Buffer[]> {
  const frames: Buffer[] = [];
  for await (const frame of framesOf(socket.iterator({ destroyOnReturn: false }), 65_535))
    if (frames.push(Buffer.from(frame)) === count) break;
  return frames;
}

describe('DNS server', () => {
  it('lab/C23: is understood by another implementation', async () => {
    await using dns = await start();
    const resolver = resolverOf(dns);
    assert.deepEqual((await resolver.resolve4('www.example.test')).toSorted(), ['10.0.0.1', '10.0.0.2']);
    assert.deepEqual(await resolver.resolve6('WWW.example.test'), ['fd00::1']);
    assert.deepEqual(await resolver.resolveCname('alias.example.test'), ['www.example.test']);
    assert.deepEqual((await resolver.resolve4('alias.example.test')).length, 2);
    assert.deepEqual(await resolver.resolve4('a.b.apps.example.test', { ttl: true }), [
      { address: '10.0.0.3', ttl: 30 },
    ]);
    assert.deepEqual(await resolver.resolveNs('example.test'), ['ns.example.test']);
    const texts = (await resolver.resolveTxt('www.example.test')).map((strings) => strings.join(''));
    assert.deepEqual(texts, ['one', `long ${'x'.repeat(600)}`]);
    const [service] = await resolver.resolveSrv('_web._tcp.example.test');
    assert.deepEqual(
      [service?.priority, service?.weight, service?.port, service?.name],
      [1, 2, 443, 'www.example.test'],
    );
    const soa = await resolver.resolveSoa('example.test');
    assert.deepEqual([soa.serial, soa.minttl, soa.hostmaster], [42, 5, 'hostmaster.lab.internal']);
  });

  it('lab/C25: tells another implementation that there is nothing', async () => {
    await using dns = await start();
    const resolver = resolverOf(dns);
    await assert.rejects(resolver.resolve4('nothing.example.test'), { code: 'ENOTFOUND' });
    await assert.rejects(resolver.resolve6('a.apps.example.test'), { code: 'ENODATA' });
    await assert.rejects(resolver.resolve4('example.invalid'), { code: 'EREFUSED' });
  });

  it('lab/C26: gives over TCP what is too long for UDP', async () => {
    await using dns = await start();
    const [cut] = await overUdp(placeOf(dns), [query(1, 'many.example.test')], 1);
    assert.equal(cut && decode(cut).flag_tc, true);
    assert.equal((await resolverOf(dns).resolve4('many.example.test')).length, 200);
  });

  it('lab/C26: takes several questions over one connection, however they are cut', async () => {
    await using dns = await start();
    const ids = [11, 12, 13, 14, 15];
    const bytes = Buffer.concat(ids.map((id) => framed(query(id, 'many.example.test'))));
    const socket = connect({ ...placeOf(dns), noDelay: true });
    await once(socket, 'connect');
    for (const byte of bytes.subarray(0, 50)) socket.write(Buffer.from([byte]));
    // The last words of the client; the answers come all the same.
    socket.end(bytes.subarray(50));
    const frames = await firstFrames(socket, ids.length);
    assert.deepEqual(
      frames.map((frame) => decode(frame).id),
      ids,
    );
    assert.ok(frames.every((frame) => decode(frame).answers?.length === 200));
    socket.destroy();
  });

  it('lab/C26: answers a broken packet over TCP, and hangs up on one that is too long', async () => {
    await using dns = await start();
    const socket = connect(placeOf(dns));
    socket.write(framed(Buffer.from([0, 7, 1, 0, 9])));
    const [reply] = await firstFrames(socket, 1);
    assert.equal(reply?.readUInt16BE(0), 7);
    assert.equal((reply?.readUInt8(3) ?? 0) & 0xf, 1);
    socket.destroy();
    const second = connect(placeOf(dns));
    second.resume();
    second.write(Buffer.from([0xff, 0xff, 1, 2, 3]));
    await once(second, 'close');
  });

  it('lab/C26: lives on after broken packets, and answers each with its own identifier', async () => {
    await using dns = await start();
    const broken = Array.from({ length: 50 }, (_, id) =>
      query(id, 'www.example.test').subarray(0, 12 + (id % 14)),
    );
    const replies = await overUdp(placeOf(dns), [...broken, Buffer.alloc(1), query(99, 'www.example.test')], 51);
    const ids = replies.map((reply) => reply.readUInt16BE(0)).toSorted((a, b) => a - b);
    assert.deepEqual(ids, [...Array.from({ length: 50 }, (_, id) => id), 99]);
  });

  it('lab/C26: hangs up on a connection that says nothing for 10 s', async () => {
    const real = new VirtualClock();
    await using dns = await start({ real });
    const socket = connect(placeOf(dns));
    const closed = once(socket, 'close');
    socket.write(framed(query(1, 'www.example.test')));
    await once(socket, 'data');
    await real.advance(9_000);
    socket.write(framed(query(2, 'www.example.test')));
    await once(socket, 'data');
    await real.advance(9_000);
    assert.equal(socket.closed, false);
    await real.advance(1_000);
    await closed;
  });

  it('lab/C23: passes questions about other names on, over both transports', async () => {
    await using upstream = await start({ address: '127.9.53.2' });
    await using dns = await start({
      zones: () => [zoneOf({ name: 'own.test', serial: 1, recordSets: [] })],
      // Nobody listens at the first.
      forward: [{ host: '127.9.53.3', port: 9 }, placeOf(upstream)],
    });
    const resolver = resolverOf(dns);
    assert.equal((await resolver.resolve4('www.example.test')).length, 2);
    assert.equal((await resolver.resolve4('many.example.test')).length, 200);
    await assert.rejects(resolver.resolve4('x.own.test'), { code: 'ENOTFOUND' });
    await assert.rejects(resolver.resolve4('example.invalid'), { code: 'EREFUSED' });
  });

  it('lab/C23: says that it failed when those it passes questions on to stay silent', async () => {
    await using silent = createSocket('udp4');
    silent.bind(0, '127.9.53.4');
    await once(silent, 'listening');
    const real = new VirtualClock();
    const asked = once(silent, 'message');
    await using dns = await start({ real, forward: [{ host: '127.9.53.4', port: silent.address().port }] });
    const answer = overUdp(placeOf(dns), [query(5, 'example.invalid')], 1);
    await asked;
    await real.advance(2_000);
    const [reply] = await answer;
    assert.deepEqual([reply?.readUInt16BE(0), (reply?.readUInt8(3) ?? 0) & 0xf], [5, 2]);
  });

  it('says that it failed to compute a zone, and lives on', async () => {
    const bad: Zone = computedZone({
      name: 'bad.test',
      serial: 1,
      below: () => {
        throw new Error('planted');
      },
    });
    await using dns = await start({ zones: () => [bad, zone] });
    const replies = await overUdp(placeOf(dns), [query(1, 'x.bad.test'), query(2, 'www.example.test')], 2);
    assert.deepEqual(
      replies.map((reply) => [reply.readUInt16BE(0), reply.readUInt8(3) & 0xf]),
      [
        [1, 2],
        [2, 0],
      ],
    );
  });

  it('fails when its port is taken, and leaves nothing behind', async () => {
    await using other = createServer();
    await listening(other, { host: '127.9.53.5', port: 0 });
    const taken = other.address();
    assert.ok(taken !== null && typeof taken === 'object');
    await assert.rejects(start({ address: '127.9.53.5', ports: [0, taken.port] }), { code: 'EADDRINUSE' });
    await using udp = createSocket('udp4');
    udp.bind(0, '127.9.53.6');
    await once(udp, 'listening');
    const { port } = udp.address();
    await assert.rejects(start({ address: '127.9.53.6', ports: [port] }), { code: 'EADDRINUSE' });
    await using free = createServer();
    await listening(free, { host: '127.9.53.6', port });
  });
});
