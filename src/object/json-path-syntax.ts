/** A path that cannot be read, or does not fit the object it is asked about. */
export class JsonPathProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPathProblem';
  }
}

export interface Slice {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly step: number | undefined;
  /** One position: `to` follows from `from`. */
  readonly isIndex: boolean;
}

export type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'descend' }
  | { readonly kind: 'constant'; readonly value: string | boolean }
  | { readonly kind: 'number'; readonly value: number; readonly isInteger: boolean }
  /** A word of kubectl's templates, which no single path can hold: found out only when it is evaluated. */
  | { readonly kind: 'word'; readonly word: string }
  | ({ readonly kind: 'slice' } & Slice)
  | { readonly kind: 'union'; readonly paths: readonly (readonly Step[])[] }
  | {
      readonly kind: 'filter';
      readonly left: readonly Step[];
      readonly operator: string;
      readonly right: readonly Step[];
    };

/**
 * The steps of a path, in the grammar of kubectl's JSONPath. Upstream puts a path between braces and reads that as a
 * template: of one that holds a closing brace only what stands before it counts, but the rest must be readable too.
 */
export const parseJsonPath = (path: string): Step[] => new PathParser(path).steps();

const SLICE = /^(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$/;
const COMPARISON = /^([^!<>=]+)([!<>=]+)(.+?)$/s;
const NUMBER = /[+-]?[0-9.]*/y;
const WORD = /^[\p{L}\p{Nd}_]$/u;

class PathParser {
  readonly #text: string;
  readonly #steps: Step[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  steps(): Step[] {
    while (this.#at < this.#text.length && this.#text[this.#at] !== '}') this.#step();
    const next = this.#text.indexOf('{', this.#at);
    if (next >= 0) parseJsonPath(this.#text.slice(next + 1));
    return this.#steps;
  }

  #step(): void {
    const rest = this.#text.slice(this.#at, this.#at + 3);
    const char = rest[0] ?? '';
    if (rest === '[?(') this.#filter();
    else if (rest.startsWith('..')) this.#descend();
    else if (char === '[') this.#brackets();
    else if (char === '"' || char === "'") this.#quoted(char);
    else if (char === '.') this.#member(1);
    else if (char === ' ' || char === '@' || char === '$') this.#at++;
    else this.#bare(char);
  }

  #bare(char: string): void {
    if (char === '\n' || char === '\r') throw new JsonPathProblem('unclosed action');
    if (/^[+\-0-9]$/.test(char)) return this.#number();
    const full = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    if (!WORD.test(full)) {
      const code = (full.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      throw new JsonPathProblem(`unrecognized character in action: U+${code} '${full}'`);
    }
    const word = this.#until(/[\s.,[\]$@{}]/);
    const isBoolean = word === 'true' || word === 'false';
    this.#steps.push(isBoolean ? { kind: 'constant', value: word === 'true' } : { kind: 'word', word });
  }

  #until(end: RegExp): string {
    const start = this.#at;
    while (this.#at < this.#text.length && !end.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  #descend(): void {
    if (this.#steps.at(-1)?.kind === 'descend') throw new JsonPathProblem('invalid multiple recursive descent');
    this.#steps.push({ kind: 'descend' });
    this.#at += 2;
    if (WORD.test(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0))) this.#member(0);
  }

  /** The name behind a dot, up to a character that ends it; a backslash makes that part of the name. */
  #member(dot: number): void {
    this.#at += dot;
    const start = this.#at;
    while (this.#at < this.#text.length && !/[ \t\r\n.,[\]$@{}]/.test(this.#text[this.#at] ?? '')) {
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
    }
    // The backslash took the brace that closes the path.
    if (this.#at > this.#text.length) throw new JsonPathProblem('unclosed action');
    const name = this.#text.slice(start, this.#at);
    this.#steps.push(name === '*' ? { kind: 'all' } : { kind: 'member', name: name.replaceAll('\\', '') });
  }

  #number(): void {
    NUMBER.lastIndex = this.#at;
    const text = NUMBER.exec(this.#text)?.[0] ?? '';
    this.#at += text.length;
    const value = Number(text);
    if (text === '' || Number.isNaN(value)) throw new JsonPathProblem(`cannot parse number ${text}`);
    this.#steps.push({ kind: 'number', value, isInteger: !text.includes('.') });
  }

  #quoted(quote: string): void {
    const start = this.#at;
    let end = this.#text.indexOf(quote, start + 1);
    while (end > 0 && this.#text[end - 1] === '\\') end = this.#text.indexOf(quote, end + 1);
    if (end < 0) throw new JsonPathProblem('unterminated quoted string');
    this.#at = end + 1;
    this.#steps.push({ kind: 'constant', value: unquoted(this.#text.slice(start, end + 1)) });
  }

  #brackets(): void {
    const end = this.#text.indexOf(']', this.#at);
    if (end < 0) throw new JsonPathProblem('unterminated array');
    const text = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    const parts = text.split(',');
    if (parts.length > 1) {
      this.#steps.push({ kind: 'union', paths: parts.map((part) => parseJsonPath(`[${part.trim()}]`)) });
    } else {
      this.#steps.push(...bracketSteps(text));
    }
  }

  #filter(): void {
    const start = this.#at + 3;
    const end = this.#filterEnd(start);
    this.#at = end + 2;
    const text = this.#text.slice(start, end);
    const match = COMPARISON.exec(text);
    this.#steps.push({
      kind: 'filter',
      left: parseJsonPath(match?.[1] ?? text),
      operator: match?.[2] ?? 'exists',
      right: parseJsonPath(match?.[3] ?? ''),
    });
  }

  /** The closing parenthesis that is not within quotes. */
  #filterEnd(start: number): number {
    let quote = '';
    for (let at = start; at < this.#text.length; at++) {
      const char = this.#text[at] ?? '';
      if (char === '\n') break;
      if (quote === '' && (char === '"' || char === "'")) {
        quote = char;
      } else if (char === quote && this.#text[at - 1] !== '\\') {
        quote = '';
      } else if (char === ')' && quote === '') {
        if (this.#text[at + 1] !== ']') throw new JsonPathProblem('unclosed array expect ]');
        return at;
      }
    }
    throw new JsonPathProblem('unterminated filter');
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
]);

/** What a text in quotes stands for. As in Go, the other kind of quote cannot be escaped. */
function unquoted(source: string): string {
  const quote = source.charAt(0);
  return source.slice(1, -1).replaceAll(/\\(.?)/gs, (_, char: string) => {
    const meant = char === quote ? quote : ESCAPES.get(char);
    if (meant === undefined) throw new JsonPathProblem(`unquote string ${source} error invalid syntax`);
    return meant;
  });
}

/** `*`, `'name'`, `0`, `1:3`, `::2`. */
function bracketSteps(text: string): Step[] {
  if (text.length >= 2 && text.startsWith("'") && text.endsWith("'"))
    return parseJsonPath(`.${text.slice(1, -1)}`);
  const match = SLICE.exec(text === '*' ? ':' : text);
  if (match === null) throw new JsonPathProblem(`invalid array index ${text}`);
  const [, from = '', to, step] = match;
  return [
    {
      kind: 'slice',
      from: bound(from),
      to: bound(to?.slice(1)),
      step: bound(step?.slice(1)),
      isIndex: to === undefined,
    },
  ];
}

function bound(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (text === '-') throw new JsonPathProblem(`array index ${text} is not a number`);
  return Number(text);
}
