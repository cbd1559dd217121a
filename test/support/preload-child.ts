import assert from 'node:assert/strict';
import type dgram from 'node:dgram';
import type dns from 'node:dns';
import type { once } from 'node:events';
import type fs from 'node:fs';
import type http from 'node:http';
import type http2 from 'node:http2';
import type https from 'node:https';
import type net from 'node:net';
import type { text } from 'node:stream/consumers';
import type tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import type { promisify } from 'node:util';
import { type NetworkHost, thisHost } from '../../src/lab/address/network-host.ts';
import { outcomeOf } from './scratch.ts';

/** Where Node keeps what it made of our sources: without it every child makes it again, in 0.3 s. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url));

export const PRELOAD = new URL('../../src/lab/process/preload.ts', import.meta.url);

/** What a program in a child may use besides globals and what it is given; as it gets them by `import`. */
export interface ChildTools {
  readonly dgram: typeof dgram;
  readonly dns: typeof dns;
  readonly fs: typeof fs;
  readonly http: typeof http;
  readonly http2: typeof http2;
  readonly https: typeof https;
  readonly net: typeof net;
  readonly tls: typeof tls;
  readonly once: typeof once;
  readonly text: typeof text;
  readonly promisify: typeof promisify;
}

const TOOLS = `{
  dgram: await import('node:dgram'), dns: await import('node:dns'), fs: await import('node:fs'),
  http: await import('node:http'), http2: await import('node:http2'), https: await import('node:https'),
  net: await import('node:net'), tls: await import('node:tls'), once: (await import('node:events')).once,
  text: (await import('node:stream/consumers')).text, promisify: (await import('node:util')).promisify,
}`;

/** Runs the text of a function in a child with the preload and gives what it returns. Fails when the child prints. */
export async function inChild<G, T>(
  program: (tools: ChildTools, given: G) => Promise<T>,
  given: G,
  env: Readonly<Record<string, string>>,
): Promise<T> {
  const call = `JSON.stringify(await (${String(program)})(${TOOLS}, ${JSON.stringify(given) ?? 'undefined'}))`;
  const script = `process.stdout.write(${call}, () => process.exit());`;
  const variables = { NODE_OPTIONS: `--import=${PRELOAD.href}`, NODE_COMPILE_CACHE: CACHE, ...env };
  const { code, stdout, stderr } = await outcomeOf(
    process.execPath,
    ['--input-type=module', '-e', script],
    variables,
  );
  assert.equal(stderr, '');
  assert.equal(code, 0);
  return JSON.parse(stdout) as T;
}

/** This machine, if it had no right to ports below 1024. */
export const unprivileged: NetworkHost = {
  ...thisHost,
  bindError: async (at) => (at.port > 0 && at.port < 1024 ? 'EACCES' : thisHost.bindError(at)),
};

/** The answer to a question for the IPv4 addresses of a name; a name that has none does not exist. */
export function dnsAnswer(query: Buffer, records: ReadonlyMap<string, readonly string[]>): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let size = query.readUInt8(at); size > 0; size = query.readUInt8(at)) {
    labels.push(query.subarray(at + 1, at + 1 + size).toString());
    at += size + 1;
  }
  const found = records.get(labels.join('.').toLowerCase()) ?? [];
  const header = Buffer.from([0, 0, 0x84, found.length === 0 ? 3 : 0, 0, 1, 0, found.length, 0, 0, 0, 0]);
  query.copy(header, 0, 0, 2);
  const answers = found.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([header, query.subarray(12, at + 5), ...answers]);
}
