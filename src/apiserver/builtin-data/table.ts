import { readFileSync } from 'node:fs';

/** A generated file: what made it, from which Kubernetes, and its entries. */
export interface Table<Entry> {
  readonly generator: string;
  readonly kubernetes: string;
  readonly entries: Readonly<Record<string, Entry>>;
}

const tables = new Map<string, Table<unknown>>();

/** A table of `generated/`, read when it is first asked for: a server at rest needs few of them. */
export function readTable<Entry>(name: string): Table<Entry> {
  const known = tables.get(name);
  // Each name has one type of entry, given by the caller that knows the format.
  if (known !== undefined) return known as Table<Entry>;
  const text = readFileSync(new URL(`../generated/${name}.json`, import.meta.url), 'utf8');
  const table: Table<Entry> = JSON.parse(text);
  tables.set(name, table);
  return table;
}
