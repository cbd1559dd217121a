import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC_LITTLE_ENDIAN = 0x377f0682;
/** Frames of earlier rounds of the log stay behind newer ones; each round raises the first salt by one. */
const EARLIER_ROUNDS = 1_000_000;

/** What lies in a write-ahead log behind the last whole transaction. */
export interface WalTail {
  /** Where the last whole transaction ends. */
  readonly byte: number;
  /** Bytes behind it that are neither zero nor left from an earlier round: a write that was cut or damaged. */
  readonly leftBytes: number;
}

interface Wal {
  readonly bytes: Buffer;
  readonly frameBytes: number;
  readonly isLittleEndian: boolean;
}

type Sums = readonly [number, number];

/**
 * Reads the log as SQLite does at recovery: it ends at the first frame that does not continue the chain of checksums,
 * and what is behind the last commit before that is not replayed. SQLite says nothing about it, and we must (P4).
 * Only to be called while no connection is open.
 */
export function inspectWal(file: string): WalTail {
  const wal = readWal(file);
  if (wal === undefined) return { byte: 0, leftBytes: 0 };
  const { bytes, frameBytes } = wal;
  const round = bytes.readUInt32BE(16);
  const isIntact = round !== 0 && hasHeader(wal);
  const end = isIntact ? lastCommitEnd(wal) : 0;
  let left = 0;
  for (let at = end === 0 ? HEADER_BYTES : end; at < bytes.length; at += frameBytes) {
    if (isLeftover(bytes.subarray(at, at + frameBytes), round))
      left = Math.min(at + frameBytes, bytes.length) - end;
  }
  return { byte: end, leftBytes: isIntact || isZero(bytes.subarray(0, HEADER_BYTES)) ? left : bytes.length };
}

function readWal(file: string): Wal | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if (bytes.length < HEADER_BYTES) return undefined;
  const pageBytes = bytes.readUInt32BE(8);
  const isPageSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0;
  return {
    bytes,
    frameBytes: FRAME_HEADER_BYTES + (isPageSize ? pageBytes : 4096),
    isLittleEndian: bytes.readUInt32BE(0) === MAGIC_LITTLE_ENDIAN,
  };
}

function hasHeader(wal: Wal): boolean {
  const sums = checksum(wal, [0, 0], 0, HEADER_BYTES - 8);
  return sums[0] === wal.bytes.readUInt32BE(24) && sums[1] === wal.bytes.readUInt32BE(28);
}

/** The end of the last frame that commits and whose chain of checksums reaches back to the header. */
function lastCommitEnd(wal: Wal): number {
  const { bytes, frameBytes } = wal;
  let end = HEADER_BYTES;
  let sums: Sums = [bytes.readUInt32BE(24), bytes.readUInt32BE(28)];
  for (let at = HEADER_BYTES; at + frameBytes <= bytes.length; at += frameBytes) {
    if (bytes.compare(bytes, 16, 24, at + 8, at + 16) !== 0) break;
    sums = checksum(wal, checksum(wal, sums, at, 8), at + FRAME_HEADER_BYTES, frameBytes - FRAME_HEADER_BYTES);
    if (sums[0] !== bytes.readUInt32BE(at + 16) || sums[1] !== bytes.readUInt32BE(at + 20)) break;
    const isCommit = bytes.readUInt32BE(at + 4) !== 0;
    if (isCommit) end = at + frameBytes;
  }
  return end;
}

function isLeftover(frame: Buffer, round: number): boolean {
  if (isZero(frame)) return false;
  if (frame.length < FRAME_HEADER_BYTES) return true;
  const age = (round - frame.readUInt32BE(8)) >>> 0;
  return age === 0 || age > EARLIER_ROUNDS;
}

const ZEROS = Buffer.alloc(FRAME_HEADER_BYTES + 65_536);
const isZero = (bytes: Buffer): boolean => bytes.equals(ZEROS.subarray(0, bytes.length));

/** The checksum of SQLite's write-ahead log: two running sums over pairs of 32-bit words. */
function checksum({ bytes, isLittleEndian }: Wal, [first, second]: Sums, from: number, length: number): Sums {
  let [a, b] = [first, second];
  const isNative = isLittleEndian === (endianness() === 'LE') && (bytes.byteOffset + from) % 4 === 0;
  if (isNative) {
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset + from, length / 4);
    for (let at = 0; at < words.length; at += 2) {
      a = (a + (words[at] ?? 0) + b) >>> 0;
      b = (b + (words[at + 1] ?? 0) + a) >>> 0;
    }
    return [a, b];
  }
  for (let at = from; at < from + length; at += 8) {
    a = (a + (isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)) + b) >>> 0;
    b = (b + (isLittleEndian ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}
