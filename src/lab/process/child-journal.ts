import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { marks } from './child-environment.ts';
import { sweep } from './process-sweep.ts';
import { type Family, membersOf, type ProcessTable } from './process-table.ts';

/** One child, as the next life of the lab has to know it (P13). */
export interface JournalEntry {
  /** Also the number of its first process. */
  readonly pgid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly container: string;
  /** Identity of the lab that started it. */
  readonly lab: string;
}

/** Lines for children that are gone; then the file is written anew. */
const MOST_ENDED = 1000;
/** For all survivors together. */
const PATIENCE_MS = 5000;

/** The file `children.jsonl`: what is running, so that a later lab finds what an earlier one left behind. */
export class ChildJournal {
  readonly #file: string;
  /** Bounded by the children of the lab. */
  readonly #entries = new Set<JournalEntry>();
  #lines = 0;

  constructor(directory: string) {
    this.#file = join(directory, 'children.jsonl');
  }

  /** What the file says; nothing when there is none. A line that was cut off is skipped. */
  read(): readonly JournalEntry[] {
    return lines(this.#file)
      .map(entryOf)
      .filter((entry) => entry !== undefined);
  }

  /** Forgets what is in the file but not among the children. */
  compact(): void {
    const next = `${this.#file}.next`;
    writeFileSync(next, [...this.#entries].map(line).join(''));
    renameSync(next, this.#file);
    this.#lines = this.#entries.size;
  }

  /** At once, not later: the lab may be killed after any statement. */
  add(entry: JournalEntry): void {
    this.#entries.add(entry);
    appendFileSync(this.#file, line(entry));
    this.#lines += 1;
    if (this.#lines > this.#entries.size + MOST_ENDED) this.compact();
  }

  delete(entry: JournalEntry): void {
    this.#entries.delete(entry);
  }
}

const line = (entry: JournalEntry): string => `${JSON.stringify(entry)}\n`;

function lines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function entryOf(text: string): JournalEntry | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const TEXTS = ['startTime', 'bootId', 'container', 'lab'];

function isEntry(value: unknown): value is JournalEntry {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const pgid = fields.get('pgid');
  // A group of 0 or 1 would be the lab itself, or everybody.
  const isGroup = typeof pgid === 'number' && Number.isSafeInteger(pgid) && pgid > 1;
  return isGroup && TEXTS.every((name) => typeof fields.get(name) === 'string');
}

/**
 * Ends what children of an earlier life still run (P13). A number alone proves nothing: a group counts only when its
 * first process started when the journal says, and single processes only when they carry the names of lab and container.
 */
export async function killSurvivors(entries: readonly JournalEntry[], options: SurvivorOptions): Promise<void> {
  const { table, clock, log } = options;
  const givenUp = new AbortController();
  using _ = clock.timer(PATIENCE_MS, () => givenUp.abort());
  for (const entry of await suspects(entries, table)) {
    const family = await familyOf(entry, table);
    const pids = (await membersOf(table, family)).map(({ pid }) => pid);
    if (pids.length === 0) continue;
    log.warn({ container: entry.container, pids }, 'Ending processes that an earlier lab left behind');
    await sweep(family, { table, clock, givenUp: givenUp.signal, onStuck: () => {} });
  }
}

/** Those that may have left something. Mostly none: a look at each of a thousand would take seconds. */
async function suspects(entries: readonly JournalEntry[], table: ProcessTable): Promise<readonly JournalEntry[]> {
  const running = await table.entries();
  const startTimes = new Map(running.map(({ pid, startTime }) => [pid, startTime]));
  const labs = new Set<string>();
  for (const lab of new Set(entries.map((entry) => entry.lab))) {
    if ((await table.carrying(marks({ identity: lab }), running)).length > 0) labs.add(lab);
  }
  const isSuspect = ({ pgid, startTime, lab }: JournalEntry) =>
    labs.has(lab) || startTimes.get(pgid) === startTime;
  return entries.filter((entry) => entry.bootId === table.bootId && isSuspect(entry));
}

export interface SurvivorOptions {
  readonly table: ProcessTable;
  /** Real time. */
  readonly clock: Clock;
  readonly log: Log;
}

async function familyOf({ pgid, startTime, lab, container }: JournalEntry, table: ProcessTable): Promise<Family> {
  const variables = marks({ identity: lab, container });
  const isSame = (await table.startTimeOf(pgid)) === startTime;
  return { variables, ...(isSame && { group: pgid }) };
}
