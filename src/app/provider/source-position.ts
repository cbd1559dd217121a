import { type Token, tokensOf } from './source-tokens.ts';

/** A place in a file, both from 1, and how many letters are meant. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

const OPENING = new Set(['{', '[', '(']);
const CLOSING = new Set(['}', ']', ')']);
const SEPARATOR = new Set([',']);
const VALUE_ENDS = new Set([...CLOSING, ',', ';']);
/** A literal may name itself by mistake. */
const DEEPEST_SPREAD = 8;

/** Values end before these: some authors write no semicolons. */
const STATEMENTS = new Set(['const', 'let', 'var', 'export', 'import', 'function', 'class']);
/** A name with one of these behind it is not the whole value. */
const GOES_ON = new Set(['(', '=>', '.', '?', '[', '`', '<', '|', '&']);

/**
 * Where a path of a definition (`providerID.pattern`, `capabilities.volumes.declare().minBytes`) is written in the source of
 * it. What cannot be found, because it is missing or comes from elsewhere, is where its nearest parent is; that of
 * everything is the call of `defineProvider`. Undefined when there is none: then nothing but the file is known.
 *
 * @param call Where the call is, if anybody knows; the first one that is found otherwise.
 */
export function positionOf(
  source: string,
  path: string,
  call?: Pick<SourcePosition, 'line' | 'column'>,
): SourcePosition | undefined {
  const tokens = tokensOf(source);
  const at = callIn(source, tokens, call);
  const token = tokens[at];
  if (token === undefined) return undefined;
  return placeOf(source, new Walk(tokens).find(at, segmentsOf(path)) ?? token);
}

function callIn(
  source: string,
  tokens: readonly Token[],
  call: Pick<SourcePosition, 'line' | 'column'> | undefined,
): number {
  const isCalled = ({ text }: Token, index: number) => text === 'defineProvider' && !isImported(tokens, index);
  if (call === undefined) return tokens.findIndex(isCalled);
  const before = source.split('\n').slice(0, call.line - 1);
  const offset = before.reduce((sum, line) => sum + line.length + 1, call.column - 1);
  return tokens.findIndex(({ start }) => start === offset);
}

/** Where a text is, by its offset. */
export function placeOf(source: string, { start, end }: Pick<Token, 'start' | 'end'>): SourcePosition {
  const before = source.slice(0, start).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, length: Math.max(1, end - start) };
}

