import { isJsonObject, type Json, type JsonObject, setKey } from './json.ts';
import { parseCarefully } from './json-careful.ts';
import { MAX_DEPTH, scanJson } from './json-scan.ts';
import { jsonSyntaxError } from './json-syntax.ts';

/**
 * Text that cannot be read. `syntax` is what no decoder accepts, `depth` our own limit (reliability D2), `number` a
 * number that no type of Go holds: upstream notices it only where the number is used.
 */
export class JsonProblem extends Error {
  readonly kind: 'syntax' | 'depth' | 'number';
  /** In YAML, from 1: for whoever must not show the message, which may quote the text. */
  readonly line: number | undefined;

  constructor(kind: 'syntax' | 'depth' | 'number', message: string, line?: number) {
    super(message);
    this.name = 'JsonProblem';
    this.kind = kind;
    this.line = line;
  }
}

export interface ParsedJson {
  readonly value: Json;
  /** The paths of keys that occur twice in their object; the last one counts. At most 100. */
  readonly duplicates: string[];
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Reads bytes as Go does: every byte that is not UTF-8 counts as U+FFFD, a byte order mark is not JSON. */
export const parseJsonBytes = (bytes: Uint8Array): ParsedJson => parse(decodeUtf8(bytes), () => bytes);

export const parseJson = (text: string): ParsedJson => parse(text, () => encoder.encode(text));

/** The text of bytes, with U+FFFD for each byte that is not UTF-8 (the web's decoder replaces several at once). */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return decodeLoosely(bytes);
  }
}

function decodeLoosely(bytes: Uint8Array): string {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; ) {
    const width = sequenceLength(bytes, at);
    if (width === 0) {
      if (start < at) parts.push(strictDecoder.decode(bytes.subarray(start, at)));
      parts.push('\ufffd');
      start = at + 1;
    }
    at += Math.max(width, 1);
  }
  parts.push(strictDecoder.decode(bytes.subarray(start)));
  return parts.join('');
}

/** The length of the UTF-8 sequence that starts here; 0 if none does. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (!isSecondByte(first, bytes[at + 1] ?? 0)) return 0;
  for (let index = 2; index < length; index++) {
    if (((bytes[at + index] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/** No overlong forms, no surrogates, nothing beyond U+10FFFF. */
function isSecondByte(first: number, second: number): boolean {
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}

function parse(text: string, bytesOf: () => Uint8Array): ParsedJson {
  const scan = scanJson(text);
  if (scan.tooDeepAt >= 0) throw tooDeep(encoder.encode(text.slice(0, scan.tooDeepAt)).length + 1);
  const parsed = valueOf(text, bytesOf);
  const { value, duplicates } =
    scan.mayHaveDuplicates || scan.hasLargeNumber
      ? parseCarefully(text, exactNumber)
      : { value: parsed, duplicates: [] };
  return { value: scan.hasSurrogateEscape ? wellFormed(value) : value, duplicates };
}

export const tooDeep = (byte: number): JsonProblem =>
  new JsonProblem('depth', `the request body is nested deeper than ${MAX_DEPTH} levels (at byte ${byte})`);

function valueOf(text: string, bytesOf: () => Uint8Array): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new JsonProblem('syntax', jsonSyntaxError(bytesOf()));
  }
}

const MOST_INT64 = 2n ** 63n - 1n;
const LEAST_INT64 = -(2n ** 63n);
const INTEGER = /^-?[0-9]+$/;

/** What upstream makes of a number: an integer as long as 64 bits hold it, else a float, else a problem. */
export function exactNumber(source: string): number | bigint {
  const value = Number(source);
  if (!Number.isFinite(value)) {
    throw new JsonProblem('number', `json: cannot unmarshal number ${source} into Go value of type float64`);
  }
  if (Number.isSafeInteger(value) || !INTEGER.test(source)) return value;
  const exact = BigInt(source);
  return exact <= MOST_INT64 && exact >= LEAST_INT64 ? exact : value;
}

/** Lone surrogates become U+FFFD, also in keys. */
function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) setKey(result, key.toWellFormed(), wellFormed(value[key] ?? null));
  return result;
}

export interface StringifyOptions {
  /** Two spaces per level, as upstream writes for people. */
  readonly pretty?: boolean;
}

export function stringifyJson(value: Json, { pretty = false }: StringifyOptions = {}): string {
  const indent = pretty ? 2 : undefined;
  try {
    return JSON.stringify(value, undefined, indent);
  } catch {
    // A bigint: so rare that trying first is cheaper than looking first.
    return JSON.stringify(value, rawBigint, indent);
  }
}

// Node 24 has it, the type library does not yet.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
const rawBigint = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? rawJSON(value.toString()) : value;

const SHOWN = 30;

/** The start of a body as the message about a body that cannot be read ends: text when it looks like JSON, else hex. */
export function summarizeBody(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const shown = bytes.subarray(0, SHOWN);
  const text = bytes[0] === 0x7b ? decodeUtf8(shown) : hexOf(shown);
  return bytes.length > SHOWN ? `${text} ...` : text;
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
