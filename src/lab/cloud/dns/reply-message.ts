import { type Answer, encode } from 'dns-packet';
import type { Rcode, Reply } from './lookup.ts';
import type { QueryHead } from './query.ts';
import { type RecordSet, recordData } from './record-set.ts';

const HEADER_BYTES = 12;
const PLAIN_UDP_BYTES = 512;
/** What passes everywhere without fragments. */
const LARGEST_UDP_BYTES = 1232;
const LARGEST_TCP_BYTES = 65_535;

const RCODES: Readonly<Record<Rcode, number>> = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  // Only its low bits fit into the header; the rest is in the extension.
  BADVERS: 16,
};
const FLAG = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
};
/** The name of the question, which begins after the header, as a pointer (RFC 1035, section 4.1.4). */
const POINTER_TO_QUESTION = Buffer.from([0xc0, HEADER_BYTES]);

export type DnsTransport = 'udp' | 'tcp';

export interface MessageOptions {
  readonly transport: DnsTransport;
  /** Canonical name of the question: records at it are spelled as the client did. */
  readonly askedName?: string;
  readonly isRecursionAvailable: boolean;
}

/** Pure: the packet for a reply; cut to nothing but a mark when the transport cannot carry it (C26). */
export function replyMessage(head: QueryHead, reply: Reply, options: MessageOptions): Buffer {
  const encodeAll = (sets: readonly RecordSet[]) => sets.flatMap((set) => recordsOf(set, options.askedName));
  const [answers, authorities, additionals] = [reply.answers, reply.authorities, reply.additionals].map(encodeAll);
  const extension = head.ednsBytes === undefined ? [] : [extensionOf(reply.rcode)];
  const sections: Sections = {
    answers: answers ?? [],
    authorities: authorities ?? [],
    additionals: [...(additionals ?? []), ...extension],
  };
  const limit = limitOf(head, options.transport);
  const whole = messageOf(head, sections, flagsOf(head, reply, options));
  if (whole.length <= limit) return whole;
  const short = { answers: [], authorities: [], additionals: extension };
  return messageOf(head, short, flagsOf(head, reply, options) | FLAG.truncated);
}

function limitOf({ ednsBytes }: QueryHead, transport: DnsTransport): number {
  if (transport === 'tcp') return LARGEST_TCP_BYTES;
  return Math.max(PLAIN_UDP_BYTES, Math.min(ednsBytes ?? PLAIN_UDP_BYTES, LARGEST_UDP_BYTES));
}

interface Sections {
  readonly answers: readonly Buffer[];
  readonly authorities: readonly Buffer[];
  readonly additionals: readonly Buffer[];
}

function flagsOf(
  head: QueryHead,
  { rcode, isAuthoritative }: Reply,
  { isRecursionAvailable }: MessageOptions,
): number {
  return (
    FLAG.response |
    (head.opcode << 11) |
    (isAuthoritative ? FLAG.authoritative : 0) |
    (head.isRecursionDesired ? FLAG.recursionDesired : 0) |
    (isRecursionAvailable ? FLAG.recursionAvailable : 0) |
    (RCODES[rcode] & 0xf)
  );
}

function messageOf(head: QueryHead, { answers, authorities, additionals }: Sections, flags: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const questions = head.rawQuestion.length === 0 ? 0 : 1;
  const words = [head.id, flags, questions, answers.length, authorities.length, additionals.length];
  for (const [index, word] of words.entries()) header.writeUInt16BE(word, index * 2);
  return Buffer.concat([header, head.rawQuestion, ...answers, ...authorities, ...additionals]);
}

/** Each record of a set alone. The library writes no pointers, so records can be put together as they are. */
function recordsOf({ name, type, ttl, values }: RecordSet, askedName: string | undefined): Buffer[] {
  return values.map((value) => {
    const data = recordData(type, value);
    if (name !== askedName) return encoded({ ...data, name, ttl } as Answer);
    // The root is one byte; the pointer takes its place.
    return Buffer.concat([POINTER_TO_QUESTION, encoded({ ...data, name: '.', ttl } as Answer).subarray(1)]);
  });
}

const encoded = (record: Answer): Buffer => encode({ answers: [record] }).subarray(HEADER_BYTES);

const extensionOf = (rcode: Rcode): Buffer =>
  encoded({
    type: 'OPT',
    name: '.',
    udpPayloadSize: LARGEST_UDP_BYTES,
    extendedRcode: RCODES[rcode] >> 4,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  });
