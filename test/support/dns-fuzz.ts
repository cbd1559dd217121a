import { decode, encode, type Packet } from 'dns-packet';
import { VirtualClock } from '../../src/base/clock.ts';
import { messageOf } from '../../src/base/errors.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { Responder } from '../../src/lab/cloud/dns/responder.ts';
import { type Zone, zoneOf } from '../../src/lab/cloud/dns/zone.ts';

/** A zone with a bit of everything. */
const fuzzZone: Zone = zoneOf({
  name: 'example.test',
  serial: 1,
  recordSets: [
    { name: 'www.example.test', type: 'A', ttl: 30, values: ['10.0.0.1', '10.0.0.2'] },
    { name: 'www.example.test', type: 'TXT', ttl: 30, values: ['text '.repeat(200)] },
    { name: '*.apps.example.test', type: 'A', ttl: 30, values: ['10.0.0.3'] },
    { name: 'alias.example.test', type: 'CNAME', ttl: 30, values: ['www.example.test'] },
    { name: 'given.example.test', type: 'NS', ttl: 30, values: ['ns.given.example.test'] },
  ],
});

const EDNS: NonNullable<Packet['additionals']> = [
  {
    type: 'OPT',
    name: '.',
    udpPayloadSize: 4096,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  },
];

const SEEDS: readonly Buffer[] = [
  encode({ id: 1, flags: 0x100, questions: [{ name: 'www.example.test', type: 'A' }] }),
  encode({ id: 2, questions: [{ name: 'a.b.apps.Example.test', type: 'AAAA' }], additionals: EDNS }),
  encode({ id: 3, questions: [{ name: 'www.example.test', type: 'TXT' }] }),
  encode({ id: 4, flags: 0x100, questions: [{ name: 'alias.example.test', type: 'A' }], additionals: EDNS }),
  encode({ id: 5, questions: [{ name: 'x.given.example.test', type: 'SRV' }] }),
  encode({
    id: 6,
    type: 'response',
    questions: [{ name: 'www.example.test', type: 'A' }],
    answers: [{ name: 'www.example.test', type: 'A', ttl: 1, data: '10.0.0.1' }],
  }),
];

/** A packet that once was a question, with some bytes changed, lost, repeated or made up. */
function mutated(random: () => number): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  const bytes = [...(SEEDS[below(SEEDS.length)] ?? [])];
  // Identifiers differ, so that an answer with a wrong one is noticed.
  bytes.splice(0, 2, below(256), below(256));
  for (let changes = below(8); changes > 0; changes--) {
    const at = below(bytes.length + 1);
    const made = Array.from({ length: below(6) }, () => below(256));
    const changed = [
      () => bytes.splice(at, 1, (bytes[at] ?? 0) ^ (1 << below(8))),
      () => bytes.splice(at, below(bytes.length)),
      () => bytes.splice(at, 0, ...made),
      () => bytes.splice(at, 0, ...bytes.slice(below(bytes.length), at)),
      () => bytes.splice(at, 2, 0xc0, below(64)),
    ];
    changed[below(changed.length)]?.();
  }
  return Buffer.from(bytes);
}

/** What is wrong with what is said to so many broken packets: one line each, with the packet. */
export async function fuzzedAnswers(count: number, seed: number) {
  const responder = new Responder({ log: SILENT_LOG, zones: () => [fuzzZone] });
  const clock = new VirtualClock({ seed });
  const problems: string[] = [];
  let answered = 0;
  for (let number = 0; number < count; number++) {
    const packet = mutated(() => clock.random());
    const transport = clock.random() < 0.5 ? 'udp' : 'tcp';
    const reply = await responder.respond(packet, transport).catch((error: unknown) => messageOf(error));
    if (reply !== undefined) answered++;
    const problem = problemOf(packet, reply, transport === 'udp' ? 1232 : 65_535);
    if (problem !== undefined) problems.push(`${problem}: ${packet.toString('hex')}`);
  }
  return { problems, answered };
}

const mustStaySilent = (packet: Buffer): boolean =>
  packet.length < 2 || (packet.length >= 4 && (packet.readUInt8(2) & 0x80) !== 0);

function problemOf(packet: Buffer, reply: Buffer | string | undefined, longest: number): string | undefined {
  if (typeof reply === 'string') return `threw ${reply}`;
  const isSilent = mustStaySilent(packet);
  if (reply === undefined) return isSilent ? undefined : 'no answer';
  return isSilent ? 'answered what is no question' : replyProblem(packet, reply, longest);
}

function replyProblem(packet: Buffer, reply: Buffer, longest: number): string | undefined {
  if (reply.length > longest) return `answered ${reply.length} bytes`;
  if (!reply.subarray(0, 2).equals(packet.subarray(0, 2))) return 'answered with another identifier';
  try {
    return decode(reply).flag_qr ? undefined : 'answered with a question';
  } catch (error) {
    return `answered what cannot be read (${messageOf(error)})`;
  }
}