/** `architectures[1]` is two steps; the parentheses of `declare()` are none. */
const segmentsOf = (path: string): readonly string[] =>
  path
    .replaceAll('()', '')
    .replace(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((segment) => segment !== '');

/** The import names it too. */
const isImported = (tokens: readonly Token[], index: number): boolean => {
  const next = tokens[index + 1]?.text;
  return next !== '(' && next !== '<';
};

interface Entry {
  readonly key: Token;
  /** Of the first token of its value; that of a method is its parameters. */
  readonly value: number;
}

/** One search through the tokens of a file. */
class Walk {
  readonly #tokens: readonly Token[];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The token of the last segment that is there. */
  find(call: number, segments: readonly string[]): Token | undefined {
    let at = this.#next(call, '(') + 1;
    let found: Token | undefined;
    for (const segment of segments) {
      const entry = this.#entry(at, segment);
      if (entry === undefined) return found;
      found = entry.key;
      at = entry.value;
    }
    return found;
  }

  /** The part of that name of the value that begins at a token. */
  #entry(at: number, segment: string): Entry | undefined {
    const start = this.#resolved(at);
    const opening = this.#tokens[start]?.text;
    if (opening === '[') return this.#items(start)[Number(segment)];
    if (opening === '{') return this.#named(this.#entries(start), segment);
    // Facts stand in the first literal of a function that says so.
    return this.#within(start, segment);
  }

  /** A name stands for the literal that it was declared with in the same file, outside of all functions. */
  #resolved(at: number): number {
    const token = this.#tokens[at];
    if (token?.kind !== 'name' || GOES_ON.has(this.#tokens[at + 1]?.text ?? '')) return at;
    const declared = this.#outermost().find(
      (index) =>
        this.#tokens[index]?.text === token.text && ['const', 'let'].includes(this.#tokens[index - 1]?.text ?? ''),
    );
    return declared === undefined ? at : this.#next(declared, '=') + 1;
  }

  /** The tokens that no bracket is around. */
  #outermost(): readonly number[] {
    const found: number[] = [];
    for (let at = 0; at < this.#tokens.length; at++) {
      found.push(at);
      if (this.#isOpening(at)) at = this.#partner(at);
    }
    return found;
  }

  /** The last one counts, as in the program; nobody knows which one that is when something from elsewhere follows. */
  #named(entries: readonly (Entry | undefined)[], name: string): Entry | undefined {
    return entries.findLast((entry) => entry === undefined || entry.key.text === name);
  }

  /** Those of a literal, in order; undefined stands for what comes from elsewhere. */
  #entries(opening: number, depth = 0): readonly (Entry | undefined)[] {
    return this.#parts(opening).flatMap((first): readonly (Entry | undefined)[] => {
      if (this.#tokens[first]?.text === '...') return this.#spread(first + 1, depth);
      const at = this.#withoutModifiers(first);
      const key = this.#tokens[at];
      if (key === undefined || (key.kind !== 'name' && key.kind !== 'text')) return [];
      // A shorthand is its own value.
      return [
        {
          key,
          value:
            this.#tokens[at + 1]?.text === ':' ? at + 2 : key.kind === 'name' && this.#isMethod(at) ? at + 1 : at,
        },
      ];
    });
  }

  /** What `...name` and `...{ … }` bring along. */
  #spread(at: number, depth: number): readonly (Entry | undefined)[] {
    const start = this.#resolved(at);
    if (depth >= DEEPEST_SPREAD) return [];
    return this.#tokens[start]?.text === '{' ? this.#entries(start, depth + 1) : [undefined];
  }

  #isMethod(at: number): boolean {
    return this.#tokens[at + 1]?.text === '(' || this.#tokens[at + 1]?.text === '<';
  }

  #withoutModifiers(first: number): number {
    const isModifier = (at: number): boolean =>
      ['async', 'get', '*'].includes(this.#tokens[at]?.text ?? '') &&
      ![':', ',', '(', '}'].includes(this.#tokens[at + 1]?.text ?? '');
    let at = first;
    while (isModifier(at)) at++;
    return at;
  }

  #items(opening: number): readonly Entry[] {
    return this.#parts(opening).flatMap((value) => {
      const key = this.#tokens[value];
      return key === undefined ? [] : [{ key, value }];
    });
  }

  /** The first tokens of what is between a bracket and its partner, separated by commas. */
  #parts(opening: number): readonly number[] {
    const parts: number[] = [];
    const end = this.#partner(opening);
    for (let at = opening + 1; at < end; at = this.#end(at, end) + 1) parts.push(at);
    return parts;
  }

  /** The comma behind a part, or the end. */
  #end(from: number, end: number): number {
    let at = from;
    while (at < end && !this.#isMark(at, SEPARATOR)) at = this.#isOpening(at) ? this.#partner(at) + 1 : at + 1;
    return at;
  }

  /** Behind the value that begins at a token, wherever that is. */
  #valueEnd(start: number): number {
    let at = start;
    while (at < this.#tokens.length && !this.#isMark(at, VALUE_ENDS) && !this.#isStatement(at, start)) {
      at = this.#isOpening(at) ? this.#partner(at) + 1 : at + 1;
    }
    return at;
  }

  /** A value may itself be a function or a class. */
  #isStatement(at: number, start: number): boolean {
    const token = this.#tokens[at];
    const isValue = at === start || this.#tokens[at - 1]?.text === 'async';
    return token?.kind === 'name' && STATEMENTS.has(token.text) && !isValue;
  }

  /** The bracket that closes another, or the end of the file. */
  #partner(opening: number): number {
    let depth = 0;
    for (let at = opening; at < this.#tokens.length; at++) {
      if (this.#isOpening(at)) depth++;
      else if (this.#isMark(at, CLOSING) && --depth === 0) return at;
    }
    return this.#tokens.length;
  }

  #within(start: number, name: string): Entry | undefined {
    const end = this.#valueEnd(start);
    for (let at = start; at < end; at++) {
      const key = this.#tokens[at];
      if (key?.text === name && this.#tokens[at + 1]?.text === ':') return { key, value: at + 2 };
    }
    return undefined;
  }

  #next(from: number, text: string): number {
    const at = this.#tokens.findIndex((token, index) => index > from && token.text === text);
    return at < 0 ? this.#tokens.length : at;
  }

  #isOpening(at: number): boolean {
    return this.#isMark(at, OPENING);
  }

  #isMark(at: number, marks: ReadonlySet<string>): boolean {
    const token = this.#tokens[at];
    return token?.kind === 'mark' && marks.has(token.text);
  }
}
