import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { type Json, jsonEqual } from '../../../object/json.ts';
import type { FilterName } from './filter-names.ts';
import type { PodFacts } from './pod-facts.ts';

const BACKOFF_MS = 1000;
const LONGEST_BACKOFF_MS = 10_000;
/** Pods that no change has cured are tried again all the same (K7). */
const FLUSH_MS = 5 * 60_000;

/**
 * `active`: next in turn. `backoff`: worth a try, but not yet. `unschedulable`: waits for a change. `taken`: on its way.
 */
type State = 'active' | 'backoff' | 'unschedulable' | 'taken';

interface Entry {
  facts: PodFacts;
  state: State;
  /** Of the last attempt; of the first sight when there was none. */
  sinceMs: number;
  /** Who came first, or came back first, of those with the same time. */
  order: number;
  attempts: number;
  refusedBy: ReadonlySet<FilterName>;
}

const NOBODY: ReadonlySet<FilterName> = new Set();

/** Pods that wait for a node: the most important first, then the longest waiting (K7). Knows no clock. */
export class SchedulingQueue {
  /** By uid; bounded by the pods without a node. */
  readonly #entries = new Map<string, Entry>();
  /** The next one last. May hold entries that are not active any more; those are skipped. */
  #active: Entry[] = [];
  #isSorted = true;
  #seen = 0;

  /** A pod that is to be scheduled, new or changed. What it asks for may be cured by itself. */
  track(facts: PodFacts, nowMs: number): void {
    const found = this.#entries.get(facts.uid);
    if (found === undefined) {
      const order = this.#seen++;
      const entry: Entry = { facts, state: 'taken', sinceMs: nowMs, order, attempts: 0, refusedBy: NOBODY };
      this.#entries.set(facts.uid, entry);
      this.#activate(entry);
      return;
    }
    const isOther = isAnotherWish(found.facts.pod, facts.pod);
    found.facts = facts;
    if (isOther && found.state === 'unschedulable') this.#retry(found, nowMs);
  }

  remove(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry !== undefined) entry.state = 'taken';
    this.#entries.delete(uid);
  }

  /** The pod whose turn it is. It stays known, and comes back with `refused` or `failed`. */
  next(): PodFacts | undefined {
    if (!this.#isSorted) this.#active.sort(byTurn);
    this.#isSorted = true;
    for (let entry = this.#active.pop(); entry !== undefined; entry = this.#active.pop()) {
      if (entry.state !== 'active') continue;
      entry.state = 'taken';
      return entry.facts;
    }
    return undefined;
  }

  /** No node will do: waits for a change that may cure what these filters found. */
  refused(uid: string, refusedBy: ReadonlySet<FilterName>, nowMs: number): void {
    this.#back(uid, 'unschedulable', refusedBy, nowMs);
  }

  /** Something went wrong on the way: worth another try without any change. */
  failed(uid: string, nowMs: number): void {
    this.#back(uid, 'backoff', NOBODY, nowMs);
  }

  /** Gives pods another try that one of these filters refused, as soon as their last try is long enough ago. */
  cured(cures: ReadonlySet<FilterName>, nowMs: number): void {
    if (cures.size === 0) return;
    for (const entry of this.#entries.values()) {
      if (entry.state !== 'unschedulable') continue;
      // Without a node there was nobody to refuse it: whatever happens may help.
      const isCured = entry.refusedBy.size === 0 || [...entry.refusedBy].some((name) => cures.has(name));
      if (isCured) this.#retry(entry, nowMs);
    }
  }

  /** Makes those active whose time has come. When a clock is set back, waits begin anew. */
  wake(nowMs: number): void {
    for (const entry of this.#entries.values()) {
      entry.sinceMs = Math.min(entry.sinceMs, nowMs);
      if (dueMs(entry) <= nowMs) this.#activate(entry);
    }
  }

  /** When `wake` has something to do; undefined when nobody waits for the time. */
  get nextMs(): number | undefined {
    let next = Infinity;
    for (const entry of this.#entries.values()) next = Math.min(next, dueMs(entry));
    return next === Infinity ? undefined : next;
  }

  get hasNext(): boolean {
    return this.#active.some(({ state }) => state === 'active');
  }

  #back(uid: string, state: State, refusedBy: ReadonlySet<FilterName>, nowMs: number): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    const order = this.#seen++;
    Object.assign(entry, { state, refusedBy, order, sinceMs: nowMs, attempts: entry.attempts + 1 });
  }

  #retry(entry: Entry, nowMs: number): void {
    entry.state = 'backoff';
    if (dueMs(entry) <= nowMs) this.#activate(entry);
  }

  #activate(entry: Entry): void {
    entry.state = 'active';
    this.#active.push(entry);
    this.#isSorted = false;
  }
}

function dueMs({ state, sinceMs, attempts }: Entry): number {
  if (state === 'unschedulable') return sinceMs + FLUSH_MS;
  return state === 'backoff' ? sinceMs + backoffMs(attempts) : Infinity;
}

/** 1 s after the first attempt, twice that after each further one, 10 s at most. */
export const backoffMs = (attempts: number): number =>
  attempts === 0 ? 0 : Math.min(BACKOFF_MS * 2 ** (attempts - 1), LONGEST_BACKOFF_MS);

/** Backwards: the next one is last. */
const byTurn = (a: Entry, b: Entry): number =>
  a.facts.priority - b.facts.priority || b.sinceMs - a.sinceMs || b.order - a.order;

/** Whether the pod asks for something else than before. What others write into its status does not count. */
export function isAnotherWish(old: Pod, now: Pod): boolean {
  if (!jsonEqual({ ...old.metadata.labels }, { ...now.metadata.labels })) return true;
  const [before, after] = [old.metadata.generation, now.metadata.generation];
  if (before !== undefined && after !== undefined) return before !== after;
  // Plain JSON that came from the server.
  return !jsonEqual(old.spec as unknown as Json, now.spec as unknown as Json);
}
