import { Readable, type Transform } from 'node:stream';
import { createGunzip, createZstdDecompress, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { messageOf } from '../base/errors.ts';
import { bytesOf, tooLarge } from './bounded-bytes.ts';
import { damaged } from './tar-header.ts';

/** A release has 1 GiB in its largest layer; what grows beyond this is made to fill somebody's disk. */
const MOST_BYTES = 4 * 1024 * 1024 * 1024;
/**
 * Up to here a layer is unpacked at once: what releases say about themselves is that small, it is faster, and nothing
 * goes on behind the back of a clock that tests move.
 */
const SMALL_BYTES = 1024 * 1024;
const SMALL_UNPACKED_BYTES = 64 * 1024 * 1024;

interface Compression {
  readonly magic: readonly number[];
  readonly unpacked: (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;
  readonly stream: () => Transform;
}

/** By their first bytes: what a manifest says about its layers is wrong now and then. */
const COMPRESSIONS: readonly Compression[] = [
  { magic: [0x1f, 0x8b], unpacked: gunzipSync, stream: () => createGunzip() },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], unpacked: zstdDecompressSync, stream: () => createZstdDecompress() },
];

/** The archive in a layer: unpacked from gzip or zstd, or as it is. Throws `InvalidImage` when that fails or never ends. */
export async function* layerContent(
  layer: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (sizeBytes <= SMALL_BYTES) yield* smallContent(await bytesOf(layer, SMALL_BYTES, 'a layer'));
  else yield* bounded(streamedContent(layer));
}

async function* smallContent(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  const compression = compressionOf(bytes);
  if (compression === undefined) return yield bytes;
  const unpacked = unpackedAtOnce(bytes, compression);
  if (unpacked !== undefined) yield unpacked;
  else yield* bounded(unpackedStream(Readable.from([bytes]), compression));
}

/** Undefined when it is not small after all. */
function unpackedAtOnce(bytes: Uint8Array, { unpacked }: Compression): Uint8Array | undefined {
  try {
    return unpacked(bytes, { maxOutputLength: SMALL_UNPACKED_BYTES });
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw damaged(`it cannot be unpacked (${messageOf(thrown)})`);
  }
}

async function* streamedContent(layer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = layer[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    head = Buffer.concat([head, next.value]);
    if (head.length >= 4) break;
  }
  const all = startingWith(head, chunks);
  const compression = compressionOf(head);
  if (compression === undefined) yield* all;
  else yield* unpackedStream(Readable.from(all), compression);
}

async function* startingWith(
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* unpackedStream(
  packed: Readable,
  { stream }: Compression,
): AsyncGenerator<Uint8Array, void, undefined> {
  const unpacking = stream();
  let failure: Error | undefined;
  packed.on('error', (thrown) => {
    failure = thrown;
    unpacking.destroy(thrown);
  });
  try {
    for await (const chunk of packed.pipe(unpacking)) yield chunk;
  } catch (thrown) {
    // The registry failed, not the layer.
    if (failure !== undefined) throw failure;
    throw damaged(`it cannot be unpacked (${messageOf(thrown)})`);
  } finally {
    packed.destroy();
    unpacking.destroy();
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw tooLarge('a layer of the image', MOST_BYTES);
    yield chunk;
  }
}

const compressionOf = (head: Uint8Array): Compression | undefined =>
  COMPRESSIONS.find(({ magic }) => magic.every((byte, at) => head[at] === byte));
