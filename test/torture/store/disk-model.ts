import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Call } from './trace.ts';

/** A disk writes a sector whole or not at all. */
const SECTOR_BYTES = 512;

/** What a store is made of; its lock, its reserve and the shared memory of SQLite are made anew. */
const MODELLED = /^store\.(db|draft|mark)(?!.*-shm)/;

type Change =
  | { readonly kind: 'write'; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly size: number };

interface Inode {
  durable: Buffer;
  pending: Change[];
}

type NameChange =
  | { readonly kind: 'create'; readonly path: string; readonly inode: Inode }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string };

/** Decides for each thing that was not synced whether it reached the disk. */
export type Fate = (what: 'sector' | 'name', isLast: boolean) => boolean;

export const FATES: readonly { readonly name: string; readonly fate: (random: () => number) => Fate }[] = [
  { name: 'all', fate: () => () => true },
  { name: 'none', fate: () => () => false },
  { name: 'only the last', fate: () => (what, isLast) => what === 'name' || isLast },
  { name: 'data without names', fate: () => (what) => what === 'sector' },
  ...Array.from({ length: 5 }, () => ({
    name: 'random',
    fate: (random: () => number) => () => random() < 0.5,
  })),
];

/** What a disk holds for certain, and what may be on it besides, while a program writes (reliability T3.5). */
export class DiskModel {
  readonly #directory: string;
  /** As the program sees it. */
  readonly #names = new Map<string, Inode>();
  readonly #durableNames = new Map<string, Inode>();
  #pendingNames: NameChange[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  apply(call: Call): void {
    if (call.kind === 'said') return;
    if (call.kind === 'sync' && call.path === this.#directory) this.#syncNames();
    if (dirname(call.path) !== this.#directory || !MODELLED.test(basename(call.path))) return;
    this.#applyToFile(call);
  }

  /** Writes a directory as it might be found after the power comes back. */
  materialise(directory: string, fate: Fate): void {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    const names = new Map(this.#durableNames);
    for (const [at, change] of this.#pendingNames.entries()) {
      if (fate('name', at === this.#pendingNames.length - 1)) rename(names, change);
    }
    for (const [path, inode] of names) writeFileSync(join(directory, basename(path)), contentAfter(inode, fate));
  }

  #applyToFile(call: Exclude<Call, { kind: 'said' }>): void {
    if (call.kind === 'create') this.#create(call.path, call.isTruncated);
    else if (call.kind === 'rename') this.#rename(call.path, call.to);
    else if (call.kind === 'unlink') this.#unlink(call.path);
    else this.#change(call);
  }

  #create(path: string, isTruncated: boolean): void {
    const known = this.#names.get(path);
    if (known !== undefined) {
      if (isTruncated) known.pending.push({ kind: 'truncate', size: 0 });
      return;
    }
    const inode: Inode = { durable: Buffer.alloc(0), pending: [] };
    this.#names.set(path, inode);
    this.#pendingNames.push({ kind: 'create', path, inode });
  }

  #rename(path: string, to: string): void {
    const change: NameChange = { kind: 'rename', path, to };
    rename(this.#names, change);
    this.#pendingNames.push(change);
  }

  #unlink(path: string): void {
    if (!this.#names.delete(path)) return;
    this.#pendingNames.push({ kind: 'unlink', path });
  }

  #change(call: Exclude<Call, { kind: 'create' | 'rename' | 'unlink' | 'said' }>): void {
    const inode = this.#names.get(call.path);
    // Unlinked while open: nobody will find it.
    if (inode === undefined) return;
    if (call.kind === 'sync') {
      inode.durable = contentAfter(inode, () => true);
      inode.pending = [];
    } else {
      inode.pending.push(call);
    }
  }

  #syncNames(): void {
    for (const change of this.#pendingNames) rename(this.#durableNames, change);
    this.#pendingNames = [];
  }
}

function rename(names: Map<string, Inode>, change: NameChange): void {
  if (change.kind === 'create') {
    names.set(change.path, change.inode);
    return;
  }
  const inode = names.get(change.path);
  if (inode === undefined) return;
  names.delete(change.path);
  if (change.kind === 'rename') names.set(change.to, inode);
}

/** Each sector of each unsynced write meets its own fate. */
function contentAfter({ durable, pending }: Inode, fate: Fate): Buffer {
  if (pending.length === 0) return durable;
  let content: Buffer = Buffer.from(durable);
  for (const [at, change] of pending.entries()) {
    const isLast = at === pending.length - 1;
    if (change.kind === 'write') content = overwritten(content, change, () => fate('sector', isLast));
    else if (fate('sector', isLast)) content = resized(content, change.size);
  }
  return content;
}

function overwritten(
  content: Buffer,
  { offset, data }: { readonly offset: number; readonly data: Buffer },
  isKept: () => boolean,
): Buffer {
  const kept: (readonly [number, number])[] = [];
  for (let from = offset; from < offset + data.length; ) {
    const to = Math.min(offset + data.length, (Math.floor(from / SECTOR_BYTES) + 1) * SECTOR_BYTES);
    if (isKept()) kept.push([from, to]);
    from = to;
  }
  const result = resized(content, Math.max(content.length, kept.at(-1)?.[1] ?? 0));
  for (const [from, to] of kept) data.copy(result, from, from - offset, to - offset);
  return result;
}

function resized(content: Buffer, size: number): Buffer {
  if (size <= content.length) return content.subarray(0, size);
  const grown = Buffer.alloc(size);
  content.copy(grown);
  return grown;
}
