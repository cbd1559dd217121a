import { isTomlTable, type TomlTable, TomlWords, tomlTable } from './toml-values.ts';

/** More is no configuration; a ConfigMap cannot hold it either. */
const LONGEST_TEXT = 1024 * 1024;

/**
 * The part of TOML 1.0 that `registries.conf` is written in: keys bare, quoted or dotted; texts of one line, booleans,
 * whole numbers, lists, tables, lists of tables, comments. Throws `InvalidMirrorConfig` with the line for anything else.
 */
export function parseToml(text: string): TomlTable {
  const words = new TomlWords(text);
  if (text.length > LONGEST_TEXT) throw words.failure(`begins ${text.length} characters, ${LONGEST_TEXT} at most`);
  const root = tomlTable();
  const defined = new Set<TomlTable>();
  let table = root;
  for (words.skipBlanks(true); !words.isAtEnd; words.skipBlanks(true)) {
    if (words.takes('[[')) table = appendedTable(words, root);
    else if (words.takes('[')) table = namedTable(words, root, defined);
    else words.assign(table);
    words.endLine();
  }
  return root;
}

/** `[[a.b]]`: one more table in the list b of a, or of the last of the tables a. */
function appendedTable(words: TomlWords, root: TomlTable): TomlTable {
  const path = words.key();
  words.expect(']]', 'at the end of the name of a table');
  const parent = entered(words, root, path.slice(0, -1));
  const last = path.at(-1) ?? '';
  const list = (parent[last] ??= []);
  const isOwn = Array.isArray(list) && list.every(isTomlTable);
  if (!isOwn) throw words.failure(`adds a table to ${path.join('.')}, which is something else`);
  const table = tomlTable();
  parent[last] = [...list, table];
  return table;
}

/** `[a.b]`, once. */
function namedTable(words: TomlWords, root: TomlTable, defined: Set<TomlTable>): TomlTable {
  const path = words.key();
  words.expect(']', 'at the end of the name of a table');
  const parent = entered(words, root, path.slice(0, -1));
  const table = (parent[path.at(-1) ?? ''] ??= tomlTable());
  if (!isTomlTable(table) || defined.has(table)) throw words.failure(`names ${path.join('.')} a second time`);
  defined.add(table);
  return table;
}

/** Tables on the way are made; of a list of tables the last is meant. */
function entered(words: TomlWords, root: TomlTable, path: readonly string[]): TomlTable {
  let table = root;
  for (const part of path) {
    const value = (table[part] ??= tomlTable());
    const inner = Array.isArray(value) ? value.at(-1) : value;
    if (!isTomlTable(inner)) throw words.failure(`goes into ${path.join('.')}, where ${part} is no table`);
    table = inner;
  }
  return table;
}
