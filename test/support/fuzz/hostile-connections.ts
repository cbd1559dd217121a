import fc from 'fast-check';
import { COLLECTIONS, KEPT, type Requests } from './request.ts';

const MAPS = COLLECTIONS.ConfigMap;
const lines = (...texts: readonly string[]): Buffer => Buffer.from(`${texts.join('\r\n')}\r\n\r\n`, 'latin1');
const get = (...headers: readonly string[]): Buffer => lines(`GET ${MAPS} HTTP/1.1`, 'Host: x', ...headers);
const smuggled = `DELETE /api/v1/namespaces/${KEPT}/configmaps/canary HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Bytes on a connection that no HTTP library would write. */
const ATTACKS: Readonly<Record<string, Buffer>> = {
  'a header of 20 kB': get(`X-Long: ${'a'.repeat(20_000)}`),
  '2,000 headers': get(...Array.from({ length: 2000 }, (_, at) => `X-${at}: 1`)),
  'two hosts': get('Host: y'),
  'no host': lines(`GET ${MAPS} HTTP/1.1`),
  'an absolute target': lines(`GET https://elsewhere.example${MAPS} HTTP/1.1`, 'Host: x'),
  'an authority as target': lines('CONNECT example.com:443 HTTP/1.1', 'Host: x'),
  'an asterisk as target': lines('OPTIONS * HTTP/1.1', 'Host: x'),
  'a target without slash': lines('GET api/v1 HTTP/1.1', 'Host: x'),
  'a target with NUL': lines(`GET ${MAPS}\u0000 HTTP/1.1`, 'Host: x'),
  'a long target': lines(`GET /${'a'.repeat(30_000)} HTTP/1.1`, 'Host: x'),
  'HTTP/0.9': Buffer.from(`GET ${MAPS}\r\n`),
  'HTTP/3.7': lines(`GET ${MAPS} HTTP/3.7`, 'Host: x'),
  'an unknown method': lines(`BREW ${MAPS} HTTP/1.1`, 'Host: x'),
  'line feeds alone': Buffer.from(`GET ${MAPS} HTTP/1.1\nHost: x\n\n`),
  'a folded header': lines(`GET ${MAPS} HTTP/1.1`, 'Host: x', 'X-A: b', '  c'),
  'a space before the colon': get('Transfer-Encoding : chunked'),
  'an upgrade': get(
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: eA==',
    'Sec-WebSocket-Version: 13',
  ),
  'an upgrade to SPDY': get('Connection: Upgrade', 'Upgrade: SPDY/3.1'),
  'an upgrade to h2c': get(
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
  ),
  'length and chunks': Buffer.concat([
    lines(`POST ${MAPS} HTTP/1.1`, 'Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked'),
    Buffer.from(`0\r\n\r\n${smuggled}`),
  ]),
  'two lengths': Buffer.concat([
    lines(`POST ${MAPS} HTTP/1.1`, 'Host: x', 'Content-Length: 0', `Content-Length: ${smuggled.length}`),
    Buffer.from(smuggled),
  ]),
  'chunks of an unknown coding': Buffer.concat([
    lines(`POST ${MAPS} HTTP/1.1`, 'Host: x', 'Transfer-Encoding: xchunked'),
    Buffer.from(`0\r\n\r\n${smuggled}`),
  ]),
  'a chunk without size': Buffer.concat([chunked(), Buffer.from('zz\r\n{}\r\n0\r\n\r\n')]),
  'a negative chunk': Buffer.concat([chunked(), Buffer.from('-1\r\n{}\r\n0\r\n\r\n')]),
  'a chunk larger than anything': Buffer.concat([chunked(), Buffer.from('FFFFFFFFFFFFFFFFF\r\n{}')]),
  'a chunk with an endless extension': Buffer.concat([
    chunked(),
    Buffer.from(`2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  ]),
  'a negative length': lines(`POST ${MAPS} HTTP/1.1`, 'Host: x', 'Content-Length: -1'),
  'a huge length': lines(`POST ${MAPS} HTTP/1.1`, 'Host: x', 'Content-Length: 99999999999999999999'),
  'a length above the limit': lines(`POST ${MAPS} HTTP/1.1`, 'Host: x', 'Content-Length: 4000000'),
  'a body with GET': Buffer.concat([get(`Content-Length: ${smuggled.length}`), Buffer.from(smuggled)]),
  'a pipeline': Buffer.concat([get(), get(), get(), get('Connection: close')]),
  'an expectation': lines(`POST ${MAPS} HTTP/1.1`, 'Host: x', 'Content-Length: 2', 'Expect: 100-continue'),
  'bytes that are no header': lines(`GET ${MAPS} HTTP/1.1`, 'Host: x', '\u0001\u0002: \u00ff'),
  'HTTP/2 without agreement': Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000'),
  'a request over and over': Buffer.concat(Array.from({ length: 30 }, () => get())),
};

function chunked(): Buffer {
  return lines(`POST ${MAPS} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', 'Transfer-Encoding: chunked');
}

const known = fc
  .constantFrom(...Object.keys(ATTACKS))
  .map((attack) => ({ attack, raw: ATTACKS[attack] ?? Buffer.alloc(0) }));
const randomBytes = fc
  .tuple(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.boolean())
  .map(([bytes, isRequest]) => ({
    attack: 'random bytes',
    raw: isRequest ? Buffer.concat([get().subarray(0, -2), bytes]) : Buffer.from(bytes),
  }));
/** A known attack with one byte changed; it may have become a lawful pipeline, so nobody may do anything with it. */
const bent = fc.tuple(known, fc.nat(), fc.nat(255)).map(([{ attack, raw }, at, byte]) => {
  const bytes = Buffer.from(raw);
  bytes[at % bytes.length] = byte;
  return { attack: `${attack}, bent`, raw: bytes, isAnonymous: true };
});

export const connectionRequests: Requests = fc
  .oneof({ weight: 4, arbitrary: known }, { weight: 1, arbitrary: randomBytes }, { weight: 2, arbitrary: bent })
  .map((bytes) => ({ method: 'RAW', path: '', ...bytes }));
