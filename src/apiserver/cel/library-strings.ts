import { goQuote } from '../../object/validation/go-text.ts';
import { global, member, type Overload } from './function.ts';
import { trimSpace } from './go-text.ts';
import { bySize } from './library-operators.ts';
import { formatString } from './string-format.ts';
import { BOOL, DYN, INT, listOf, STRING } from './type.ts';
import { CelError, CelList, codePointLength, shown, sizeOf, type Value } from './value.ts';

const outOfRange = (index: bigint): CelError => new CelError(`index out of range: ${index}`);

/** Strings count code points; without surrogates those are the UTF-16 units. */
const isSimple = (text: string): boolean => codePointLength(text) === text.length;

/** The offset in UTF-16 units of a code point. */
function unitOffset(text: string, index: number): number {
  if (isSimple(text)) return index;
  let offset = 0;
  for (let count = 0; count < index; count++) offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  return offset;
}

const codePointIndex = (text: string, offset: number): bigint =>
  BigInt(offset < 0 || isSimple(text) ? offset : codePointLength(text.slice(0, offset)));

function charAt(text: string, index: bigint): string {
  if (index < 0n || index > codePointLength(text)) throw outOfRange(index);
  const code = text.codePointAt(unitOffset(text, Number(index)));
  return code === undefined ? '' : String.fromCodePoint(code);
}

function indexOf(text: string, part: string, from = 0n): bigint {
  if (part === '') return from;
  if (from < 0n) throw outOfRange(from);
  if (from >= codePointLength(text)) return -1n;
  return codePointIndex(text, text.indexOf(part, unitOffset(text, Number(from))));
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const length = codePointLength(text);
  if (part === '') return from ?? BigInt(length);
  const start = from ?? BigInt(length - 1);
  if (from !== undefined && start < 0n) throw outOfRange(start);
  if (start < 0n || start >= length) return -1n;
  return codePointIndex(text, text.lastIndexOf(part, unitOffset(text, Number(start))));
}

function substring(text: string, start: bigint, end?: bigint): string {
  const length = codePointLength(text);
  if (end !== undefined && start > end) {
    throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0n || start > length) throw outOfRange(start);
  if (end !== undefined && end > length) throw outOfRange(end);
  return text.slice(
    unitOffset(text, Number(start)),
    end === undefined ? undefined : unitOffset(text, Number(end)),
  );
}

/** Go's strings.Replace: a negative limit means all, an empty `old` matches before every letter and at the end. */
function replace(text: string, old: string, fresh: string, limit = -1n): string {
  if (limit < 0n) return text.replaceAll(old === '' ? /(?:)/gu : old, () => fresh);
  const pieces = splitN(text, old, limit + 1n);
  if (old !== '') return limit === 0n ? text : pieces.join(fresh);
  let left = limit;
  return text.replace(/(?:)/gu, () => (left-- > 0n ? fresh : ''));
}

/** Go's strings.SplitN: 0 gives nothing, a negative limit all; an empty separator splits into letters. */
function splitN(text: string, separator: string, limit = -1n): string[] {
  if (limit === 0n) return [];
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  const count = Number(limit);
  if (limit < 0n || parts.length <= count) return parts;
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}

const lower = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
const upper = (text: string): string => text.replace(/[a-z]+/g, (part) => part.toUpperCase());

function join(list: CelList, separator = ''): string {
  const parts = list.values().map((item) => {
    if (typeof item !== 'string') throw new CelError(`join: invalid input: ${shown(item)}`);
    return item;
  });
  return parts.join(separator);
}

const containsCost = ([text = null, part = null]: readonly Value[]): number =>
  Math.ceil(sizeOf(text) * 0.1) * Math.ceil(sizeOf(part) * 0.1);
const joinCost = (_: readonly Value[], result: Value): number => Math.ceil(sizeOf(result) * 0.2);
const scan = { cost: bySize() };

export const strings: readonly Overload[] = [
  member('contains', [STRING, STRING], BOOL, { call: (text, part) => text.includes(part), cost: containsCost }),
  member('startsWith', [STRING, STRING], BOOL, { call: (text, part) => text.startsWith(part), cost: bySize() }),
  member('endsWith', [STRING, STRING], BOOL, { call: (text, part) => text.endsWith(part), cost: bySize() }),
  member('charAt', [STRING, INT], STRING, { call: charAt }),
  member('indexOf', [STRING, STRING], INT, { call: (text, part) => indexOf(text, part), ...scan }),
  member('indexOf', [STRING, STRING, INT], INT, { call: indexOf, ...scan }),
  member('lastIndexOf', [STRING, STRING], INT, { call: (text, part) => lastIndexOf(text, part), ...scan }),
  member('lastIndexOf', [STRING, STRING, INT], INT, { call: lastIndexOf, ...scan }),
  member('lowerAscii', [STRING], STRING, { call: lower, ...scan }),
  member('upperAscii', [STRING], STRING, { call: upper, ...scan }),
  member('trim', [STRING], STRING, { call: trimSpace, ...scan }),
  member('substring', [STRING, INT], STRING, { call: (text, start) => substring(text, start), ...scan }),
  member('substring', [STRING, INT, INT], STRING, { call: substring, ...scan }),
  member('replace', [STRING, STRING, STRING], STRING, {
    call: (text, old, fresh) => replace(text, old, fresh),
    cost: bySize(2),
  }),
  member('replace', [STRING, STRING, STRING, INT], STRING, { call: replace, cost: bySize(2) }),
  member('split', [STRING, STRING], listOf(STRING), {
    call: (text, separator) => new CelList(splitN(text, separator)),
    cost: bySize(2),
  }),
  member('split', [STRING, STRING, INT], listOf(STRING), {
    call: (text, separator, limit) => new CelList(splitN(text, separator, limit)),
    cost: bySize(2),
  }),
  member('join', [listOf(STRING)], STRING, { call: (list) => join(list), cost: joinCost }),
  member('join', [listOf(STRING), STRING], STRING, { call: join, cost: joinCost }),
  member('format', [STRING, listOf(DYN)], STRING, { call: formatString, cost: bySize() }),
  global('strings.quote', [STRING], STRING, { call: quote, cost: bySize() }),
];

const QUOTED = '"\\\u0007\b\f\n\r\t\v';

/** Like Go's %q, but other control characters stay as they are. */
function quote(text: string): string {
  const escaped = Array.from(text, (letter) => (QUOTED.includes(letter) ? goQuote(letter).slice(1, -1) : letter));
  return `"${escaped.join('')}"`;
}
