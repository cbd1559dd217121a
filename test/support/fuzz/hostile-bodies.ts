import { deflateRawSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { COLLECTIONS, JSON_TYPE, KINDS, objectNamed, type Requests } from './request.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\n';
const aliases = (levels: number): string =>
  [
    'a0: &a0 [x, x, x, x, x, x, x, x, x]',
    ...Array.from({ length: levels }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(8)}*a${at}]`),
  ].join('\n');

const yamlText = fc.oneof(
  fc.constantFrom(
    `${head}data:\n  on: yes\n  no: NO\n  octal: 0o17\n  date: 2026-01-01\n`,
    `${head}data: !!js/function "function(){}"\n`,
    `${head}data: {a: !!binary "AAAA"}\n`,
    `${head}data: &d {a: "1"}\nbinaryData:\n  <<: *d\n`,
    `${head}data:\n\ta: tab\n`,
    `${head}---\n${head}`,
    `${head}data: {a: "---"}\n...\nmore`,
    `${head}data: {? [complex]: key}\n`,
    `${head}data: {a: 1, a: 2}\n`,
    `${head}data: {__proto__: {polluted: "1"}, constructor: a}\n`,
    `__proto__: {polluted: 1}\n${head}`,
    `${head}data: *nobody\n`,
    `${head}data: &self {me: *self}\n`,
    '%YAML 9.9\n---\n- a\n',
    '!!set {a, b}\n',
    '',
    '\u0000',
    `${head}data: {a: "${'x'.repeat(100_000)}"}\n`,
    `#${' comment'.repeat(100_000)}\n${head}`,
  ),
  fc.constantFrom(3, 6, 12, 40).map((levels) => `${head}${aliases(levels)}\n`),
  fc.constantFrom(100, 600, 5000, 20_000).map((depth) => `${head}data: ${'['.repeat(depth)}`),
  fc.constantFrom(100, 600, 5000).map((depth) => `${head}data: ${'{a: '.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => `${head}${Buffer.from(bytes).toString('latin1')}`),
);

export const yamlRequests: Requests = fc.tuple(yamlText, fc.boolean()).map(([body, isApply]) => ({
  attack: isApply ? 'hostile YAML to apply' : 'hostile YAML',
  method: isApply ? 'PATCH' : 'POST',
  path: `${COLLECTIONS.ConfigMap}${isApply ? '/yaml?fieldManager=fuzz' : ''}`,
  headers: { 'content-type': isApply ? 'application/apply-patch+yaml' : 'application/yaml' },
  body,
}));

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** One field of a message: number and wire type, then what belongs to it. */
const field = fc
  .tuple(
    fc.integer({ min: 0, max: 20 }),
    fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7),
    fc.uint8Array({ maxLength: 40 }),
  )
  .map(([number, type, bytes]) =>
    Buffer.concat([
      Buffer.from([(number << 3) | type]),
      type === 2 ? Buffer.from([bytes.length]) : Buffer.alloc(0),
      bytes,
    ]),
  );
const message = fc.array(field, { maxLength: 8 }).map((parts) => Buffer.concat(parts));
const delimited = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2]), varint(bytes.length), bytes]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) return Buffer.from(bytes);
  }
}

/** Messages in messages, written from the inside out. */
function nest(depth: number): Buffer {
  const parts: Buffer[] = [Buffer.from([0x08, 1])];
  let length = 2;
  for (let level = 0; level < depth; level++) {
    const opening = Buffer.concat([Buffer.from([0x0a]), varint(length)]);
    parts.push(opening);
    length += opening.length;
  }
  return Buffer.concat(parts.reverse());
}
const deep = fc.constantFrom(...[10, 200, 10_000].map(nest));
const envelope = fc
  .tuple(
    fc.constantFrom('v1', 'apps/v1', '__proto__', ''),
    fc.constantFrom(...KINDS, 'DeleteOptions', '__proto__'),
    fc.oneof(message, deep),
  )
  .map(([apiVersion, kind, raw]) =>
    Buffer.concat([
      MAGIC,
      delimited(1, Buffer.concat([delimited(1, Buffer.from(apiVersion)), delimited(2, Buffer.from(kind))])),
      delimited(2, raw),
    ]),
  );

export const protobufRequests: Requests = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: envelope },
      { weight: 2, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([MAGIC, bytes])) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    ),
    fc.constantFrom(...KINDS),
    fc.constantFrom('POST', 'PUT', 'DELETE'),
  )
  .map(([body, kind, method]) => ({
    attack: 'hostile protobuf',
    method,
    path: `${COLLECTIONS[kind]}${method === 'POST' ? '' : '/other'}`,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body,
  }));

const small = JSON.stringify(objectNamed('ConfigMap', 'zipped'));
const bomb = gzipSync(Buffer.alloc(40_000_000, 0x20));
const zipped = fc.oneof(
  fc.constantFrom(
    gzipSync(small),
    gzipSync(small).subarray(0, 20),
    bomb,
    Buffer.concat([gzipSync(small), Buffer.from('rest')]),
    gzipSync(gzipSync(small)),
    deflateRawSync(small),
    Buffer.alloc(0),
  ),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
);

export const compressedRequests: Requests = fc
  .tuple(zipped, fc.constantFrom('gzip', 'gzip', 'gzip', 'deflate', 'GZIP', 'gzip, gzip', 'identity', '__proto__'))
  .map(([body, encoding]) => ({
    attack: 'compressed body',
    method: 'POST',
    path: COLLECTIONS.ConfigMap,
    headers: { ...JSON_TYPE, 'content-encoding': encoding },
    body,
  }));
