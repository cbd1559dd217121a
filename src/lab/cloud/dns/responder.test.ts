import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, decode, encode, type Packet, type Question } from 'dns-packet';
import { fuzzedAnswers } from '../../../../test/support/dns-fuzz.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import type { RecordSet } from './record-set.ts';
import { Responder } from './responder.ts';
import { Rotation } from './rotation.ts';
import { zoneOf } from './zone.ts';

const many = Array.from({ length: 60 }, (_, at) => `10.0.1.${at}`);
const zone = zoneOf({
  name: 'example.test',
  serial: 3,
  recordSets: [
    { name: 'www.example.test', type: 'A', ttl: 30, values: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] },
    { name: 'mail.example.test', type: 'A', ttl: 30, values: ['10.0.0.8', '10.0.0.9'] },
    { name: 'many.example.test', type: 'A', ttl: 30, values: many },
    { name: '*.apps.example.test', type: 'A', ttl: 30, values: ['10.0.0.4'] },
    {
      name: 'huge.example.test',
      type: 'TXT',
      ttl: 30,
      values: Array.from({ length: 30 }, (_, at) => `${at} ${'x'.repeat(1500)}`),
    },
  ],
});

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
const rcodeOf = (packet: Buffer): string => RCODES[packet.readUInt8(3) & 0xf] ?? 'other';

const optionRecord = (udpPayloadSize: number, ednsVersion = 0): Answer => ({
  type: 'OPT',
  name: '.',
  udpPayloadSize,
  extendedRcode: 0,
  ednsVersion,
  flags: 0,
  flag_do: false,
  options: [],
});

const queryFor = (question: Question, more: Partial<Packet> = {}): Buffer =>
  encode({ id: 0x1234, flags: 0x100, questions: [question], ...more });

async function replyTo(
  packet: Buffer,
  transport: 'udp' | 'tcp' = 'udp',
  responder = new Responder({ log: SILENT_LOG, zones: () => [zone] }),
) {
  const reply = await responder.respond(packet, transport);
  assert.ok(reply !== undefined);
  return reply;
}

const dataOf = (reply: Buffer) =>
  (decode(reply).answers ?? []).map((answer) => ('data' in answer ? answer.data : undefined));

