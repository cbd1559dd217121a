import { userError } from '../../base/errors.ts';

export type TomlValue = string | boolean | number | readonly TomlValue[] | TomlTable;
/** Without a prototype: any text may be a key. */
export interface TomlTable {
  [key: string]: TomlValue;
}

export const tomlTable = (): TomlTable => Object.create(null);

export const isTomlTable = (value: TomlValue | undefined): value is TomlTable =>
  typeof value === 'object' && !Array.isArray(value);

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\x1b',
  '"': '"',
  '\\': '\\',
};
const MOST_NESTED = 16;

/** The words of a TOML text, one after the other. Whatever it does not know ends with the line in which it stands. */
export class TomlWords {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  failure(found: string) {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    return userError(
      'InvalidMirrorConfig',
      `registries.conf cannot be read: line ${line} ${found}; correct that line (TOML, as in containers-registries.conf)`,
    );
  }

  /** Spaces and a comment; with `lines`, as many lines of them as there are. */
  skipBlanks(lines: boolean): void {
    this.#match(lines ? /(?:[ \t\n]|#[^\n]*)*/y : /[ \t]*(?:#[^\n]*)?/y);
  }

  /** Whether the text goes on with this, which is then behind us. */
  takes(word: string): boolean {
    const isThere = this.#text.startsWith(word, this.#at);
    if (isThere) this.#at += word.length;
    return isThere;
  }

  expect(word: string, where: string): void {
    if (!this.takes(word)) throw this.failure(`lacks "${word}" ${where}`);
  }

  /** Nothing but blanks may stand in the rest of a line. */
  endLine(): void {
    this.skipBlanks(false);
    if (!this.isAtEnd && !this.takes('\n')) throw this.failure(`has more than one thing: "${this.#next()}"`);
  }

  /** `a`, `"a b"`, `a.b`: all parts. */
  key(): readonly string[] {
    const parts: string[] = [];
    do {
      this.skipSpaces();
      parts.push(this.#keyPart());
      this.skipSpaces();
    } while (this.takes('.'));
    return parts;
  }

  skipSpaces(): void {
    this.#match(/[ \t]*/y);
  }

  value(depth = 0): TomlValue {
    if (depth > MOST_NESTED) throw this.failure('is nested too deeply');
    if (this.takes('"""') || this.takes("'''"))
      throw this.failure('has a text of several lines, which is not for here');
    if (this.takes('"')) return this.#basicString();
    if (this.takes("'")) return this.#literalString();
    if (this.takes('[')) return this.#array(depth);
    if (this.takes('{')) return this.#inlineTable(depth);
    return this.#plain();
  }

  #keyPart(): string {
    if (this.takes('"')) return this.#basicString();
    if (this.takes("'")) return this.#literalString();
    const bare = this.#match(/[A-Za-z0-9_-]+/y);
    if (bare === '') throw this.failure(`has "${this.#next()}" where a key must be`);
    return bare;
  }

  #basicString(): string {
    const raw = this.#match(/(?:[^"\\\n]|\\[^\n])*/y);
    this.expect('"', 'at the end of a text');
    return raw.replace(
      /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gu,
      (_, short, long, single: string | undefined) => {
        const code = short ?? long;
        if (code !== undefined) return this.#character(Number.parseInt(String(code), 16));
        const character = ESCAPES[single ?? ''];
        if (character === undefined) throw this.failure(`has an unknown escape "\\${single ?? ''}"`);
        return character;
      },
    );
  }

  #character(code: number): string {
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
      throw this.failure('has an escape that is no character');
    return String.fromCodePoint(code);
  }

  #literalString(): string {
    const raw = this.#match(/[^'\n]*/y);
    this.expect("'", 'at the end of a text');
    return raw;
  }

  #array(depth: number): readonly TomlValue[] {
    const items: TomlValue[] = [];
    for (;;) {
      this.skipBlanks(true);
      if (this.takes(']')) return items;
      items.push(this.value(depth + 1));
      this.skipBlanks(true);
      if (this.takes(']')) return items;
      this.expect(',', 'between two items of a list');
    }
  }

  #inlineTable(depth: number): TomlTable {
    const table = tomlTable();
    this.skipSpaces();
    if (this.takes('}')) return table;
    do {
      this.assign(table, depth + 1);
      this.skipSpaces();
    } while (this.takes(','));
    this.expect('}', 'at the end of a table');
    return table;
  }

  /** `key = value`, into a table. */
  assign(table: TomlTable, depth = 0): void {
    const path = this.key();
    this.expect('=', `behind ${path.join('.')}`);
    this.skipSpaces();
    const value = this.value(depth);
    const last = path.at(-1) ?? '';
    const target = path.slice(0, -1).reduce((inner, part) => this.#inner(inner, part), table);
    if (last in target) throw this.failure(`gives ${path.join('.')} a second time`);
    target[last] = value;
  }

  #inner(table: TomlTable, part: string): TomlTable {
    const inner = (table[part] ??= tomlTable());
    if (!isTomlTable(inner)) throw this.failure(`puts something into ${part}, which is no table`);
    return inner;
  }

  #plain(): TomlValue {
    const word = this.#match(/[^\s,\]}#]*/y);
    if (word === 'true' || word === 'false') return word === 'true';
    if (/^[+-]?(?:0|[1-9]\d{0,14})$/.test(word)) return Number(word);
    throw this.failure(
      word === '' ? 'lacks a value' : `has the value ${word}, which is not understood: put texts in quotes`,
    );
  }

  #next(): string {
    const rest = this.#text
      .slice(this.#at, this.#at + 20)
      .split('\n', 1)
      .join('');
    return rest === '' ? 'the end of the line' : rest;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}
