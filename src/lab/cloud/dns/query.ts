import { decode } from 'dns-packet';
import { canonicalName } from './domain-name.ts';
import type { AskedType, Question, Rcode } from './lookup.ts';

/** Questions are short; what is longer costs time and is no question. */
export const LONGEST_QUERY_BYTES = 4096;
const HEADER_BYTES = 12;
const SHORTEST_RECORD_BYTES = 11;
const CLASS_IN = 1;
/** Transfers of whole zones are not questions about a name. */
const TRANSFERS: ReadonlySet<number> = new Set([251, 252]);
const TYPES: ReadonlyMap<number, AskedType> = new Map([
  [1, 'A'],
  [2, 'NS'],
  [5, 'CNAME'],
  [6, 'SOA'],
  [16, 'TXT'],
  [28, 'AAAA'],
  [33, 'SRV'],
  [255, 'ANY'],
]);

/** What every reply repeats of the packet it replies to. */
export interface QueryHead {
  readonly id: number;
  readonly opcode: number;
  readonly isRecursionDesired: boolean;
  /** The question as it was sent, with the spelling of the client; empty when there is none that can be repeated. */
  readonly rawQuestion: Buffer;
  /** What the client takes over UDP; undefined when it does not know extensions (RFC 6891). */
  readonly ednsBytes: number | undefined;
}

/** What a packet asks for, or why that cannot be answered. */
export type Query =
  | { readonly head: QueryHead; readonly question: Question }
  | { readonly head: QueryHead; readonly problem: Rcode };

/** Pure: what a packet says; undefined for one that must not be answered. Never throws (C26). */
export function readQuery(packet: Buffer): Query | undefined {
  if (packet.length < 2) return undefined;
  const flags = packet.length < 4 ? 0 : packet.readUInt16BE(2);
  // Answering an answer, two servers would never stop.
  if ((flags & 0x8000) !== 0) return undefined;
  const head: QueryHead = {
    id: packet.readUInt16BE(0),
    opcode: (flags >> 11) & 0xf,
    isRecursionDesired: (flags & 0x0100) !== 0,
    rawQuestion: Buffer.alloc(0),
    ednsBytes: undefined,
  };
  const isWhole = packet.length >= HEADER_BYTES && packet.length <= LONGEST_QUERY_BYTES;
  if (isWhole && head.opcode !== 0) return { head, problem: 'NOTIMP' };
  const parts = isWhole ? partsOf(packet) : undefined;
  return parts === undefined ? { head, problem: 'FORMERR' } : queryOf(head, parts);
}

function queryOf(bare: QueryHead, { asked, edns }: Parts): Query {
  const head = { ...bare, rawQuestion: asked.raw, ednsBytes: edns?.bytes };
  if (edns !== undefined && edns.version !== 0) return { head, problem: 'BADVERS' };
  if (asked.class !== CLASS_IN || TRANSFERS.has(asked.type)) return { head, problem: 'REFUSED' };
  return { head, question: { name: asked.name, type: TYPES.get(asked.type) ?? 'other' } };
}

interface Edns {
  readonly bytes: number;
  readonly version: number;
}

interface Parts {
  readonly asked: RawQuestion;
  readonly edns: Edns | undefined;
}

/** Undefined for a packet that is not well formed. */
function partsOf(packet: Buffer): Parts | undefined {
  const whole = hasPossibleCounts(packet) ? decoded(packet) : undefined;
  if (whole === undefined) return undefined;
  const asked = rawQuestion(packet);
  const [option, ...others] = (whole.additionals ?? []).filter((record) => record.type === 'OPT');
  if (asked === undefined || others.length > 0 || (option !== undefined && option.name !== '.')) return undefined;
  return {
    asked,
    edns: option && { bytes: option.udpPayloadSize, version: option.ednsVersion },
  };
}

/** The library makes room for as many records as a packet claims to have before it looks. */
function hasPossibleCounts(packet: Buffer): boolean {
  const [questions, ...others] = [4, 6, 8, 10].map((at) => packet.readUInt16BE(at));
  const records = others.reduce((sum, count) => sum + count, 0);
  return questions === 1 && records <= packet.length / SHORTEST_RECORD_BYTES;
}

function decoded(packet: Buffer): ReturnType<typeof decode> | undefined {
  try {
    return decode(packet);
  } catch {
    // Whatever is wrong with it, the client is told that it cannot be read.
    return undefined;
  }
}

interface RawQuestion {
  readonly raw: Buffer;
  readonly name: string;
  readonly type: number;
  readonly class: number;
}

/** Read once more, byte by byte: the library takes a dot within a label for the end of the label, and bytes for UTF-8. */
function rawQuestion(packet: Buffer): RawQuestion | undefined {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = packet.readUInt8(at); length !== 0; length = packet.readUInt8(at)) {
    // A pointer in the first name could only lead into the header.
    if (length > 63) return undefined;
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  // No stored name holds this character, so a dot within a label never looks like one between labels.
  const name = canonicalName(labels.map((label) => label.replaceAll('.', '\u{100}')).join('.'));
  return {
    raw: packet.subarray(HEADER_BYTES, at + 5),
    name,
    type: packet.readUInt16BE(at + 1),
    class: packet.readUInt16BE(at + 3),
  };
}