describe('responder', () => {
  it('lab/C23: answers with authority, without offering recursion, and says what was asked', async () => {
    const reply = decode(await replyTo(queryFor({ name: 'www.example.test', type: 'A' })));
    assert.equal(reply.id, 0x1234);
    assert.deepEqual([reply.flag_qr, reply.flag_aa, reply.flag_rd, reply.flag_ra], [true, true, true, false]);
    assert.deepEqual(reply.questions, [{ name: 'www.example.test', type: 'A', class: 'IN' }]);
  });

  it('lab/C23: keeps the spelling of the client', async () => {
    const reply = decode(await replyTo(queryFor({ name: 'wWw.ExAmPlE.tEsT', type: 'A' })));
    assert.equal(reply.questions?.[0]?.name, 'wWw.ExAmPlE.tEsT');
    assert.deepEqual(
      reply.answers?.map(({ name }) => name),
      Array(3).fill('wWw.ExAmPlE.tEsT'),
    );
  });

  it('lab/C23: repeats bytes that are no text, and takes a dot within a label for no border', async () => {
    const label = Buffer.from([3, 0xff, 0x2e, 0x41]);
    const plain = queryFor({ name: 'x.apps.example.test', type: 'A' });
    const packet = Buffer.concat([plain.subarray(0, 12), label, plain.subarray(14)]);
    const reply = await replyTo(packet);
    assert.deepEqual(reply.subarray(12, packet.length), packet.subarray(12));
    assert.deepEqual(dataOf(reply), ['10.0.0.4']);
    const within = Buffer.concat([
      plain.subarray(0, 12),
      Buffer.from('\x10www.example.test\0\0\x01\0\x01', 'latin1'),
    ]);
    assert.equal(rcodeOf(await replyTo(within)), 'REFUSED');
  });

  it('lab/C23: refuses names of others', async () => {
    assert.equal(rcodeOf(await replyTo(queryFor({ name: 'example.invalid', type: 'A' }))), 'REFUSED');
    assert.equal(rcodeOf(await replyTo(queryFor({ name: '.', type: 'NS' }))), 'REFUSED');
  });

  it('lab/C23: passes names of others on when told to, unless no recursion is desired', async () => {
    const answer = Buffer.from('the answer');
    const responder = new Responder({ log: SILENT_LOG, zones: () => [zone], forward: async () => answer });
    const foreign: Question = { name: 'example.invalid', type: 'A' };
    assert.equal(await replyTo(queryFor(foreign), 'udp', responder), answer);
    assert.equal(rcodeOf(await replyTo(queryFor(foreign, { flags: 0 }), 'udp', responder)), 'REFUSED');
    const own = decode(await replyTo(queryFor({ name: 'www.example.test', type: 'A' }), 'udp', responder));
    assert.deepEqual([own.flag_aa, own.flag_ra], [true, true]);
    const vain = new Responder({ log: SILENT_LOG, zones: () => [zone], forward: async () => undefined });
    assert.equal(rcodeOf(await replyTo(queryFor(foreign), 'udp', vain)), 'SERVFAIL');
  });

  it('lab/C25: puts the SOA beside an answer that there is nothing', async () => {
    for (const [name, rcode] of [
      ['nothing.example.test', 'NXDOMAIN'],
      ['apps.example.test', 'NOERROR'],
    ] as const) {
      const packet = await replyTo(queryFor({ name, type: 'A' }));
      const { answers, authorities } = decode(packet);
      assert.equal(rcodeOf(packet), rcode);
      assert.deepEqual(answers, []);
      const [soa] = authorities ?? [];
      assert.ok(soa?.type === 'SOA');
      assert.deepEqual([soa.name, soa.ttl, soa.data.minimum, soa.data.serial], ['example.test', 5, 5, 3]);
    }
  });

  const sizes = [
    { it: 'at 512 bytes without extensions', edns: undefined, isCut: true },
    { it: 'at 512 bytes for a client that asks for less', edns: 100, isCut: true },
    { it: 'not for a client that takes 1232 bytes', edns: 1232, isCut: false },
    { it: 'not for a client that takes more', edns: 4096, isCut: false },
  ];
  for (const { it: sentence, edns, isCut } of sizes)
    it(`lab/C26: cuts ${sentence}`, async () => {
      const additionals = edns === undefined ? [] : [optionRecord(edns)];
      const packet = await replyTo(queryFor({ name: 'many.example.test', type: 'A' }, { additionals }));
      const reply = decode(packet);
      assert.equal(reply.flag_tc, isCut);
      assert.equal(reply.answers?.length, isCut ? 0 : 60);
      assert.equal(
        reply.additionals?.some(({ type }) => type === 'OPT'),
        edns !== undefined,
      );
      assert.ok(packet.length <= (isCut ? 512 : 1232));
    });

  it('lab/C26: never sends more than 1232 bytes over UDP, and all of it over TCP', async () => {
    const packet = queryFor({ name: 'huge.example.test', type: 'TXT' }, { additionals: [optionRecord(65_535)] });
    assert.equal(decode(await replyTo(packet)).flag_tc, true);
    const whole = decode(await replyTo(packet, 'tcp'));
    assert.deepEqual([whole.flag_tc, whole.answers?.length], [false, 30]);
  });

  const broken: readonly { readonly it: string; readonly packet: Buffer; readonly rcode: string | undefined }[] = [
    { it: 'stays silent to nothing', packet: Buffer.alloc(0), rcode: undefined },
    { it: 'stays silent to one byte', packet: Buffer.from([1]), rcode: undefined },
    {
      it: 'stays silent to an answer',
      packet: encode({ id: 9, type: 'response', questions: [] }),
      rcode: undefined,
    },
    { it: 'stays silent to half an answer', packet: Buffer.from([0, 9, 0x80, 0]), rcode: undefined },
    { it: 'calls an identifier alone malformed', packet: Buffer.from([0, 9]), rcode: 'FORMERR' },
    { it: 'calls half a header malformed', packet: Buffer.from([0, 9, 1, 0, 0, 1]), rcode: 'FORMERR' },
    {
      it: 'calls a packet without question malformed',
      packet: encode({ id: 9, questions: [] }),
      rcode: 'FORMERR',
    },
    {
      it: 'calls two questions malformed',
      packet: encode({
        id: 9,
        questions: [
          { name: 'a', type: 'A' },
          { name: 'b', type: 'A' },
        ],
      }),
      rcode: 'FORMERR',
    },
    {
      it: 'calls half a question malformed',
      packet: queryFor({ name: 'www.example.test', type: 'A' }).subarray(0, 20),
      rcode: 'FORMERR',
    },
    {
      it: 'calls a pointer into the header malformed',
      packet: Buffer.from('000901000001000000000000c00000010001', 'hex'),
      rcode: 'FORMERR',
    },
    {
      it: 'calls two extensions malformed',
      packet: queryFor(
        { name: 'www.example.test', type: 'A' },
        { additionals: [optionRecord(512), optionRecord(512)] },
      ),
      rcode: 'FORMERR',
    },
    {
      it: 'calls what is longer than any question malformed',
      packet: Buffer.concat([queryFor({ name: 'www.example.test', type: 'A' }), Buffer.alloc(5000)]),
      rcode: 'FORMERR',
    },
    {
      it: 'refuses other classes',
      packet: queryFor({ name: 'www.example.test', type: 'A', class: 'CH' }),
      rcode: 'REFUSED',
    },
    {
      it: 'refuses any class',
      packet: queryFor({ name: 'www.example.test', type: 'A', class: 'ANY' }),
      rcode: 'REFUSED',
    },
    {
      it: 'refuses to hand out zones',
      packet: queryFor({ name: 'example.test', type: 'AXFR' }),
      rcode: 'REFUSED',
    },
    {
      it: 'does not know updates',
      packet: queryFor({ name: 'example.test', type: 'SOA' }, { flags: 5 << 11 }),
      rcode: 'NOTIMP',
    },
    {
      it: 'does not know notifications',
      packet: queryFor({ name: 'example.test', type: 'SOA' }, { flags: 4 << 11 }),
      rcode: 'NOTIMP',
    },
  ];
  for (const { it: sentence, packet, rcode } of broken)
    it(`lab/C26: ${sentence}`, async () => {
      const reply = await new Responder({ log: SILENT_LOG, zones: () => [zone] }).respond(packet, 'udp');
      assert.equal(reply && rcodeOf(reply), rcode);
      if (reply !== undefined) assert.deepEqual(reply.subarray(0, 2), packet.subarray(0, 2));
    });

  it('lab/C26: says which version of extensions it knows', async () => {
    const asked = queryFor({ name: 'www.example.test', type: 'A' }, { additionals: [optionRecord(1232, 1)] });
    const reply = decode(await replyTo(asked));
    const [option] = reply.additionals ?? [];
    assert.ok(option?.type === 'OPT');
    assert.deepEqual([option.extendedRcode, option.ednsVersion, reply.answers?.length], [1, 0, 0]);
  });

  it('lab/C26: gives each address of a set its turn, however questions are mixed', async () => {
    const responder = new Responder({ log: SILENT_LOG, zones: () => [zone] });
    const first = async (name: string) =>
      dataOf(await replyTo(queryFor({ name, type: 'A' }), 'udp', responder))[0];
    const seen: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      seen.push(await first('www.example.test'), await first('mail.example.test'));
      await replyTo(queryFor({ name: 'www.example.test', type: 'AAAA' }), 'udp', responder);
    }
    assert.deepEqual(seen, [
      '10.0.0.1',
      '10.0.0.8',
      '10.0.0.2',
      '10.0.0.9',
      '10.0.0.3',
      '10.0.0.8',
      '10.0.0.1',
      '10.0.0.9',
    ]);
  });

  it('lab/C26: forgets turns of sets that nobody asks for', () => {
    const rotation = new Rotation();
    const setOf = (at: number): RecordSet => ({ name: `n${at}`, type: 'A', ttl: 1, values: ['a', 'b'] });
    for (let at = 0; at < 3000; at++) rotation.turned(setOf(at));
    assert.deepEqual(rotation.turned(setOf(0)).values, ['a', 'b']);
    assert.deepEqual(rotation.turned(setOf(2999)).values, ['b', 'a']);
  });

  it('lab/C26: survives 10,000 broken packets and never mistakes one for another', async () => {
    const { problems, answered } = await fuzzedAnswers(10_000, 1);
    assert.deepEqual(problems, []);
    assert.ok(answered > 1000, `${answered} were answered`);
  });
});
