import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import {
  isProcessIdentity,
  type Liveness,
  livenessOf,
  type ProcessIdentity,
  processIdentity,
} from './process-identity.ts';

/** What a holder tells those who find its lock, in its own words. */
export type LockNotes = Readonly<Record<string, string>>;

export interface LockHolder {
  readonly process: ProcessIdentity;
  /** `elsewhere`: a process of another container, of which we cannot know whether it still runs. */
  readonly liveness: Exclude<Liveness, 'gone'>;
  readonly notes: LockNotes;
}

export type LockAttempt =
  | { readonly state: 'acquired'; readonly lock: FileLock }
  | { readonly state: 'held'; readonly holder: LockHolder };

/** The exclusive right that a file stands for; ends with `dispose`, or with the process. */
export class FileLock implements Disposable {
  readonly #file: string;
  #text: string;

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  /** Replaces what others read in the lock, in one step. */
  annotate(notes: LockNotes): void {
    const text = lockText(notes);
    writeAside(this.#file, text, (draft) => renameSync(draft, this.#file));
    this.#text = text;
  }

  /** A lock that somebody removed or replaced by hand is no longer ours to remove. */
  [Symbol.dispose](): void {
    if (readText(this.#file) === this.#text) rmSync(this.#file, { force: true });
  }
}

/**
 * Takes the lock, also from a holder that has ended, or says who has it. Never two holders at a time:
 * - A lock appears by linking a complete file, which only one process can do, and is never half written.
 * - The lock of a dead holder is replaced, not removed, and only under a second lock beside it. Whoever has that one
 *   looks again first; nobody else touches a dead lock, so what it then sees is what it replaces.
 * - Moving the dead lock away instead would not do: a slow process could move the fresh lock of a faster one, and a
 *   third could take the place before it is put back.
 * Should a process be killed while it has the second lock, that one is replaced under a third, and so on.
 *
 * The folder must exist, be used by one machine only (another boot counts as dead), and allow hard links.
 */
export function tryFileLock(file: string, notes: LockNotes = {}): LockAttempt {
  const text = lockText(notes);
  for (;;) {
    if (wasLinked(file, text)) return { state: 'acquired', lock: new FileLock(file, text) };
    const found = readText(file);
    if (found === undefined) continue;
    const holder = livingHolder(found);
    if (holder !== undefined) return { state: 'held', holder };

    const takeover = tryFileLock(`${file}.takeover`, notes);
    // It is about to have the lock, or to learn who has it.
    if (takeover.state === 'held') return takeover;
    using _ = takeover.lock;
    if (readText(file) !== found) continue;
    writeAside(file, text, (draft) => renameSync(draft, file));
    return { state: 'acquired', lock: new FileLock(file, text) };
  }
}

/** Unique at every call: two locks of one process must not be taken for each other. */
function lockText(notes: LockNotes): string {
  const own = processIdentity(process.pid) ?? { pid: process.pid };
  return JSON.stringify({ id: randomUUID(), process: own, notes });
}

function wasLinked(file: string, text: string): boolean {
  try {
    writeAside(file, text, (draft) => linkSync(draft, file));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function writeAside(file: string, text: string, place: (draft: string) => void): void {
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    place(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Undefined when there is no lock. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** What we did not write holds nothing. */
function livingHolder(text: string): LockHolder | undefined {
  const { process: identity, notes } = parsed(text);
  if (!isProcessIdentity(identity)) return undefined;
  const liveness = livenessOf(identity);
  return liveness === 'gone' ? undefined : { process: identity, liveness, notes: isNotes(notes) ? notes : {} };
}

function parsed(text: string): { readonly process?: unknown; readonly notes?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

const isNotes = (value: unknown): value is LockNotes =>
  typeof value === 'object' && value !== null && Object.values(value).every((note) => typeof note === 'string');

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
