import {
  ensureSection,
  goTrim,
  goTrimStart,
  type IniFile,
  type IniSection,
  setIniKey,
  UNNAMED,
} from './ini-file.ts';
import { cloudConfigProblem, shownChar } from './problem.ts';

const TRIPLE = '"""';

export function parseIni(text: string): IniFile {
  const file: IniFile = { sections: [] };
  new IniReader(text, file).read();
  return file;
}

/**
 * Reads what upstream takes for INI: `=` or `:` after a key, `#` and `;` begin a comment wherever they are unless a value
 * is in backticks or three double quotes, one pair of quotes around a value is taken off, a backslash at the end of a
 * line goes on with the next.
 */
class IniReader {
  readonly #lines: readonly string[];
  readonly #file: IniFile;
  #next = 0;
  #comment = '';
  /** Of keys that are written as `-`. */
  #count = 1;

  constructor(text: string, file: IniFile) {
    this.#lines = text.replace(/^\ufeff/, '').split(/(?<=\n)/);
    this.#file = file;
  }

  read(): void {
    let section = ensureSection(this.#file, UNNAMED);
    while (this.#next < this.#lines.length) {
      const line = goTrimStart(this.#take());
      if (/^[#;]/.test(line)) this.#comment += line;
      else if (line.startsWith('[')) section = this.#section(line);
      else if (line !== '') this.#key(section, line);
    }
  }

  #take(): string {
    return this.#lines[this.#next++] ?? '';
  }

  #section(line: string): IniSection {
    const end = line.lastIndexOf(']');
    if (end === -1) throw this.#problem(`expected "]" after the name of a section, found ${shownChar('\n')}`);
    if (end === 1) throw this.#problem('expected a name between "[" and "]"');
    const section = ensureSection(this.#file, line.slice(1, end));
    this.#addCommentOf(line.slice(end + 1));
    section.comments = this.#takeComments();
    this.#count = 1;
    return section;
  }

  #key(section: IniSection, line: string): void {
    const { name, rest } = this.#name(line);
    const isCounted = name === '-';
    const value = this.#value(rest);
    const key = setIniKey(section, isCounted ? `#${this.#count++}` : name, value);
    key.isCounted = isCounted;
    key.comments = this.#takeComments();
  }

  #name(line: string): { readonly name: string; readonly rest: string } {
    const quote = /^(?:"""(?=[^]{4})|"|`)/.exec(line)?.[0] ?? '';
    const end = quote === '' ? 0 : line.indexOf(quote, quote.length);
    if (end === -1) throw this.#problem(`expected ${quote} at the end of a key`);
    const from = end + quote.length;
    const delimiter = line.slice(from).search(/[=:]/);
    if (delimiter === -1) throw this.#problem('expected "=" after a key');
    const name = goTrim(quote === '' ? line.slice(0, delimiter) : line.slice(quote.length, end));
    if (name === '') throw this.#problem(`expected a key before "${line[from + delimiter]}"`);
    return { name, rest: line.slice(from + delimiter + 1) };
  }

  #value(rest: string): string {
    const text = goTrimStart(rest);
    const quote = text.startsWith(TRIPLE) && text.length > 3 ? TRIPLE : text.startsWith('`') ? '`' : '';
    if (quote !== '') return this.#quoted(text.slice(quote.length), quote);
    const line = goTrim(text);
    if (line.endsWith('\\')) return this.#continued(line.slice(0, -1));
    const comment = line.search(/[#;]/);
    if (comment === -1) return unquoted(line);
    this.#comment += line.slice(comment);
    return unquoted(goTrim(line.slice(0, comment)));
  }

  /** What is behind the closing quote in the first line is not looked at. */
  #quoted(first: string, quote: string): string {
    const start = this.#next;
    const end = first.lastIndexOf(quote);
    if (end !== -1) return first.slice(0, end);
    let value = first;
    while (this.#next < this.#lines.length) {
      const line = this.#take();
      const at = line.lastIndexOf(quote);
      const goesOn = at === -1 || goTrim(line.slice(at + quote.length)).endsWith('\\');
      if (!goesOn) {
        this.#addCommentOf(goTrim(line.slice(at)));
        return value + line.slice(0, at);
      }
      value += line;
    }
    throw cloudConfigProblem(`line ${start}: expected ${quote} at the end of the value`);
  }

  #continued(first: string): string {
    let value = first;
    for (;;) {
      const line = goTrim(this.#take());
      value += line;
      if (line === '' || !value.endsWith('\\')) return value;
      value = value.slice(0, -1);
    }
  }

  #addCommentOf(text: string): void {
    const start = text.search(/[#;]/);
    if (start !== -1) this.#comment += text.slice(start);
  }

  /** What was said since the last key or section. */
  #takeComments(): readonly string[] {
    const comment = goTrim(this.#comment);
    this.#comment = '';
    return comment === '' ? [] : comment.split('\n');
  }

  #problem(message: string): Error {
    return cloudConfigProblem(`line ${this.#next}: ${message}`);
  }
}

/** Without the quotes around it, if there are no others of their kind. */
const unquoted = (text: string): string => (/^(?:'([^']*)'|"([^"]*)")$/.test(text) ? text.slice(1, -1) : text);
