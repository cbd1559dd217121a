import fc from 'fast-check';
import { COLLECTIONS, type FuzzRequest, JSON_TYPE, KINDS, objectNamed, type Requests } from './request.ts';

/** Names that mean something to JavaScript, to Kubernetes, or to nobody. */
export const hostileKey = fc.constantFrom(
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  'then',
  '',
  '.',
  '..',
  '/',
  '~0~1',
  '$patch',
  '$setElementOrder/containers',
  '$retainKeys',
  '$deleteFromPrimitiveList/finalizers',
  'f:spec',
  'k:{"name":"a"}',
  'metadata',
  'items',
  'kubernetes.io/enforce-mountable-secrets',
);

/** Pieces of JSON text, not values: what a parser must take apart itself. */
const hostileNumber = fc.constantFrom(
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '-9223372036854775809',
  '2147483647',
  '2147483648',
  '-2147483649',
  '1e400',
  '1e-400',
  '-0',
  '1.0',
  '1e2',
  '0x10',
  'NaN',
  '01',
  '.5',
  `1${'0'.repeat(400)}`,
  `0.${'1'.repeat(2000)}`,
);
const hostileText = fc.constantFrom(
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\ufeff"',
  '"\\u202e"',
  '"\\u200b"',
  '"e\\u0301"',
  '"\\x41"',
  '"unfinished',
  `"${'a'.repeat(20_000)}!"`,
  `"${'ab '.repeat(1300)}\\n"`,
  '"a\tb"',
  '"2026-02-30T25:00:00Z"',
  '"1Ki1"',
  '"99999999999999999999Ei"',
);
const nested = fc
  .tuple(fc.constantFrom(3, 100, 511, 512, 513, 9999, 10_001, 50_000), fc.constantFrom('[', '{"a":'))
  .map(([depth, open]) => `${open.repeat(depth)}1${(open === '[' ? ']' : '}').repeat(depth)}`);

export const jsonPiece = fc.oneof(
  { weight: 4, arbitrary: hostileNumber },
  { weight: 4, arbitrary: hostileText },
  { weight: 1, arbitrary: nested },
  { weight: 3, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 2, arbitrary: fc.constantFrom('null', 'true', '{}', '[]', '[null]', '{"__proto__":{"polluted":1}}') },
);

/** An object whose text was tampered with in one to three places. */
const tampered = fc
  .tuple(
    fc.constantFrom(...KINDS),
    fc.constantFrom('target', 'other', '__proto__', 'constructor'),
    fc.array(fc.tuple(fc.nat(), hostileKey, jsonPiece, fc.nat(3)), { minLength: 1, maxLength: 3 }),
  )
  .map(([kind, name, changes]) => {
    let text = JSON.stringify(objectNamed(kind, name));
    for (const [at, key, piece, way] of changes) text = tamper(text, at, { key, piece, way });
    return { kind, name, text };
  });

interface Change {
  readonly key: string;
  readonly piece: string;
  readonly way: number;
}

function tamper(text: string, at: number, { key, piece, way }: Change): string {
  if (way === 0)
    return replaceOne(text, /"[^"]*":("[^"]*"|\d+)/g, at, (member) => `${member},${JSON.stringify(key)}:${piece}`);
  if (way === 1) return replaceOne(text, /\{/g, at, () => `{${JSON.stringify(key)}:${piece},`);
  if (way === 2) return replaceOne(text, /:("[^"]*"|\d+|\{\}|\[\])/g, at, () => `:${piece}`);
  // The same member twice.
  return replaceOne(text, /"[^"]*":"[^"]*"/g, at, (member) => `${member},${member}`);
}

function replaceOne(text: string, pattern: RegExp, at: number, change: (found: string) => string): string {
  const found = [...text.matchAll(pattern)];
  const chosen = found[at % Math.max(found.length, 1)];
  if (chosen === undefined) return text;
  const [whole] = chosen;
  return text.slice(0, chosen.index) + change(whole) + text.slice(chosen.index + whole.length);
}

const broken = fc
  .tuple(tampered, fc.nat(), fc.nat(255), fc.nat(2))
  .map(([{ kind, name, text }, at, byte, way]) => {
    const bytes = Buffer.from(text);
    const place = at % bytes.length;
    if (way === 0) return { kind, name, text: bytes.subarray(0, place) };
    if (way === 1) bytes[place] = byte;
    return { kind, name, text: way === 2 ? Buffer.concat([bytes, bytes.subarray(place)]) : bytes };
  });

const written = (attack: string) => {
  return ([{ kind, name, text }, isPut, query]: readonly [
    { kind: (typeof KINDS)[number]; name: string; text: string | Buffer },
    boolean,
    string,
  ]): FuzzRequest => ({
    attack,
    method: isPut ? 'PUT' : 'POST',
    path: `${COLLECTIONS[kind]}${isPut ? `/${name}` : ''}${query}`,
    headers: JSON_TYPE,
    body: text,
  });
};

const query = fc.constantFrom('', '', '', '?fieldValidation=Strict', '?fieldValidation=Ignore', '?dryRun=All');

export const jsonRequests: Requests = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(tampered, fc.boolean(), query).map(written('hostile JSON')) },
  { weight: 2, arbitrary: fc.tuple(broken, fc.boolean(), query).map(written('broken JSON')) },
);

const LIMIT = 3_145_728;

/** Few, because each takes milliseconds even on a fast machine. */
export const hugeRequests: Requests = fc
  .tuple(
    fc.constantFrom(...KINDS),
    fc.constantFrom(LIMIT - 1, LIMIT, LIMIT + 1, 1_600_000),
    fc.constantFrom('text', 'space', 'depth', 'keys', 'list'),
  )
  .map(([kind, size, way]) => ({
    attack: `huge ${way}`,
    method: 'POST',
    path: COLLECTIONS[kind],
    headers: JSON_TYPE,
    body: huge(kind, size, way),
  }));

function huge(kind: (typeof KINDS)[number], size: number, way: string): string {
  const text = JSON.stringify({ ...objectNamed(kind, 'huge'), filler: 'X' });
  const room = size - text.length + 3;
  return text.replace('"X"', () => filling(room, way));
}

function filling(room: number, way: string): string {
  switch (way) {
    case 'space':
      return `1${' '.repeat(room - 1)}`;
    case 'depth':
      return '['.repeat(Math.floor(room / 2)) + ']'.repeat(Math.floor(room / 2));
    case 'keys':
      return `{${Array.from({ length: Math.floor(room / 11) }, (_, at) => `"k${at % 100_000}":1`.padEnd(10)).join(',')}}`;
    case 'list':
      return `[${'1,'.repeat(Math.floor(room / 2) - 2)}1]`;
    default:
      return JSON.stringify('a'.repeat(room - 2));
  }
}
