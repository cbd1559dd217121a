import { cloudConfigProblem, shownChar } from './problem.ts';

/**
 * The dialect of git's configuration, which the cloud controller managers of AWS, OpenStack and vSphere read: names of
 * sections and keys in any case, values with or without quotes, `;` and `#` begin a comment outside of quotes.
 */
export interface GitConfigSection {
  readonly name: string;
  /** `1` in `[ServiceOverride "1"]`; empty where there is none. */
  readonly subsection: string;
  /** From 1. */
  readonly line: number;
  readonly keys: readonly GitConfigKey[];
}

export interface GitConfigKey {
  readonly name: string;
  /** Undefined for a key that stands alone. */
  readonly value: string | undefined;
  readonly line: number;
}

/** The sections in their order, with each as often as it occurs. */
export const parseGitConfig = (text: string): readonly GitConfigSection[] => new Reader(text).sections();

const NAME = /\p{L}[\p{L}\p{Nd}-]*/uy;
const VALUE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ['"', '"'],
  ['n', '\n'],
  ['t', '\t'],
]);
const NAME_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ['"', '"'],
]);

type Writable<T> = { -readonly [K in keyof T]: T[K] };

class Reader {
  readonly #text: string;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  sections(): readonly GitConfigSection[] {
    const sections: (Writable<GitConfigSection> & { keys: GitConfigKey[] })[] = [];
    for (;;) {
      this.#skipBlank();
      const char = this.#peek();
      if (char === undefined) return sections;
      if (char === '\n') this.#next();
      else if (char === '[') sections.push({ ...this.#header(), keys: [] });
      else {
        const section = sections.at(-1);
        if (section === undefined) throw this.#expected('a section such as [Global]');
        section.keys.push(this.#key());
      }
    }
  }

  #header(): Omit<GitConfigSection, 'keys'> {
    const line = this.#line;
    this.#next();
    this.#skipBlank();
    const name = this.#name('the name of a section');
    this.#skipBlank();
    const subsection = this.#peek() === '"' ? this.#quotedName() : '';
    this.#skipBlank();
    if (this.#peek() !== ']') {
      throw this.#expected(subsection === '' ? 'a name in double quotes or "]"' : '"]"');
    }
    this.#next();
    this.#skipBlank();
    if (this.#peek() !== undefined && this.#peek() !== '\n') throw this.#expected('the end of the line after "]"');
    return { name, subsection, line };
  }

  #key(): GitConfigKey {
    const line = this.#line;
    const name = this.#name('a section or a key');
    this.#skipBlank();
    if (this.#peek() === undefined || this.#peek() === '\n') return { name, value: undefined, line };
    if (this.#peek() !== '=') throw this.#expected('"=" after a key');
    this.#next();
    this.#skipSpace();
    return { name, value: this.#value(), line };
  }

  #name(what: string): string {
    NAME.lastIndex = this.#at;
    const name = NAME.exec(this.#text)?.[0];
    if (name === undefined) throw this.#expected(what);
    this.#at += name.length;
    return name;
  }

  #quotedName(): string {
    const line = this.#line;
    this.#next();
    let name = '';
    while (this.#peek() !== '"') {
      const char = this.#next();
      if (char === undefined || char === '\n') throw unterminated(line);
      name += char === '\\' ? this.#escaped(NAME_ESCAPES) : char;
    }
    this.#next();
    if (name === '') throw this.#problem('expected a name between the double quotes');
    return name;
  }

  /** To the end of the line or to a comment. Spaces at its end are none of it, unless they are in quotes. */
  #value(): string {
    const line = this.#line;
    let [value, end, isQuoted] = ['', 0, false];
    for (;;) {
      if ((isQuoted ? '\n' : '\n;#').includes(this.#peek() ?? '\n')) {
        if (isQuoted) throw unterminated(line);
        return value.slice(0, end);
      }
      const char = this.#next() ?? '';
      if (char === '"') isQuoted = !isQuoted;
      else value += this.#meaning(char, isQuoted);
      if (isQuoted || !' \t\r'.includes(char)) end = value.length;
    }
  }

  #meaning(char: string, isQuoted: boolean): string {
    if (char === '\\') return isQuoted ? this.#escaped(VALUE_ESCAPES) : this.#continued();
    return char === '\r' ? '' : char;
  }

  #escaped(escapes: ReadonlyMap<string, string>): string {
    const char = this.#peek();
    const meaning = escapes.get(char ?? '');
    if (meaning === undefined) {
      const known = [...escapes.keys()].map((one) => `\\${one}`).join(', ');
      throw this.#problem(`expected one of ${known}, found a backslash before ${shownChar(char)}`);
    }
    this.#next();
    return meaning;
  }

  /** Behind a backslash outside of quotes: the value goes on in the next line, or has a double quote in it. */
  #continued(): string {
    if (this.#peek() === '\r') this.#next();
    const char = this.#peek();
    if (char !== '\n' && char !== '"') {
      throw this.#problem('expected a new line or a double quote after a backslash that is not in double quotes');
    }
    this.#next();
    return char === '\n' ? '' : char;
  }

  /** Spaces and a comment. */
  #skipBlank(): void {
    this.#skipSpace();
    if (!';#'.includes(this.#peek() ?? ' ')) return;
    while (this.#peek() !== undefined && this.#peek() !== '\n') this.#next();
  }

  #skipSpace(): void {
    while (' \t\r'.includes(this.#peek() ?? '\n')) this.#next();
  }

  #peek(): string | undefined {
    const code = this.#text.codePointAt(this.#at);
    if (code === 0) throw this.#problem('a NUL character has no place here');
    return code === undefined ? undefined : String.fromCodePoint(code);
  }

  #next(): string | undefined {
    const char = this.#peek();
    this.#at += char?.length ?? 0;
    if (char === '\n') this.#line++;
    return char;
  }

  #expected(what: string): Error {
    return this.#problem(`expected ${what}, found ${shownChar(this.#peek())}`);
  }

  #problem(message: string): Error {
    return cloudConfigProblem(`line ${this.#line}: ${message}`);
  }
}

const unterminated = (line: number) => cloudConfigProblem(`line ${line}: expected a closing double quote`);
