import { goFloat } from '../../object/validation/go-text.ts';
import { global, member, type Overload } from './function.ts';
import { parseGoDuration } from './go-text.ts';
import { bySize } from './library-operators.ts';
import { formatDuration, formatTimestamp, parseTimestamp } from './time-text.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  K,
  listOf,
  mapOf,
  STRING,
  T,
  TIMESTAMP,
  typeOfType,
  UINT,
  V,
} from './type.ts';
import {
  CelError,
  Duration,
  int64,
  MAX_INT,
  MIN_INT,
  sizeOf,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from './value.ts';

const unconvertible = (from: string, to: string): CelError =>
  new CelError(`type conversion error from '${from}' to '${to}'`);

function parseInt64(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw unconvertible('string', 'int');
  const value = BigInt(text.replace(/^\+/, ''));
  if (value > MAX_INT || value < MIN_INT) throw unconvertible('string', 'int');
  return value;
}

function parseUint(text: string): Uint {
  if (!/^\d+$/.test(text) || BigInt(text) >= 2n ** 64n) throw unconvertible('string', 'uint');
  return new Uint(BigInt(text));
}

function parseDouble(text: string): number {
  if (/^[+-]?(inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw unconvertible('string', 'double');
  const value = Number(text);
  if (!Number.isFinite(value)) throw unconvertible('string', 'double');
  return value;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

function parseBool(text: string): boolean {
  const value = BOOLEANS.get(text);
  if (value === undefined) throw unconvertible('string', 'bool');
  return value;
}

function truncated(value: number): bigint {
  // The largest double below 2^63 is far from it, so both bounds are exact.
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) throw new CelError('integer overflow');
  return BigInt(Math.trunc(value));
}

function truncatedUint(value: number): Uint {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) throw new CelError('unsigned integer overflow');
  return new Uint(BigInt(Math.trunc(value)));
}

function toDuration(text: string): Duration {
  const nanos = parseGoDuration(text);
  if (nanos === undefined) throw unconvertible('string', 'google.protobuf.Duration');
  return new Duration(nanos);
}

function toTimestamp(text: string): Timestamp {
  const parsed = parseTimestamp(text);
  if (parsed === undefined) throw unconvertible('string', 'google.protobuf.Timestamp');
  return new Timestamp(parsed.nanos, parsed.offset);
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

const NANOS = 1_000_000_000n;
const same = (name: string, type: CelType): Overload =>
  global(name, [type], type, { call: (value: Value) => value });

export const conversions: readonly Overload[] = [
  same('int', INT),
  global('int', [UINT], INT, { call: ({ value }) => int64(value) }),
  global('int', [DOUBLE], INT, { call: truncated }),
  global('int', [STRING], INT, { call: parseInt64 }),
  global('int', [TIMESTAMP], INT, { call: ({ nanos }) => (nanos - (((nanos % NANOS) + NANOS) % NANOS)) / NANOS }),
  global('int', [DURATION], INT, { call: ({ nanos }) => nanos }),
  same('uint', UINT),
  global('uint', [INT], UINT, { call: (value) => new Uint(value) }),
  global('uint', [DOUBLE], UINT, { call: truncatedUint }),
  global('uint', [STRING], UINT, { call: parseUint }),
  same('double', DOUBLE),
  global('double', [INT], DOUBLE, { call: Number }),
  global('double', [UINT], DOUBLE, { call: ({ value }) => Number(value) }),
  global('double', [STRING], DOUBLE, { call: parseDouble }),
  same('string', STRING),
  global('string', [BOOL], STRING, { call: String }),
  global('string', [INT], STRING, { call: String }),
  global('string', [UINT], STRING, { call: ({ value }) => String(value) }),
  global('string', [DOUBLE], STRING, { call: goFloat }),
  global('string', [BYTES], STRING, { call: utf8, cost: bySize() }),
  global('string', [TIMESTAMP], STRING, { call: formatTimestamp }),
  global('string', [DURATION], STRING, { call: formatDuration }),
  same('bytes', BYTES),
  global('bytes', [STRING], BYTES, { call: (text) => Buffer.from(text), cost: bySize() }),
  same('bool', BOOL),
  global('bool', [STRING], BOOL, { call: parseBool }),
  same('timestamp', TIMESTAMP),
  global('timestamp', [STRING], TIMESTAMP, { call: toTimestamp }),
  global('timestamp', [INT], TIMESTAMP, { call: (seconds) => new Timestamp(seconds * NANOS) }),
  same('duration', DURATION),
  global('duration', [STRING], DURATION, { call: toDuration }),
  // Upstream declares this and then cannot do it.
  global('duration', [INT], DURATION, {
    call: () => {
      throw unconvertible('int', 'google.protobuf.Duration');
    },
  }),
  global('type', [T], typeOfType(T), { call: (value: Value) => new TypeValue(typeNameOf(value)) }),
  ...[STRING, BYTES, listOf(T), mapOf(K, V)].flatMap((type) => {
    const implementation = { call: (value: Value) => BigInt(sizeOf(value)) };
    return [global('size', [type], INT, implementation), member('size', [type], INT, implementation)];
  }),
];
