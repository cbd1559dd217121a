import { createHash } from 'node:crypto';
import { VirtualClock } from '../../src/base/clock.ts';
import type { HttpAnswer, HttpCall, HttpRequest } from '../../src/oci/http-call.ts';

export { LabRegistry, type LabRegistryOptions } from '../../src/lab/metal/registry/lab-registry.ts';

/** An answer as tests write it. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Instead of a body. */
  readonly chunks?: AsyncIterable<Uint8Array>;
}

/** What a scripted server saw of a request. */
export interface SeenRequest {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ScriptedHttp {
  readonly http: HttpCall;
  readonly seen: readonly SeenRequest[];
  /** `GET https://…` of all requests. */
  readonly lines: () => readonly string[];
  /** Bodies that nobody read to the end, nor abandoned. */
  readonly open: () => number;
}

export type Script = (request: HttpRequest) => ScriptedAnswer | undefined | Promise<ScriptedAnswer | undefined>;

/** A network in this process: answers each request by a script, 404 when that has nothing. */
export function scriptedHttp(script: Script): ScriptedHttp {
  const seen: SeenRequest[] = [];
  let open = 0;
  const http: HttpCall = async (request): Promise<HttpAnswer> => {
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers ?? {} });
    const { status = 200, headers = {}, body = '', chunks } = (await script(request)) ?? { status: 404 };
    open++;
    const inner = (chunks ?? pieces(Buffer.from(body)))[Symbol.asyncIterator]();
    let isOpen = true;
    const close = () => {
      if (isOpen) open--;
      isOpen = false;
    };
    return {
      status,
      headers,
      body: {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            const result = await inner.next();
            if (result.done === true) close();
            return result;
          },
          return: async () => {
            close();
            return { done: true, value: undefined };
          },
        }),
      },
    };
  };
  return { http, seen, lines: () => seen.map(({ line }) => line), open: () => open };
}

/** Bytes in pieces of odd sizes, as networks deliver them. */
export async function* pieces(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export const digestOf = (bytes: string | Uint8Array): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Runs work and moves a clock on until it has ended. */
export async function throughTime<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let hasEnded = false;
  const ended = work.finally(() => void (hasEnded = true));
  ended.catch(() => undefined);
  for (let turns = 0; turns < 1000; turns++) {
    // What is under way comes to rest first: a time limit is no reason to let time pass.
    await clock.advance(0);
    if (hasEnded) break;
    const dueMs = clock.nextDueMs;
    if (dueMs !== undefined) await clock.advance(Math.max(0, dueMs - clock.monotonicMs()));
  }
  return await ended;
}

/** One file of a test archive. */
export interface TestFile {
  readonly name: string;
  readonly content?: string;
  /** `0` file, `1` hard link, `2` symbolic link, `5` folder … */
  readonly type?: string;
  readonly link?: string;
}

const BLOCK = 512;

/** A ustar archive, written without any of our readers or writers. */
export const testTar = (files: readonly TestFile[]): Buffer =>
  Buffer.concat([...files.map(testTarEntry), Buffer.alloc(2 * BLOCK)]);

export function testTarEntry({ name, content = '', type = '0', link = '' }: TestFile): Buffer {
  const data = Buffer.from(content);
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write(data.length.toString(8).padStart(11, '0'), 124);
  block.write(type, 156);
  block.write(link, 157);
  block.write('ustar\x0000', 257);
  return Buffer.concat([withSum(block), data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)]);
}

/** The block with the right checksum in it. */
export function withSum(block: Buffer): Buffer {
  block.write('        ', 148);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

export interface TestImage {
  readonly digest: string;
  readonly manifest: string;
  /** By digest. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/** An image of these layers (oldest first), in OCI's words. */
export function testImage(
  layers: readonly Uint8Array[],
  mediaType = 'application/vnd.oci.image.layer.v1.tar+gzip',
): TestImage {
  const blobs = new Map(layers.map((bytes) => [digestOf(bytes), bytes]));
  const manifest = JSON.stringify({
    schemaVersion: 2,
    layers: layers.map((bytes) => ({ mediaType, size: bytes.length, digest: digestOf(bytes) })),
  });
  return { digest: digestOf(manifest), manifest, blobs };
}

/** Serves one image under a tag, its digest and its blobs, whatever the host and the repository. */
export function imageScript({ digest, manifest, blobs }: TestImage, tag = 'v1'): Script {
  return ({ url }) => {
    const [kind, reference = ''] = new URL(url).pathname.split('/').slice(-2);
    if (kind === 'blobs') return blobs.has(reference) ? { body: blobs.get(reference) ?? '' } : undefined;
    const isKnown = reference === tag || reference === digest;
    return isKnown ? { body: manifest, headers: { 'docker-content-digest': digest } } : undefined;
  };
}

export { VirtualClock };
