import type { KeyIndex } from './key-index.ts';
import type { Entry, StoreEvent } from './store.ts';

/** Position of the first change with a revision greater than `revision`. */
export function firstAfter(history: readonly StoreEvent[], revision: number): number {
  let low = 0;
  let high = history.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((history[middle]?.revision ?? 0) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Past {
  readonly prefix: string;
  readonly revision: number;
  readonly start: string;
}

/**
 * The entries as they were: today's, with all later changes taken back. The first later change of a key knows what was
 * there before it.
 */
export function stateAt(index: KeyIndex, history: readonly StoreEvent[], past: Past): Iterable<Entry> {
  const { prefix, start } = past;
  const before = new Map<string, Entry | undefined>();
  for (let at = firstAfter(history, past.revision); at < history.length; at++) {
    const event = history[at];
    if (event !== undefined && event.key.startsWith(prefix) && !before.has(event.key)) {
      before.set(event.key, event.previous);
    }
  }
  if (before.size === 0) return index.below(prefix, start);
  const changed = [...before.keys()]
    .filter((key) => index.compare(key, start) >= 0)
    .sort((a, b) => index.compare(a, b));
  return merged(index, changed, before, past);
}

/** Both sides in key order; where a key was changed later, what was there before counts. */
function* merged(
  index: KeyIndex,
  changed: readonly string[],
  before: ReadonlyMap<string, Entry | undefined>,
  { prefix, start }: Past,
): Generator<Entry, undefined> {
  let at = 0;
  for (const entry of index.below(prefix, start)) {
    for (; at < changed.length; at++) {
      const key = changed[at] ?? '';
      if (index.compare(key, entry.key) > 0) break;
      const then = before.get(key);
      if (then !== undefined) yield then;
    }
    if (!before.has(entry.key)) yield entry;
  }
  for (; at < changed.length; at++) {
    const then = before.get(changed[at] ?? '');
    if (then !== undefined) yield then;
  }
  return undefined;
}
