import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import type { Layout } from './layout.ts';

/** Kept back so that objects can be removed on a full disk (T3.7). */
const RESERVE_BYTES = 256 * 1024;
/** A write needs a little more than its own bytes: pages around it, a place in the index of the log. */
const LEAST_FREE_BYTES = 64 * 1024;

interface Room {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Undefined where it cannot be told; then nothing is known to be missing. */
function roomOf(directory: string): Room | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return undefined;
  }
}

export const freeBytes = (directory: string): number => roomOf(directory)?.freeBytes ?? Number.POSITIVE_INFINITY;

/** The message of D10. */
export function fullMessage(directory: string): string {
  const room = roomOf(directory);
  const figures = room === undefined ? '' : `, ${sizeText(room.freeBytes)} of ${sizeText(room.totalBytes)} free`;
  return `the object was not stored: no space left on the data disk (${directory}${figures}). Free space and retry; reads still work`;
}

function sizeText(bytes: number): string {
  if (bytes === 0) return '0';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** Whether the disk has room again for everything, the reserve included. */
export function lackOfRoom({ directory, reserve }: Layout): string | undefined {
  const needed = LEAST_FREE_BYTES + (existsSync(reserve) ? 0 : RESERVE_BYTES);
  return freeBytes(directory) >= needed ? undefined : fullMessage(directory);
}

/** Sets the reserve aside if it is missing and there is room for it; says whether there is one now. */
export function keepReserve({ directory, reserve }: Layout): boolean {
  if (existsSync(reserve)) return true;
  if (freeBytes(directory) < RESERVE_BYTES + LEAST_FREE_BYTES) return false;
  try {
    // Not zeros: some file systems would keep no blocks for them.
    writeFileSync(reserve, Buffer.alloc(RESERVE_BYTES, 'reserve '), { mode: 0o600 });
    return true;
  } catch {
    // The disk filled up meanwhile: better no reserve than half a one that looks whole.
    rmSync(reserve, { force: true });
    return false;
  }
}

/** Gives the reserve to whoever needs it now; false when it was given before. */
export function releaseReserve({ reserve }: Layout): boolean {
  if (!existsSync(reserve)) return false;
  rmSync(reserve, { force: true });
  return true;
}
